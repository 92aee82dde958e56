import type { ChainStore, StoredChain, TakeBlock } from './bank-store.ts'
import type { RetainedBlocks } from './retained-blocks.ts'
import type { Runtime } from './runtime.ts'
import { leaveOnDisk, type SlotCommits } from './slot-commits.ts'

/** Returns a function that adds stored blocks, oldest first. Finalized blocks are reread when they are needed. */
export function blockTaker(blocks: RetainedBlocks, store: ChainStore): TakeBlock {
  return (packed, accounts) => {
    const retained = { packed, accounts, whole: null, isDurable: true }
    blocks.append(retained)
    if (accounts === null) leaveOnDisk(retained, store)
  }
}

/** Continues a chain at its last durable block (B2). */
export function resumeChain(
  stored: StoredChain,
  {
    runtime,
    blocks,
    commits
  }: { readonly runtime: Runtime; readonly blocks: RetainedBlocks; readonly commits: SlotCommits }
): void {
  // Deployed programs are restored after the accounts that hold their code.
  for (const isProgram of [false, true]) {
    for (const account of stored.accounts) {
      if (account.executable === isProgram) runtime.restore(account.address, account)
    }
  }
  blocks.resume(stored.firstSlot, stored.settled)
  // The disk has no earlier states of accounts, so a restart finalizes its blocks. These blocks were reported before the
  // process ended, or have no listener; listeners read older blocks by slot.
  for (const { commitment, retained } of blocks.settle({ confirmedAfter: 0, finalizedAfter: 0 })) {
    if (commitment === 'finalized') commits.finalize(retained)
  }
  commits.takeNotes(stored.notes)
  const { slot, blockTime } = blocks.head.packed.header
  runtime.beginSlot({ slot, blockTime, slotHashes: () => blocks.headers() })
}
