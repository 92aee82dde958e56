import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { HeldBalance } from './row-bytes.ts'
import type { MintChanges } from './balance-changes.ts'
import type { NodeBalance, NodeBalances } from './node-balances.ts'

/** The changes of one mint in a block. */
export interface ChangesAt {
  readonly slot: number
  readonly changes: MintChanges
}

/** A node's balances contradict the blocks after them; the balances must be read again. */
export class BalancesDisagree extends Error {}

/**
 * Applies blocks to a node's balances. The blocks follow each other without a gap, and start no later than the slot
 * after the oldest answer. A block changes an account only if it is newer than the answer with that account. Throws
 * BalancesDisagree.
 */
export function balancesAfter(
  { balances, oldestSlot, newestSlot }: NodeBalances,
  blocks: readonly ChangesAt[]
): Map<string, readonly [Pubkey, HeldBalance]> {
  const known = new Map<string, NodeBalance>()
  for (const each of balances) known.set(pubkeyMapKey(each.account), each)
  for (const { slot, changes } of blocks) {
    if (slot <= oldestSlot) continue
    if (changes.fault !== null) throw new BalancesDisagree(changes.fault)
    for (const [key, { account, before, after }] of changes.accounts) {
      const at = known.get(key)
      if (at !== undefined && slot <= at.slot) continue
      // Up to the newest answer, the balances are not compared: some answers may include the block, others not.
      if (slot > newestSlot && (at?.amount ?? 0n) !== before)
        throw new BalancesDisagree(
          `an account has ${before} base units before block ${slot}, not ${at?.amount ?? 0n}`
        )
      if (after === null) known.delete(key)
      else known.set(key, { account, ...after, slot })
    }
  }
  const found = new Map<string, readonly [Pubkey, HeldBalance]>()
  for (const [key, { account, owner, amount }] of known) found.set(key, [account, { owner, amount }])
  return found
}
