import type { StoredChain } from './bank-store.ts'
import { unpackBlock } from './block-records.ts'
import type { KeptBlocks } from './kept-blocks.ts'
import type { Runtime } from './runtime.ts'
import type { SlotCommits } from './slot-commits.ts'

/** Continues a chain at its last durable block (B2). */
export function resumeChain(
  stored: StoredChain,
  {
    runtime,
    blocks,
    commits
  }: { readonly runtime: Runtime; readonly blocks: KeptBlocks; readonly commits: SlotCommits }
): void {
  // Deployed programs are restored after the accounts that hold their code.
  for (const isProgram of [false, true]) {
    for (const account of stored.accounts) {
      if (account.executable === isProgram) runtime.restore(account.address, account)
    }
  }
  for (const { packed, accounts } of stored.blocks) {
    const whole = accounts === null ? null : { block: unpackBlock(packed), accounts }
    blocks.append({ packed, whole, isDurable: true })
  }
  blocks.resume(stored.firstSlot, stored.settled)
  // These were reported before the process ended, or have no listener; listeners read older blocks by slot.
  for (const { commitment, kept } of blocks.settle()) {
    if (commitment === 'finalized') commits.finalize(kept)
  }
  commits.takeNotes(stored.notes)
  const { slot, blockTime } = blocks.head.packed.header
  runtime.beginSlot({ slot, blockTime, slotHashes: () => blocks.headers() })
}
