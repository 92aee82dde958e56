import type { BlockStore, KindUsage, LargePartitions, Storage } from '../port.ts'
import { daysUntilFull, growthAt, growthOf, type GrowthPhase } from './disk-forecast.ts'
import type { SlotRow } from '../../src/market/rows.ts'

const DAY = 86_400
/** Blocks of a shorter time say nothing about a day. */
const MEASURED_SECONDS_MIN = 3_600
/** Stretches of slots that a rate of events is measured in: about 1,500 rows, read within 20 ms. */
const STRETCHES = 64
const STRETCH_SLOTS = 24

/** The space that the store takes, and how it grows if blocks keep coming as in the newest day. */
export interface StorageReport {
  readonly kinds: readonly KindReport[]
  /** Block time of the oldest and of the newest block; null on an empty store. */
  readonly oldestTime: number | null
  readonly newestTime: number | null
  readonly freeBytes: number | null
  /** Null until blocks have come for an hour. */
  readonly growthADay: number | null
  /** Null if the free bytes or the growth are not known, or the disk does not fill. */
  readonly daysLeft: number | null
  /** Null for a store without partitions, and if its servers do not say. */
  readonly largePartitions: LargePartitions | null
}

export interface KindReport extends KindUsage {
  /** Block time that rows reach back to; null for rows that are no history of blocks. */
  readonly oldestTime: number | null
  readonly growthADay: number | null
}

/** Blocks from some time up to the head. */
interface Reach {
  readonly oldest: SlotRow
  readonly days: number
  readonly eventsADay: number
}

/** Measures the store. Its bytes are estimates, and so is all that follows from them. */
export async function storageReport({
  blocks,
  usage
}: Pick<Storage, 'blocks' | 'usage'>): Promise<StorageReport> {
  const [{ kinds, freeBytes, largePartitions }, head] = await Promise.all([usage(), blocks.head()])
  const bySize = kinds.toSorted((a, b) => b.bytes - a.bytes)
  if (head === null) {
    const unknown = { oldestTime: null, growthADay: null }
    const empty = bySize.map((kind) => ({ ...kind, ...unknown }))
    return { ...unknown, kinds: empty, newestTime: null, freeBytes, daysLeft: null, largePartitions }
  }
  const whole = await reachOf(blocks, head, Infinity)
  // A past that was read at once, as a new localnet's, is no day of this rate: the blocks that came since are.
  const cameSeconds = (head.receivedAtMs - whole.oldest.receivedAtMs) / 1_000
  const isMeasured = Math.min(cameSeconds, whole.days * DAY) >= MEASURED_SECONDS_MIN
  const lengths = new Set(kinds.map(secondsOf).filter((seconds) => seconds !== null))
  lengths.delete(Infinity)
  const [today, ...limited] = await Promise.all([
    reachOf(blocks, head, Math.min(DAY, cameSeconds)),
    ...[...lengths].map(async (seconds) => [seconds, await reachOf(blocks, head, seconds)] as const)
  ])
  const reaches = new Map([[Infinity, whole], ...limited])
  const growths = bySize.map((kind): readonly GrowthPhase[] => {
    const seconds = secondsOf(kind)
    if (seconds === null) return []
    const { days, eventsADay } = reaches.get(seconds)!
    const writtenADay = (kind.bytes / days) * ratio(today.eventsADay, eventsADay)
    return growthOf({ bytes: kind.bytes, days, retentionDays: seconds / DAY, writtenADay })
  })
  const bytesADay = (of: readonly (readonly GrowthPhase[])[]): number | null =>
    isMeasured ? growthAt(of, 0) : null
  return {
    kinds: bySize.map((kind, i) => ({
      ...kind,
      oldestTime: reaches.get(secondsOf(kind) ?? NaN)?.oldest.blockTime ?? null,
      growthADay: bytesADay([growths[i]!])
    })),
    oldestTime: whole.oldest.blockTime,
    newestTime: head.blockTime,
    freeBytes,
    growthADay: bytesADay(growths),
    daysLeft: isMeasured && freeBytes !== null ? daysUntilFull(freeBytes, growths) : null,
    largePartitions
  }
}

/** Returns the retention of a kind of rows; null for rows that are no history of blocks. */
function secondsOf({ stays }: KindUsage): number | null {
  if (stays === 'needed') return null
  return stays === 'always' ? Infinity : stays
}

/** Returns how much denser events come; 1 if there is nothing to compare. */
const ratio = (now: number, before: number): number => (before > 0 ? now / before : 1)

async function reachOf(blocks: BlockStore, head: SlotRow, seconds: number): Promise<Reach> {
  const slot = await blocks.firstSince(Math.max(head.blockTime - seconds, 0))
  const oldest = (slot === null ? null : await blocks.at(slot)) ?? head
  // A lone block spans no time, but is not written in none.
  const days = Math.max(head.blockTime - oldest.blockTime, 1) / DAY
  const events = await eventsIn(blocks, oldest.slot, head.slot)
  return { oldest, days, eventsADay: events / days }
}

/** Estimates the events of a range of slots by stretches of it, evenly spaced. */
async function eventsIn(blocks: BlockStore, first: number, last: number): Promise<number> {
  const slots = last - first + 1
  const count = Math.min(STRETCHES, Math.ceil(slots / STRETCH_SLOTS))
  const length = Math.min(STRETCH_SLOTS, Math.ceil(slots / count))
  const read = Array.from({ length: count }, (_, i) => {
    const from = first + Math.floor((i * (slots - length)) / Math.max(count - 1, 1))
    return blocks.between(from, from + length - 1)
  })
  const events = (await Promise.all(read)).flat().reduce((sum, row) => sum + row.events, 0)
  return (events / (count * length)) * slots
}
