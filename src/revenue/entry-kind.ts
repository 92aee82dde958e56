import { WSOL } from '../market/cash.ts'
import { areOpposite, type AddressChanges } from './address-changes.ts'
import type { EntryKind } from './entry-enums.ts'
import type { AccountChange, Flow } from './transaction-changes.ts'

/** Returns the kind of a change of a watched address: the first that applies, in the order below. */
export function entryKind(change: AccountChange, seen: AddressChanges): EntryKind {
  if (isNetworkFee(change, seen) || isTradeFee(change, seen) || isWithdrawnFee(change, seen)) return 'fee'
  if (isWrapping(change, seen)) return 'unwrap'
  if (seen.tradesOf(change).length > 0) return 'swap'
  if (isRent(change, seen)) return 'rent'
  if (isSupplyChange(change, seen)) return change.post < change.pre ? 'burn' : 'mint'
  return seen.oppositeTo(change).length > 0 ? 'transfer' : 'other'
}

/** Returns whether a change consists only of the fee of the transaction. */
export function isNetworkFee(
  { account, isNative, pre, post }: AccountChange,
  { all }: AddressChanges
): boolean {
  if (!isNative || account !== 0) return false
  return all.transaction.failed || post - pre === -all.transaction.feeLamports
}

/**
 * Returns whether an inflow is a fee of another party's trades: of one trade, of one kind in all trades, or of all
 * trades.
 */
function isTradeFee(change: AccountChange, seen: AddressChanges): boolean {
  const { trades } = seen.all
  if (trades.length === 0) return false
  const inflow = seen.all.withoutFee(change)
  if (inflow <= 0n) return false
  const fees = trades
    .filter(({ user }) => user !== change.party)
    .flatMap((trade) => trade.fees.filter(({ mint }) => mint === change.mint))
  if (fees.some(({ amount }) => amount === inflow)) return true
  if (fees.length < 2) return false
  const ofOneKind = Map.groupBy(fees, ({ kind }) => kind)
  return [...ofOneKind.values(), fees].some(
    (some) => some.reduce((sum, { amount }) => sum + amount, 0n) === inflow
  )
}

/**
 * Returns whether a change is transfer fees that Token-2022 had withheld. A withdrawal states no amount. So it explains the
 * whole change of an account if no other instruction moves the account's tokens. It also explains the whole change of a mint
 * that was neither minted nor burned, wherever the tokens went.
 */
function isWithdrawnFee(
  { account, mint, isNative, pre, post }: AccountChange,
  { all }: AddressChanges
): boolean {
  if (isNative || post <= pre) return false
  const withdrawals = all.feeWithdrawals.filter((each) => all.key(each.mint) === mint)
  if (withdrawals.length === 0) return false
  const moved = all.movements.filter(({ kind }) => kind !== 'lamports')
  if (withdrawals.some(({ destination }) => destination === account))
    if (!moved.some(({ source, destination }) => source === account || destination === account)) return true
  const isSupplyConstant = !moved.some((each) => each.kind !== 'transfer' && all.key(each.mint) === mint)
  return isSupplyConstant && all.supplyChange(mint) === post - pre
}

/**
 * Returns whether a change is SOL that the address wrapped or unwrapped. Wrapped SOL that no other party gained or lost came
 * from lamports or became lamports. They are the address's own if its lamports moved the opposite way. Its lamports are
 * explained only if they differ from the wrapped SOL by rents alone.
 */
function isWrapping(change: AccountChange, seen: AddressChanges): boolean {
  if (change.mint !== WSOL) return false
  if (isSynced(change, seen)) return true
  const { wrapped, lamports } = seen
  if (!areOpposite(wrapped, lamports)) return false
  const others = seen.othersOf({ mint: WSOL, isNative: false })
  if (others.some(({ amount }) => areOpposite(amount, wrapped))) return false
  if (!change.isNative) return areOpposite(change.post - change.pre, lamports)
  return rentSums(seen).some((rent) => lamports + wrapped + rent === 0n)
}

/**
 * Returns whether `SyncNative` made lamports of the address, a wrapped SOL account, its tokens: they had arrived earlier, as
 * lamports with their own row. The ledger of its owner has no such row, because blocks do not state the owner of a
 * plain transfer's account. In the owner's ledger the tokens are the income.
 */
function isSynced(
  { account, isNative, pre, post }: AccountChange,
  { address, all }: AddressChanges
): boolean {
  if (isNative || post <= pre || all.key(account) !== address) return false
  return !all.lamports.some((each) => each.account === account)
}

/** Returns whether lamports went into token accounts that the transaction created, or came from ones that it closed. */
function isRent(change: AccountChange, seen: AddressChanges): boolean {
  if (!change.isNative) return false
  const amount = seen.all.withoutFee(change)
  const itself = seen.all.rents.filter(({ account }) => account === change.account)
  return total(itself) === amount || rentSums(seen).some((rent) => rent + amount === 0n)
}

/** The rents of the address's own token accounts, and those of all token accounts. */
function rentSums(seen: AddressChanges): readonly bigint[] {
  const { rents } = seen.all
  return [total(rents.filter((rent) => seen.isOwn(rent))), total(rents)]
}

const total = (flows: readonly Flow[]): bigint => flows.reduce((sum, { amount }) => sum + amount, 0n)

/**
 * Returns whether a change made or destroyed tokens. Wrapped SOL does not count: it comes from lamports and becomes
 * lamports.
 */
function isSupplyChange({ mint, pre, post }: AccountChange, { all }: AddressChanges): boolean {
  return mint !== WSOL && all.supplyChange(mint) === post - pre
}
