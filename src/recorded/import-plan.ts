import type { RecordedIndex } from './scan.ts'
import type { BlockStore } from '../../storage/port.ts'

/** Reads of the archive's store that a plan needs. */
export type ArchivedBlocks = Pick<BlockStore, 'head' | 'between'>

/** Slots of a recorded folder, by what an import does with them. Each list ascends. */
export interface ImportPlan {
  /** Slots after the end of the archive, which are imported. */
  readonly due: readonly number[]
  /** Slots that the archive has. */
  readonly stored: readonly number[]
  /** Slots up to the end of the archive that it lacks. They cannot be added later. */
  readonly tooLate: readonly number[]
  /** Slots at or after the first live slot, which the service indexes itself. */
  readonly live: readonly number[]
  /** The end of the archive; null while it is empty. */
  readonly end: number | null
}

/** Maximum span of slots that are looked up together. A read of a thousand rows takes milliseconds. */
const SLOTS_PER_READ = 1_000

/**
 * Divides the slots of a recorded folder. `firstLive` is the first slot of the live store; null if that is empty. Rejects
 * with the store's error.
 */
export async function importPlan(
  { slots }: Pick<RecordedIndex, 'slots'>,
  archive: ArchivedBlocks,
  firstLive: number | null
): Promise<ImportPlan> {
  const [before, live] = split(slots, firstLive ?? Infinity)
  const end = (await archive.head())?.slot ?? null
  const [reached, due] = split(before, end === null ? -Infinity : end + 1)
  const tooLate = await notStored(reached, archive)
  const missing = new Set(tooLate)
  const stored = reached.filter((slot) => !missing.has(slot))
  return { due, stored, tooLate, live, end }
}

async function notStored(slots: readonly number[], archive: ArchivedBlocks): Promise<number[]> {
  const missing: number[] = []
  for (let from = 0; from < slots.length;) {
    const last = slots[from]! + SLOTS_PER_READ - 1
    const [page] = split(slots.slice(from, from + SLOTS_PER_READ), last + 1)
    const rows = await archive.between(page[0]!, page.at(-1)!)
    const stored = new Set(rows.map(({ slot }) => slot))
    missing.push(...page.filter((slot) => !stored.has(slot)))
    from += page.length
  }
  return missing
}

/** Returns the slots below `at`, and the others. */
function split(slots: readonly number[], at: number): readonly [number[], number[]] {
  const found = slots.findIndex((slot) => slot >= at)
  const end = found === -1 ? slots.length : found
  return [slots.slice(0, end), slots.slice(end)]
}
