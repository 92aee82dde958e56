import { z } from 'zod'
import { splitCursor } from '../../market/cursor.ts'
import { decodedRanges, type DecodingPeriod } from '../../market/decoding-period.ts'
import type { GapRow, RowHorizon } from '../../../storage/port.ts'
import { count, text, time, unixMs, venue } from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

const RANGE = z.object({ from_slot: count('Its first slot'), to_slot: count('Its last slot') })

export const COVERAGE = z
  .object({
    genesis: text('The genesis hash of the cluster that blocks come from, in base58').nullable(),
    ranges: z
      .array(
        RANGE.extend({
          venues: z
            .array(venue('A venue'))
            .nullable()
            .describe(
              'Venues that were decoded in the range; null if unknown, in a store from before this record'
            ),
          decoder_version: z
            .int()
            .min(1)
            .nullable()
            .describe('Version of the decoder of its blocks; null if unknown')
        })
      )
      .describe(
        'Slots that are indexed, in order; a slot that the chain skipped counts as indexed. A range ends where the decoded venues or the decoder change'
      ),
    gaps: z
      .array(
        RANGE.extend({
          reason: text(
            'Kind of gap: `pruned`, `missing`, `unreadable` or `unsupported`. `damaged`: the blocks are stored, but some of their rows were lost. `inner-instructions-absent`: the blocks are stored, but their node did not record inner instructions, so that events may be missing. `vault-moved`: the blocks are stored, but tokens left a pool without a recorded call of its program, so that a trade may be missing; the detail names the venue. `read_again`: a repair has emptied the store, and the source is being reread'
          ),
          detail: text('The reason, in one line'),
          given_up_at: time('Time at which the gap was recorded', 'service'),
          given_up_at_ms: unixMs('The same', 'service')
        })
      )
      .describe('Slots between the ranges whose blocks are missing'),
    rows_from: z
      .object({
        slot: count('Its slot'),
        ts: time('Block time of that slot', 'block'),
        ts_ms: unixMs('The same', 'block')
      })
      .nullable()
      .describe(
        'Oldest slot whose trades and pool events are stored. Of earlier slots, the retention has left only candles, tokens, pools, launches and totals. Null while all rows are stored'
      ),
    next_from_slot: count('`from_slot` of the next page').nullable().describe('Null at the end')
  })
  .meta({ id: 'Coverage' })

/** The indexed slots of a range, and the gaps in it. */
export interface Covered {
  readonly genesis: string | null
  /** Null on an empty store. */
  readonly first: number | null
  readonly head: number | null
  /** The oldest rows within the retention; null if the retention is unlimited. */
  readonly horizon: RowHorizon | null
  /** Gaps that begin in the range, ascending by slot. */
  readonly gaps: readonly GapRow[]
  /** First slot of the next page; null on the last page. */
  readonly next: number | null
  /** How the blocks were decoded, ascending. */
  readonly periods: readonly DecodingPeriod[]
}

export function coverageBody({
  genesis,
  first,
  head,
  horizon,
  gaps,
  next,
  periods
}: Covered): z.input<typeof COVERAGE> {
  const ranges: z.input<typeof COVERAGE>['ranges'] = []
  const add = (first: number, last: number): void => {
    for (const { from, to, period } of decodedRanges(periods, first, last))
      ranges.push({
        from_slot: from,
        to_slot: to,
        venues: period && [...period.venues],
        decoder_version: period?.decoderVersion ?? null
      })
  }
  if (first !== null && head !== null) {
    let from = first
    for (const gap of gaps) {
      add(from, Math.min(gap.from - 1, head))
      from = Math.max(from, gap.to + 1)
    }
    add(from, next === null ? head : Math.min(next - 1, head))
  }
  return {
    genesis,
    ranges,
    gaps: gaps.map(({ from, to, reason, detail, atMs }) => ({
      from_slot: from,
      to_slot: to,
      reason,
      detail,
      given_up_at: secondsText(Math.floor(atMs / 1_000)),
      given_up_at_ms: atMs
    })),
    rows_from: horizon && {
      slot: splitCursor(horizon.cursor).slot,
      ts: secondsText(horizon.time),
      ts_ms: horizon.time * 1_000
    },
    next_from_slot: next
  }
}
