import type { Reward } from '../chain/transaction.ts'
import { SOL_DECIMALS, WSOL } from '../market/cash.ts'
import type { EntryKind } from './entry-enums.ts'
import { AFTER_TRANSACTIONS, BEFORE_TRANSACTIONS, type LedgerChange } from './ledger-entry.ts'

/** The rewards of watched addresses in a block: those before its transactions, and those after them. */
export interface RewardChanges {
  readonly before: ReadonlyMap<string, LedgerChange[]>
  readonly after: ReadonlyMap<string, LedgerChange[]>
}

const NONE: RewardChanges = { before: new Map(), after: new Map() }

/**
 * Returns the balance changes of addresses by the rewards of a block. A block without watched rewards costs one
 * look-up per reward.
 */
export function rewardChanges(
  rewards: readonly Reward[] | undefined,
  isWatched: (address: string) => boolean
): RewardChanges {
  const found = rewards?.filter(({ address, lamports }) => lamports !== 0n && isWatched(address)) ?? []
  if (found.length === 0) return NONE
  const isAfter = ({ type }: Reward): boolean => type !== 'staking' && type !== 'voting'
  return {
    before: listed(
      found.filter((each) => !isAfter(each)),
      BEFORE_TRANSACTIONS
    ),
    after: listed(found.filter(isAfter), AFTER_TRANSACTIONS)
  }
}

function listed(rewards: readonly Reward[], txIndex: number): Map<string, LedgerChange[]> {
  const groups = Map.groupBy(rewards, ({ address }) => address)
  return new Map(
    [...groups].map(([address, list]) => [
      address,
      list.map((reward, index) => changeOf(reward, txIndex, index))
    ])
  )
}

function changeOf(
  { address, lamports, postLamports, type }: Reward,
  txIndex: number,
  index: number
): LedgerChange {
  // Collected rent is a cost of the account, not a payment of the block to it.
  const kind: EntryKind = type === 'rent' && lamports < 0n ? 'rent' : 'reward'
  return {
    signature: null,
    txIndex,
    index,
    account: address,
    mint: WSOL,
    isNative: true,
    decimals: SOL_DECIMALS,
    pre: postLamports - lamports,
    post: postLamports,
    kind,
    counterparty: null,
    confidence: 'none',
    feeLamports: 0n,
    feePayer: null,
    ixIndex: null
  }
}
