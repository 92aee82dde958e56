import type { Block, Transaction } from '../chain/transaction.ts'
import { placeBlock } from '../chain/rpc/block.ts'
import { RecordLoader, type RecordPlace, type TextOutcome } from './loader.ts'
import type { RecordedIndex, SingleRecord } from './scan.ts'

/**
 * Yields the blocks of a scanned folder, ascending by slot, from a slot on. Single transactions of a slot become one
 * block, with ascending positions: the recorded one, else one after the transaction before. A record that was deleted
 * or changed since the scan is reported to the index's problems and left out.
 */
export async function* readRecorded(
  index: RecordedIndex,
  { fromSlot = 0 }: { readonly fromSlot?: number } = {}
): AsyncGenerator<Block> {
  const loader = new RecordLoader(index.directory, index.recordBytesMax)
  const load = async (place: RecordPlace, position: number | null): Promise<TextOutcome | null> => {
    const outcome = await loader.load(place, { position }).catch(() => null)
    if (outcome?.kind === 'block' || outcome?.kind === 'transaction') return outcome
    const line = place.line?.number ?? null
    index.problems.add({
      reason: 'unreadable-file',
      file: place.file,
      line,
      detail: 'changed since the scan'
    })
    return null
  }
  try {
    for (const slot of index.slots) {
      if (slot < fromSlot) continue
      const recorded = index.bySlot.get(slot)!
      const block =
        recorded.block !== null
          ? wholeBlock(await load(recorded.block, null))
          : await mergeSingles(slot, [...recorded.singles.values()], load)
      if (block !== null) yield block
    }
  } finally {
    await loader.close()
  }
}

function wholeBlock(outcome: TextOutcome | null): Block | null {
  return outcome?.kind === 'block' ? placeBlock(outcome.block) : null
}

async function mergeSingles(
  slot: number,
  singles: readonly SingleRecord[],
  load: (place: RecordPlace, position: number) => Promise<TextOutcome | null>
): Promise<Block | null> {
  const transactions: Transaction[] = []
  let blockTime: number | null = null
  let position = -1
  for (const { place, index } of [...singles].sort(byPosition)) {
    position = Math.max(index ?? 0, position + 1)
    const outcome = await load(place, position)
    if (outcome?.kind !== 'transaction') continue
    blockTime ??= outcome.blockTime
    transactions.push(outcome.transaction)
  }
  return blockTime === null ? null : { slot, blockTime, parentSlot: null, transactions, votes: 0 }
}

/** Compares by recorded index; records without an index come last, in order of their files. */
function byPosition(a: SingleRecord, b: SingleRecord): number {
  if (a.index !== null && b.index !== null && a.index !== b.index) return a.index - b.index
  if ((a.index === null) !== (b.index === null)) return a.index === null ? 1 : -1
  return a.place.file < b.place.file ? -1 : a.place.file > b.place.file ? 1 : lineOf(a) - lineOf(b)
}

function lineOf({ place }: SingleRecord): number {
  return place.line?.number ?? 0
}
