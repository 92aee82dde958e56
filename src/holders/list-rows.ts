import { pubkeyMapKey, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import {
  BASE_SLOT,
  packBalance,
  packCount,
  packOwner,
  packSlotSums,
  rankKey,
  type HeldBalance,
  type HolderSums,
  type OwnerBalance,
  type SlotSums
} from './row-bytes.ts'
import type { HolderRow, HolderRowKey } from '../../storage/port.ts'
import type { BalanceChange } from './balance-changes.ts'
import type { LoggedAccount, LoggedBlock, LoggedOwner } from './list-log.ts'

/** The balances of a list that a block changes, before the block; null for one that does not exist. */
export interface KnownList {
  readonly sums: HolderSums
  /** In the order of the changes. */
  readonly accounts: readonly (HeldBalance | null)[]
  /** Balances of the accounts' owners before and after the block, by owner. */
  readonly owners: ReadonlyMap<string, OwnerBalance | null>
}

export const SUMS_KEY = new Uint8Array(0)

/** Returns the owners that changes concern, before and after. */
export function ownersIn(
  changes: readonly BalanceChange[],
  accounts: KnownList['accounts']
): Map<string, Pubkey> {
  const owners = new Map<string, Pubkey>()
  for (const [i, { after }] of changes.entries()) {
    const before = accounts[i] ?? null
    if (before !== null) owners.set(pubkeyMapKey(before.owner), before.owner)
    if (after !== null) owners.set(pubkeyMapKey(after.owner), after.owner)
  }
  return owners
}

/**
 * Returns a block's changes of a list with the values after it; null if it changes nothing. The caller has checked with
 * `disagreement` that the changes agree with the stored balances.
 */
export function loggedBlock(
  known: KnownList,
  changes: readonly BalanceChange[],
  slot: number
): LoggedBlock | null {
  const sumsOfOwners = new Map<string, { readonly owner: Pubkey; amount: bigint; accounts: number }>()
  const add = (owner: Pubkey, amount: bigint, accounts: number): void => {
    const key = pubkeyMapKey(owner)
    let sum = sumsOfOwners.get(key)
    if (sum === undefined) {
      const before = known.owners.get(key)
      sumsOfOwners.set(key, (sum = { owner, amount: before?.amount ?? 0n, accounts: before?.accounts ?? 0 }))
    }
    sum.amount += amount
    sum.accounts += accounts
  }
  const accounts: LoggedAccount[] = []
  const owners: LoggedOwner[] = []
  let { owners: ownerCount, accounts: accountCount, held, squares } = known.sums
  for (const [i, { account, after }] of changes.entries()) {
    const before = known.accounts[i] ?? null
    if (isSameBalance(before, after)) continue
    accounts.push({ account, balance: after })
    if (before !== null) add(before.owner, -before.amount, -1)
    if (after !== null) add(after.owner, after.amount, 1)
    accountCount += (after === null ? 0 : 1) - (before === null ? 0 : 1)
    held += (after?.amount ?? 0n) - (before?.amount ?? 0n)
  }
  for (const [key, { owner, amount, accounts: count }] of sumsOfOwners) {
    const before = known.owners.get(key) ?? null
    const after = count === 0 ? null : { amount, accounts: count }
    if (before?.amount === after?.amount && before?.accounts === after?.accounts) continue
    owners.push({ owner, balance: after })
    ownerCount += (after === null ? 0 : 1) - (before === null ? 0 : 1)
    squares += amount * amount - (before?.amount ?? 0n) ** 2n
  }
  if (accounts.length === 0) return null
  return { slot, accounts, owners, sums: { owners: ownerCount, accounts: accountCount, held, squares } }
}

/** Returns the first difference between the balances before a block and the stored ones; null if they agree. */
export function disagreement(
  accounts: KnownList['accounts'],
  changes: readonly BalanceChange[]
): string | null {
  for (const [i, { before }] of changes.entries()) {
    const stored = accounts[i]?.amount ?? 0n
    if (stored !== before)
      return `an account has ${before} base units before a block, and ${stored} are stored`
  }
  return null
}

/**
 * Changes of a snapshot. Rows by amount are written before those by address: a fold that is repeated after a crash finds by
 * the latter which of the former to delete.
 */
export interface FoldedRows {
  readonly ranks: { readonly put: readonly HolderRow[]; readonly drop: readonly HolderRowKey[] }
  readonly rows: { readonly put: readonly HolderRow[]; readonly drop: readonly HolderRowKey[] }
}

/** Returns the changes of a snapshot that accounts make, given their balances in it in their order. */
export function foldedAccounts(
  accounts: readonly LoggedAccount[],
  before: readonly (HeldBalance | null)[]
): FoldedRows {
  const changed = accounts.map(({ account, balance }, i) => ({
    key: account,
    rank: balance && rankKey(balance.amount, account),
    rankValue: balance && balance.owner,
    value: balance && packBalance(balance),
    earlierRank: before[i] == null ? null : rankKey(before[i].amount, account)
  }))
  return foldedRows('account', 'account-rank', changed)
}

/** Returns the changes of a snapshot that owners make, given their balances in it in their order. */
export function foldedOwners(
  owners: readonly LoggedOwner[],
  before: readonly (OwnerBalance | null)[]
): FoldedRows {
  const changed = owners.map(({ owner, balance }, i) => ({
    key: owner,
    rank: balance && rankKey(balance.amount, owner),
    rankValue: balance && packCount(balance.accounts),
    value: balance && packOwner(balance),
    earlierRank: before[i] == null ? null : rankKey(before[i].amount, owner)
  }))
  return foldedRows('owner', 'owner-rank', changed)
}

function foldedRows(
  kind: 'account' | 'owner',
  rankKind: 'account-rank' | 'owner-rank',
  changed: readonly {
    readonly key: Uint8Array
    readonly rank: Uint8Array | null
    readonly rankValue: Uint8Array | null
    readonly value: Uint8Array | null
    readonly earlierRank: Uint8Array | null
  }[]
): FoldedRows {
  const slot = BASE_SLOT
  return {
    ranks: {
      put: changed.flatMap(({ rank: key, rankValue: value }) =>
        key === null || value === null ? [] : [{ kind: rankKind, key, slot, value }]
      ),
      drop: changed.flatMap(({ rank, earlierRank: key }) =>
        key === null || (rank !== null && Buffer.compare(rank, key) === 0)
          ? []
          : [{ kind: rankKind, key, slot }]
      )
    },
    rows: {
      put: changed.flatMap(({ key, value }) => (value === null ? [] : [{ kind, key, slot, value }])),
      drop: changed.flatMap(({ key, value }) => (value === null ? [{ kind, key, slot }] : []))
    }
  }
}

/** Returns the row of a snapshot's sums. */
export const sumsRow = (sums: SlotSums): HolderRow => ({
  kind: 'sums',
  key: SUMS_KEY,
  slot: BASE_SLOT,
  value: packSlotSums(sums)
})

const isSameBalance = (a: HeldBalance | null, b: HeldBalance | null): boolean =>
  a === null || b === null ? a === b : a.amount === b.amount && samePubkey(a.owner, b.owner)

/** Yields the snapshot of a whole list at a slot, in chunks of about `size`. Sums come last. */
export function* wholeList(
  balances: Iterable<readonly [account: Pubkey, balance: HeldBalance]>,
  slot: number,
  size: number
): Generator<HolderRow[]> {
  const owners = new Map<string, { readonly owner: Pubkey; amount: bigint; accounts: number }>()
  const rows: HolderRow[] = []
  let accounts = 0
  let held = 0n
  let squares = 0n
  for (const [account, balance] of balances) {
    const { owner, amount } = balance
    rows.push({ kind: 'account', key: account, slot: BASE_SLOT, value: packBalance(balance) })
    rows.push({ kind: 'account-rank', key: rankKey(amount, account), slot: BASE_SLOT, value: owner })
    const sum = owners.get(pubkeyMapKey(owner)) ?? { owner, amount: 0n, accounts: 0 }
    sum.amount += amount
    sum.accounts++
    owners.set(pubkeyMapKey(owner), sum)
    accounts++
    held += amount
    if (rows.length >= size) yield rows.splice(0)
  }
  for (const { owner, ...sum } of owners.values()) {
    rows.push({ kind: 'owner', key: owner, slot: BASE_SLOT, value: packOwner(sum) })
    const key = rankKey(sum.amount, owner)
    rows.push({ kind: 'owner-rank', key, slot: BASE_SLOT, value: packCount(sum.accounts) })
    squares += sum.amount ** 2n
    if (rows.length >= size) yield rows.splice(0)
  }
  rows.push(sumsRow({ sums: { owners: owners.size, accounts, held, squares }, slot }))
  yield rows
}
