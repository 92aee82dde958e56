import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { AddressChanges, OtherParty } from './address-changes.ts'
import type { EntryKind } from './entry-enums.ts'
import type { LedgerChange } from './ledger-entry.ts'
import type { AccountChange } from './transaction-changes.ts'

export type Counterparty = Pick<LedgerChange, 'counterparty' | 'confidence'>

const NOBODY: Counterparty = { counterparty: null, confidence: 'none' }

/**
 * Returns the other party of a change. It is exact if one party alone has the opposite amount. Else it is inferred: the
 * pool of a swap, or the party with the largest change of the opposite sign, the first in the order of keys.
 */
export function counterpartyOf(change: AccountChange, kind: EntryKind, seen: AddressChanges): Counterparty {
  // The address itself is the counterparty of wrapping.
  if (kind === 'unwrap') return NOBODY
  const amount = seen.all.withoutFee(change)
  const opposite = seen.oppositeTo(change)
  const [equal, ...more] = opposite.filter((other) => other.amount === -amount)
  if (equal !== undefined && more.length === 0) return { counterparty: equal.party, confidence: 'exact' }
  const inferred = kind === 'swap' ? poolOf(change, seen) : largestOf(opposite)
  return inferred === null ? NOBODY : { counterparty: inferred, confidence: 'inferred' }
}

/** Returns the pool of the first trade that moved the mint in the direction of a change, else of the first trade. */
function poolOf(change: AccountChange, seen: AddressChanges): string | null {
  const trades = seen.tradesOf(change)
  const isOutflow = change.post < change.pre
  const named =
    trades.find(({ inMint, outMint }) => (isOutflow ? inMint : outMint) === change.mint) ?? trades[0]
  return named === undefined ? null : pubkeyToBase58(named.trade.pool)
}

function largestOf(parties: readonly OtherParty[]): string | null {
  let largest: OtherParty | null = null
  for (const each of parties) if (largest === null || size(each.amount) > size(largest.amount)) largest = each
  return largest === null ? null : largest.party
}

const size = (amount: bigint): bigint => (amount < 0n ? -amount : amount)
