import type { Reward, RewardType } from '../transaction.ts'
import { keyTextOf, listOf, objectOf, Unreadable } from './fields.ts'

const TYPES: ReadonlyMap<unknown, RewardType> = new Map([
  ['Fee', 'fee'],
  ['Rent', 'rent'],
  ['Staking', 'staking'],
  ['Voting', 'voting']
])

/**
 * Reads the rewards of a getBlock result; undefined if the result does not state them: nodes omit them unless they are
 * requested. A malformed list counts as absent, because the transactions do not depend on it.
 */
export function readRewards(value: unknown): readonly Reward[] | undefined {
  if (value === undefined || value === null) return undefined
  try {
    return listOf(value, 'rewards').map(readReward)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

function readReward(value: unknown): Reward {
  const { pubkey, lamports, postBalance, rewardType } = objectOf(value, 'rewards')
  // Lamports above 2^53 are rounded by JSON.parse, like the balances of transactions.
  if (!Number.isInteger(lamports) || !Number.isInteger(postBalance) || (postBalance as number) < 0)
    throw new Unreadable('rewards')
  return {
    address: keyTextOf(pubkey, 'rewards'),
    lamports: BigInt(lamports as number),
    postLamports: BigInt(postBalance as number),
    type: TYPES.get(rewardType) ?? null
  }
}
