import { encodeBase58 } from '../chain/base58.ts'
import type { SlotRow } from '../market/rows.ts'
import type { LocalChain } from './chain.ts'

/** The chain that filled a store, as the store records it. */
export interface StoredEnd {
  /** The newest stored block; null for an empty store. */
  readonly head: Pick<SlotRow, 'slot' | 'blockTime' | 'blockhash'> | null
  /** Base58; null while unknown. */
  readonly genesis: string | null
}

/**
 * Returns the reason why a chain cannot be the one that filled a store; null if it can be. The two contradict
 * each other after one of them was restored from a backup. A store that is behind its chain catches up.
 */
export function contradictionWith(
  chain: Pick<LocalChain, 'genesisHash' | 'slot' | 'block'>,
  { head, genesis }: StoredEnd
): string | null {
  const ours = encodeBase58(chain.genesisHash)
  if (genesis !== null && genesis !== ours)
    return `its genesis is ${ours}, what is stored comes from a chain with the genesis ${genesis}`
  if (head === null) return null
  const newest = chain.slot('processed')
  if (head.slot > newest)
    return `it ends at slot ${newest}, before slot ${head.slot}, the newest that is stored`
  const answer = chain.block(head.slot, 'processed')
  // A pruned block proves nothing.
  if (answer.kind === 'pruned') return null
  // Hashes follow from the seed and the slots alone, so a restarted chain repeats them, but with other times.
  if (answer.kind === 'block' && answer.block.blockTime === head.blockTime) {
    const blockhash = encodeBase58(answer.block.blockhash)
    if ((head.blockhash ?? blockhash) === blockhash) return null
  }
  return `it has another block than the stored one of slot ${head.slot}, the newest that is stored`
}
