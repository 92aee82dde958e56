import { isKeyText } from '../chain/rpc/fields.ts'
import type { Reward, RewardType } from '../chain/transaction.ts'
import { bytesField, MessageFault, varintField, type ProtobufReader } from './protobuf.ts'

// solana.storage.ConfirmedBlock.Rewards
const REWARD = bytesField(1)
// solana.storage.ConfirmedBlock.Reward
const PUBKEY = bytesField(1)
const LAMPORTS = varintField(2)
const POST_BALANCE = varintField(3)
const REWARD_TYPE = varintField(4)
/** solana.storage.ConfirmedBlock.RewardType */
const TYPES: readonly (RewardType | undefined)[] = [undefined, 'fee', 'rent', 'staking', 'voting']

/**
 * Reads the rewards that end at `end`. Returns undefined for a list that cannot be read, which counts as not stated,
 * because the transactions do not depend on it.
 */
export function readRewards(from: ProtobufReader, end: number): readonly Reward[] | undefined {
  try {
    const rewards: Reward[] = []
    while (from.at < end) {
      const tag = from.tag(end)
      if (tag === REWARD) rewards.push(readReward(from, from.span(end, 'rewards')))
      else from.skip(tag, end)
    }
    return rewards
  } catch (error) {
    if (!(error instanceof MessageFault)) throw error
    from.at = end
    return undefined
  }
}

function readReward(from: ProtobufReader, end: number): Reward {
  let address = ''
  let lamports = 0n
  let postLamports = 0n
  let type: RewardType | null = null
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === PUBKEY) {
      const stop = from.span(end, 'rewards')
      address = from.text(from.at, stop)
      from.at = stop
    } else if (tag === LAMPORTS) lamports = BigInt.asIntN(64, from.u64(end, 'rewards'))
    else if (tag === POST_BALANCE) postLamports = from.u64(end, 'rewards')
    else if (tag === REWARD_TYPE) type = TYPES[from.count(end, 'rewards')] ?? null
    else from.skip(tag, end)
  }
  if (!isKeyText(address)) throw new MessageFault('rewards')
  return { address, lamports, postLamports, type }
}
