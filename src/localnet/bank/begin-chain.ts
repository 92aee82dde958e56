import { FAUCET_LAMPORTS } from './bank-options.ts'
import type { LocalBankOptions } from './bank-options.ts'
import type { BlockProduction } from './block-production.ts'
import type { RetainedBlocks } from './retained-blocks.ts'
import { emptyAccount, type Runtime } from './runtime.ts'
import type { SlotCommits } from './slot-commits.ts'

/** Creates the genesis block of a new chain, which is finalized: it funds the faucet and the given accounts. */
export async function beginChain(
  {
    faucet,
    timeMs,
    genesisAccounts = []
  }: Pick<LocalBankOptions, 'genesisAccounts'> & {
    /** Address of the faucet. */
    readonly faucet: Uint8Array
    /** Time of the block, Unix milliseconds. */
    readonly timeMs: number
  },
  {
    runtime,
    blocks,
    commits,
    production
  }: {
    readonly runtime: Runtime
    readonly blocks: RetainedBlocks
    readonly commits: SlotCommits
    readonly production: BlockProduction
  }
): Promise<void> {
  runtime.put({ ...emptyAccount(faucet), lamports: FAUCET_LAMPORTS })
  const lamports = runtime.minimumBalance(0)
  for (const address of genesisAccounts) runtime.put({ ...emptyAccount(address), lamports })
  const slot = production.makeSlot(timeMs, null)
  blocks.resume(0, { confirmed: 0, finalized: 0 })
  for (const { retained } of slot.made) commits.finalize(retained)
  production.confirmed(0)
  await commits.commit(slot)
}
