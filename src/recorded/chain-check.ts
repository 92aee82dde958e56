import type { SlotRow } from '../market/rows.ts'
import type { RecordedIndex, RecordedSlot } from './scan.ts'

/** Reads of the store that a folder is added to. */
export interface StoredBlocks {
  head(): Promise<PlacedBlock | null>
  at(slot: number): Promise<PlacedBlock | null>
  /** Returns the first slot whose block time is at or after a time in Unix seconds; null if no block is that late. */
  firstSince(blockTime: number): Promise<number | null>
}

/** Facts that identify a block, as far as both sides know them. */
export type PlacedBlock = Pick<SlotRow, 'slot' | 'blockTime' | 'parentSlot'>

/** The relation of a folder to the store. */
export interface FolderStanding {
  /**
   * `empty`: the store is empty. `same`: blocks of the folder are stored, or one follows the newest stored block.
   * `unknown`: no evidence for either. `other`: the two cannot be of one chain.
   */
  readonly kind: 'empty' | 'same' | 'unknown' | 'other'
  /** Evidence for `other` or `unknown`, or an oddity of `same`; null otherwise. */
  readonly detail: string | null
  /** The newest stored slot; null while the store is empty. */
  readonly head: number | null
  /** Number of the folder's slots above the head, which will be read. */
  readonly above: number
  /** Number of slots at or below the head that were looked up in the store, and how many of them it lacks. */
  readonly compared: number
  readonly notStored: number
}

/**
 * Maximum number of a folder's slots looked up in the store, evenly spread. Two folders of one chain agree in every
 * slot, so a few would suffice; 200 take less than a second on a cluster.
 */
const COMPARED_MAX = 200
/** Maximum number of slots compared with the times of stored neighbours, at about twenty reads each. */
const NEIGHBOURS_MAX = 8
/** Block times may decrease along a chain by a second or two. */
const TIME_SLACK_SECONDS = 60
/** Twice the rate of the fastest localnet; mainnet makes two and a half slots a second. */
const SLOTS_PER_SECOND_MAX = 200

/**
 * Compares a folder with the store that it is added to. A folder has no genesis, so blocks are the evidence:
 *
 * R1. If both have a slot, their blocks are equal, or of different chains; the majority of the compared slots
 *     decides.
 * R2. A later slot never has an earlier time, and no chain produces more than SLOTS_PER_SECOND_MAX slots a second.
 * R3. If no slot is in both and no evidence contradicts the match, the folder is accepted, and the operator is
 *     warned.
 *
 * Rejects with the store's error.
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
  return { kind: 'unknown', detail: `none of its blocks is stored`, ...counts }
}

/** Describes how two blocks of one slot differ; null if they can be one block. */
function differenceOf(stored: PlacedBlock, recorded: PlacedBlock): string | null {
  const { slot } = stored
  if (stored.blockTime !== recorded.blockTime)
    return `its block of slot ${slot} is of ${timeText(recorded.blockTime)}, the stored one of ${timeText(stored.blockTime)}`
  if (stored.parentSlot === null || recorded.parentSlot === null) return null
  if (stored.parentSlot === recorded.parentSlot) return null
  return `its block of slot ${slot} follows slot ${recorded.parentSlot}, the stored one slot ${stored.parentSlot}`
}

/** Describes why a stored and a recorded block of two slots cannot be of one chain; null if they can. */
function contradictionOf(stored: PlacedBlock, recorded: PlacedBlock): string | null {
  const [earlier, later] = stored.slot < recorded.slot ? [stored, recorded] : [recorded, stored]
  const seconds = later.blockTime - earlier.blockTime
  const said = `its slot ${recorded.slot} is of ${timeText(recorded.blockTime)}, the stored slot ${stored.slot} of ${timeText(stored.blockTime)}`
  if (seconds < -TIME_SLACK_SECONDS) return said
  const slotsMax = (seconds + TIME_SLACK_SECONDS) * SLOTS_PER_SECOND_MAX
  return later.slot - earlier.slot > slotsMax ? `${said}: no chain produces slots so fast` : null
}

/** Compares recorded blocks that are not stored with the head and with the stored blocks near their times. */
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

/** Returns at most `most` items of a list, evenly spread, including its first and last. */
function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all
  return Array.from({ length: most }, (_, at) => all[Math.round((at * (all.length - 1)) / (most - 1))]!)
}

const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString()
