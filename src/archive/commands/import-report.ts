import { secondsText } from '../../kernel/http/time.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { periodAt, venuesLacking, type DecodingPeriod } from '../../market/decoding-period.ts'
import type { ProblemReason, ProblemTally, RecordedProblem } from '../../recorded/problems.ts'
import type { Archive } from '../archive.ts'
import type { ImportPlan } from '../../recorded/import-plan.ts'

/** Blocks that an import has committed so far. */
export interface ImportCounts {
  blocks: number
  trades: number
  /** The last committed slot; null before the first. */
  slot: number | null
}

/** Items that can be left out without loss: files of another kind, and slots without a block. */
const HARMLESS: ReadonlySet<ProblemReason> = new Set(['other-file', 'no-result'])

/** Returns the number of items of a folder that hold blocks or transactions and could not be read. */
export function lostItems(problems: ProblemTally): number {
  const counts = Object.entries(problems.counts) as [ProblemReason, number][]
  return counts.reduce((sum, [reason, count]) => (HARMLESS.has(reason) ? sum : sum + count), 0)
}

/** Names an item that is left out. */
export function problemText({ reason, file, line, detail }: RecordedProblem): string {
  return `${line === null ? file : `${file}, line ${line}`} is left out (${reason}): ${detail}`
}

/** Formats the progress of an import. */
export function progressText({ blocks, trades, slot }: ImportCounts, due: number, ms: number): string {
  const share = due === 0 ? 100 : Math.floor((100 * blocks) / due)
  const rate = (blocks / Math.max(ms / 1_000, 0.001)).toFixed(1)
  return `slot ${slot ?? '–'}, ${share} %: ${blocks} blocks, ${trades} trades, ${rate} blocks/s`
}

/** Returns what was imported and what was not, in lines. */
export function importSummary(
  { blocks, trades }: ImportCounts,
  { stored, live }: ImportPlan,
  problems: ProblemTally
): string[] {
  const lines = [
    `${blocks} blocks with ${trades} trades are imported; ${stored.length} blocks were there before`
  ]
  if (live.length > 0)
    lines.push(
      `${live.length} blocks are left out, because the index has these slots or will have them: ${rangeText(live)}`
    )
  const left = Object.entries(problems.counts).map(([reason, count]) => `${count} ${reason}`)
  if (left.length > 0) lines.push(`left out of the folder: ${left.join(', ')}`)
  return lines
}

/** Says why blocks below the end of the archive cannot be added; null for no such blocks. `place` is the archive's. */
export function tooLateText({ tooLate, end }: ImportPlan, place: string): string | null {
  if (tooLate.length === 0) return null
  return (
    `${tooLate.length} blocks cannot be added, because the archive already ends at slot ${end}, and blocks are added in ` +
    `ascending order only: ${rangeText(tooLate)}; to have them, remove ${place} and reimport all folders, the earliest first`
  )
}

/**
 * Says which stored blocks of the folder lack venues that are to be decoded, or may lack some; null if all blocks have them.
 * `place` is the archive's.
 */
export function lackingText(
  { stored }: Pick<ImportPlan, 'stored'>,
  periods: readonly DecodingPeriod[],
  wanted: readonly VenueId[],
  place: string
): string | null {
  const unknown = stored.filter((slot) => periodAt(periods, slot) === null)
  const lacking = new Set<VenueId>()
  const known = stored.filter((slot) => {
    const period = periodAt(periods, slot)
    const lacks = period === null ? [] : venuesLacking(period, wanted)
    for (const venue of lacks) lacking.add(venue)
    return lacks.length > 0
  })
  const lines = [
    ...(known.length === 0
      ? []
      : [`${known.length} blocks were imported without ${[...lacking].join(', ')}: ${rangeText(known)}`]),
    ...(unknown.length === 0
      ? []
      : [
          `${unknown.length} blocks were imported by a version that did not record their venues, so some may be missing: ${rangeText(unknown)}`
        ])
  ]
  if (lines.length === 0) return null
  return (
    `${lines.join('; ')}; nothing was added to them, because later blocks follow from their prices and candles; to have all ` +
    `venues, remove ${place} and reimport all folders, the earliest first`
  )
}

/** Says that services leave a keyspace that is no longer the archive. */
export function replacedText(keyspace: string): string {
  return (
    `the archive has another keyspace now; services stop reading ${keyspace} within 2 minutes, and an import that runs 5 ` +
    `minutes later, or you, can drop it`
  )
}

/** Describes the range of an archive. */
export function archiveText({ first, last }: Pick<Archive, 'first' | 'last'>): string {
  return `slots ${first.slot} to ${last.slot}, ${secondsText(first.blockTime)} to ${secondsText(last.blockTime)} UTC`
}

/** Describes ascending slots, at least one. */
function rangeText(slots: readonly number[]): string {
  return slots.length === 1 ? `slot ${slots[0]}` : `slots ${slots[0]} to ${slots.at(-1)}`
}
