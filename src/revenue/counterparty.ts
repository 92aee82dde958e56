import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { givesOf, takesOf, type AddressChanges } from './address-changes.ts'
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
  const equal = opposite.filter(([, other]) => other === -amount)
  if (equal.length === 1) return { counterparty: equal[0]![0], confidence: 'exact' }
  const inferred = kind === 'swap' ? poolOf(change, seen) : largestOf(opposite)
  return inferred === null ? NOBODY : { counterparty: inferred, confidence: 'inferred' }
}

/** Returns the pool of the first trade that moved the mint in the direction of a change, else of the first trade. */
function poolOf(change: AccountChange, seen: AddressChanges): string | null {
  const trades = seen.tradesOf(change)
  const moves = change.post < change.pre ? takesOf : givesOf
  const trade = trades.find((each) => moves(each, change.mint)) ?? trades[0]
  return trade === undefined ? null : pubkeyToBase58(trade.pool)
}

function largestOf(parties: readonly (readonly [party: string, amount: bigint])[]): string | null {
  let largest: readonly [party: string, amount: bigint] | null = null
  for (const each of parties) if (largest === null || size(each[1]) > size(largest[1])) largest = each
  return largest === null ? null : largest[0]
}

const size = (amount: bigint): bigint => (amount < 0n ? -amount : amount)
