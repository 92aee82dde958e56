import type { SlotRow } from '../market/rows.ts'
import type { RecordedIndex, RecordedSlot } from './scan.ts'

/** Reads of the store that a folder continues. */
export interface StoredBlocks {
  head(): Promise<PlacedBlock | null>
  at(slot: number): Promise<PlacedBlock | null>
  /** The first slot whose block time is at or after a time. */
  firstSince(blockTime: number): Promise<number | null>
}

/** Facts that identify a block of a chain, as far as both sides know them. */
export type PlacedBlock = Pick<SlotRow, 'slot' | 'blockTime' | 'parentSlot'>

/** How a folder stands to what is stored. */
export interface FolderStanding {
  /**
   * `empty`: nothing is stored. `same`: blocks of the folder are stored, or one follows the newest that is. `unknown`:
   * nothing contradicts it. `other`: the two cannot be of one chain.
   */
  readonly kind: 'empty' | 'same' | 'unknown' | 'other'
  /** How `other` or `unknown` shows, or what is odd about `same`; null otherwise. */
  readonly detail: string | null
  /** The newest stored slot; null while nothing is stored. */
  readonly head: number | null
  /** Slots of the folder above the head: they are read. */
  readonly above: number
  /** Slots at or below the head that were looked for in the store, and how many it does not have. */
  readonly compared: number
  readonly notStored: number
}

/**
 * Slots of a folder that are looked for in the store, evenly spread. Chosen: two folders of one chain agree in every
 * slot, so that a few would do; this many take less than a second on a cluster.
 */
const COMPARED_MAX = 200
/** Slots that are held against the times of their stored neighbours, which takes some twenty reads each. */
const NEIGHBOURS_MAX = 8
/** Block times may fall along a chain by a second or two. */
const TIME_SLACK_SECONDS = 60
/** Twice the fastest localnet; mainnet has two and a half. */
const SLOTS_PER_SECOND_MAX = 200

/**
 * Holds a folder against the store that it is to be added to. A folder has no genesis, so blocks are the witnesses:
 *
 * R1. A slot that both have is the same block, or one of another chain; the majority of those compared decides.
 * R2. A later slot is not of an earlier time, and no chain makes more than SLOTS_PER_SECOND_MAX slots a second.
 * R3. Where no slot is in both and nothing contradicts it, the folder is taken, and its operator is told.
 *
 * Rejects with what the store rejects with.
 */
export async function standingOf(index: RecordedIndex, store: StoredBlocks): Promise<FolderStanding> {
  const { slots, bySlot } = index
  const head = await store.head()
  if (head === null)
    return { kind: 'empty', detail: null, head: null, above: slots.length, compared: 0, notStored: 0 }
  const firstAbove = slots.findIndex((slot) => slot > head.slot)
  const end = firstAbove === -1 ? slots.length : firstAbove
  const facts = { head: head.slot, above: slots.length - end }
  const placed = (slot: number): PlacedBlock => placeOf(slot, bySlot.get(slot)!)

  const compared = spread(slots.slice(0, end), COMPARED_MAX)
  const differences: string[] = []
  const unstored: number[] = []
  for (const slot of compared) {
    const stored = await store.at(slot)
    if (stored === null) unstored.push(slot)
    else {
      const difference = differenceOf(stored, placed(slot))
      if (difference !== null) differences.push(difference)
    }
  }
  const counts = { ...facts, compared: compared.length, notStored: unstored.length }
  const same = compared.length - unstored.length - differences.length
  if (differences.length > same) return { kind: 'other', detail: differences[0]!, ...counts }

  const next = firstAbove === -1 ? null : placed(slots[firstAbove]!)
  const contradiction =
    (next === null ? null : contradictionOf(head, next)) ??
    (await contradictionAmong(spread(unstored, NEIGHBOURS_MAX).map(placed), head, store))
  if (same > 0) return { kind: 'same', detail: contradiction ?? differences[0] ?? null, ...counts }
  if (contradiction !== null) return { kind: 'other', detail: contradiction, ...counts }
  if (next?.parentSlot === head.slot) return { kind: 'same', detail: null, ...counts }
  return { kind: 'unknown', detail: `none of its blocks is among the stored ones`, ...counts }
}

/** How two blocks of one slot differ; null where they can be the same block. */
function differenceOf(stored: PlacedBlock, recorded: PlacedBlock): string | null {
  const { slot } = stored
  if (stored.blockTime !== recorded.blockTime)
    return `its block of slot ${slot} is of ${timeText(recorded.blockTime)}, the stored one of ${timeText(stored.blockTime)}`
  if (stored.parentSlot === null || recorded.parentSlot === null) return null
  if (stored.parentSlot === recorded.parentSlot) return null
  return `its block of slot ${slot} follows slot ${recorded.parentSlot}, the stored one slot ${stored.parentSlot}`
}

/** Why a stored and a recorded block of two slots cannot be of one chain; null where they can. */
function contradictionOf(stored: PlacedBlock, recorded: PlacedBlock): string | null {
  const [earlier, later] = stored.slot < recorded.slot ? [stored, recorded] : [recorded, stored]
  const seconds = later.blockTime - earlier.blockTime
  const said = `its slot ${recorded.slot} is of ${timeText(recorded.blockTime)}, the stored slot ${stored.slot} of ${timeText(stored.blockTime)}`
  if (seconds < -TIME_SLACK_SECONDS) return said
  const slotsMax = (seconds + TIME_SLACK_SECONDS) * SLOTS_PER_SECOND_MAX
  return later.slot - earlier.slot > slotsMax ? `${said}: no chain makes slots so fast` : null
}

/** Holds recorded blocks that are not stored against the head and against what is stored of their times. */
async function contradictionAmong(
  blocks: readonly PlacedBlock[],
  head: PlacedBlock,
  store: StoredBlocks
): Promise<string | null> {
  for (const block of blocks) {
    const since = await store.firstSince(block.blockTime + TIME_SLACK_SECONDS + 1)
    const neighbour = since === null ? null : await store.at(since)
    for (const stored of [neighbour, head]) {
      const contradiction = stored === null ? null : contradictionOf(stored, block)
      if (contradiction !== null) return contradiction
    }
  }
  return null
}

const placeOf = (slot: number, { blockTime, parentSlot }: RecordedSlot): PlacedBlock => ({
  slot,
  blockTime,
  parentSlot
})

/** At most so many of a list, evenly spread, with its first and its last. */
function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all
  return Array.from({ length: most }, (_, at) => all[Math.round((at * (all.length - 1)) / (most - 1))]!)
}

const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString()
