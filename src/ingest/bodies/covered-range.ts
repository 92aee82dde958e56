import { z } from 'zod'
import { COVERAGE_STATES, type CoveredRange } from '../../archive/covered-ranges.ts'
import type { SlotRow } from '../../market/rows.ts'
import { count, listOf, text, time, unixMs, venue } from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

const ORIGINS = ['blocks', 'file'] as const
const NO_TIME = 'Null if no block is known near it'

const COVERED_RANGE = z
  .object({
    state: z
      .enum(COVERAGE_STATES)
      .describe(
        '`live`: indexed with all rows. `archive`: imported; its rows have `source: "archive"`. `partial`: indexed, but rows are missing, with the reason: trades and pool events past the retention, of which candles, tokens, pools and launches remain; or events that the node did not show. `missing`: not indexed'
      ),
    from_slot: count('Its first slot'),
    to_slot: count('Its last slot; a slot that the chain skipped counts as indexed'),
    from: time(
      `Time of the first block of the range, or of the last one before a missing range. ${NO_TIME}`,
      'block'
    ).nullable(),
    from_ms: unixMs('The same', 'block').nullable(),
    to: time(
      `Time of the last block of the range, or of the first one after a missing range. ${NO_TIME}`,
      'block'
    ).nullable(),
    to_ms: unixMs('The same', 'block').nullable(),
    venues: z
      .array(venue('A venue'))
      .nullable()
      .describe(
        'Venues that were decoded in the range. Empty for a missing range. Null if the store is older than this record: the venues are then unknown'
      ),
    decoder_version: z
      .int()
      .min(1)
      .nullable()
      .describe(
        'Version of the decoder of its blocks; blocks that were inserted later may have a newer one. It rises when a block gives other rows than before. Null if unknown, and for a missing range'
      ),
    origin: z
      .enum(ORIGINS)
      .nullable()
      .describe(
        '`blocks`: its rows come from whole blocks. `file`: its trades come from imported files. Null for a missing range'
      ),
    name: text('Files of the range, at most three of them by name; absent for whole blocks').optional(),
    columns: z
      .array(text('A mapping'))
      .optional()
      .describe('Mappings by which the columns of the files were read; absent for whole blocks'),
    reason: text(
      '`not_imported`: between the archive and the first live slot. `past_retention`: the rows have expired. `inner-instructions-absent`: the node does not record calls of programs by programs, so that some events of these slots may be missing. `vault-moved`: tokens left a known pool without a recorded call of its program, so that a trade may be missing. Otherwise the kind of gap: `pruned`, `missing`, `unreadable`, `unsupported`, `damaged`, `lost-fork` or `read_again`. Null for complete ranges'
    ).nullable()
  })
  .meta({ id: 'CoveredRange' })

const SERVED_ARCHIVE = z
  .object({
    served: z.boolean().describe('Whether the Data API shows its rows'),
    first_slot: count('Its first slot').nullable(),
    last_slot: count('Its last slot').nullable(),
    reason: text('Why it is not served: `overlaps_live` or `unreadable`. Null if it is served').nullable()
  })
  .meta({ id: 'ServedArchive' })

export const COVERED_RANGES = listOf(COVERED_RANGE)
  .extend({
    archive: SERVED_ARCHIVE.nullable().describe('The imported archive; null if nothing was imported')
  })
  .meta({ id: 'CoveredRanges' })

/** The blocks nearest to the ends of a range; null if none is known. */
export interface RangeEnds {
  readonly first: Pick<SlotRow, 'blockTime'> | null
  readonly last: Pick<SlotRow, 'blockTime'> | null
}

export function coveredRangeBody(
  { state, from, to, reason, venues, decoderVersion, origin, files }: CoveredRange,
  { first, last }: RangeEnds
): z.input<typeof COVERED_RANGE> {
  return {
    state,
    from_slot: from,
    to_slot: to,
    from: first && secondsText(first.blockTime),
    from_ms: first && first.blockTime * 1_000,
    to: last && secondsText(last.blockTime),
    to_ms: last && last.blockTime * 1_000,
    venues: state === 'missing' ? [] : venues && [...venues],
    decoder_version: decoderVersion,
    origin,
    ...(files !== null && { name: files.names.join(', '), columns: [...files.columns] }),
    reason
  }
}
