import { secondsText } from '../../kernel/http/time.ts'
import { VENUE_IDS } from '../../chain/venue-id.ts'
import { readArchivedRanges } from '../archived-ranges.ts'
import { archivedRanges, type CoveredRange } from '../covered-ranges.ts'
import { archiveStanding } from '../standing.ts'
import { ServiceError } from '../../kernel/errors.ts'
import type { Config } from '../../kernel/config/config.ts'
import { isStoreThere, openArchiveToRead, openStoreToRead } from '../../store/opening.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { Invocation } from '../../kernel/cli/command.ts'

/** Prints the range of the archive, and whether it ends before the first indexed slot. Resolves with 1 if it cannot be read. */
export async function archiveStatus({
  config,
  options,
  stdout,
  stderr
}: Invocation<{ readonly json?: true | undefined }>): Promise<number> {
  try {
    const status = await statusOf(config)
    for (const line of options.json === true ? [JSON.stringify(status)] : linesOf(status)) stdout(line)
    return 0
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    stderr(`millrace: ${error.detail}`)
    return 1
  }
}

interface ArchiveStatus {
  /** The ends of the archive, and the first indexed slot; null if the archive or the index is empty. */
  readonly first: Place | null
  readonly last: Place | null
  readonly live_start: Place | null
  readonly served: boolean
  readonly reason: string | null
  /** Ranges of slots of the archive and between them, ascending. */
  readonly ranges: readonly Omit<CoveredRange, 'reason'>[]
}

/** A slot, and its block time in Unix seconds. */
interface Place {
  readonly slot: number
  readonly ts: number
}

async function statusOf(config: Config): Promise<ArchiveStatus> {
  const liveStart = await liveStartOf(config)
  const live_start = liveStart && placeOf(liveStart)
  const storage = await openArchiveToRead(config)
  try {
    const standing = storage === null ? null : await archiveStanding(storage, liveStart?.slot ?? null)
    if (standing === null)
      return { first: null, last: null, live_start, served: false, reason: 'nothing is imported', ranges: [] }
    const { archive, reason } = standing
    const archived = (await readArchivedRanges(archive.storage)) ?? []
    const ends = { from: archive.first.slot, to: archive.last.slot }
    return {
      first: placeOf(archive.first),
      last: placeOf(archive.last),
      live_start,
      served: reason === null,
      reason,
      ranges: [...archivedRanges(ends, archived)].map(({ reason: _, ...range }) => range)
    }
  } finally {
    await storage?.close()
  }
}

async function liveStartOf(config: Config): Promise<SlotRow | null> {
  if (!(await isStoreThere(config))) return null
  const live = await openStoreToRead(config, () => undefined)
  try {
    const first = await live.blocks.firstSince(0)
    return first === null ? null : await live.blocks.at(first)
  } finally {
    await live.close()
  }
}

const placeOf = ({ slot, blockTime: ts }: SlotRow): Place => ({ slot, ts })

function linesOf({ first, last, live_start: live, served, reason, ranges }: ArchiveStatus): string[] {
  const textOf = ({ slot, ts }: Place): string => `slot ${slot}, ${secondsText(ts)} UTC`
  const range = first === null || last === null ? [] : [`first  ${textOf(first)}`, `last   ${textOf(last)}`]
  const index = `index  ${live === null ? 'no blocks yet' : `begins at ${textOf(live)}`}`
  const shown = ranges.slice(0, RANGES_SHOWN).map(rangeText)
  const more =
    ranges.length > RANGES_SHOWN ? [`and ${ranges.length - RANGES_SHOWN} more ranges; see --json`] : []
  return [
    ...range,
    ...shown,
    ...more,
    index,
    served ? 'the archive can be served' : `the archive cannot be served: ${reason}`
  ]
}

/** Ranges that fit on a screen. */
const RANGES_SHOWN = 20

function rangeText({
  from,
  to,
  origin,
  venues,
  decoderVersion,
  files
}: ArchiveStatus['ranges'][number]): string {
  const what =
    origin === null
      ? 'missing, or being imported'
      : origin === 'blocks'
        ? `whole blocks, decoder ${decoderVersion ?? 'unknown'}`
        : `rows of ${files?.names.join(', ')} (${files?.columns.join(', ')})`
  const named =
    venues === null || venues.length === VENUE_IDS.length
      ? venues === null
        ? ''
        : ': all venues'
      : `: ${venues.join(', ')}`
  return `range  ${from}–${to}, ${what}${origin === null ? '' : named}`
}
