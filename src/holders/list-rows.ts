import { pubkeyMapKey, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import {
  changeKey,
  packBalance,
  packChanges,
  packCount,
  packOwner,
  packSums,
  rankKey,
  type ChangedRow,
  type HeldBalance,
  type HolderSums,
  type OwnerBalance
} from './row-bytes.ts'
import type { HolderRow, HolderRowKind } from '../../storage/port.ts'
import type { BalanceChange } from './balance-changes.ts'

/** A stored value with the slot of its version; null if not stored. */
export type Known<T> = { readonly value: T; readonly slot: number } | null

/** The stored rows of a list that a block changes. */
export interface KnownList {
  readonly sums: NonNullable<Known<HolderSums>>
  /** In the order of the changes. */
  readonly accounts: readonly Known<HeldBalance>[]
  /** Balances of the accounts' owners before and after the block, by owner. */
  readonly owners: ReadonlyMap<string, Known<OwnerBalance>>
}

export const SUMS_KEY = new Uint8Array(0)

/** Returns the owners that changes concern, before and after. */
export function ownersIn(
  changes: readonly BalanceChange[],
  accounts: KnownList['accounts']
): Map<string, Pubkey> {
  const owners = new Map<string, Pubkey>()
  for (const [i, { after }] of changes.entries()) {
    const before = accounts[i]?.value
    if (before !== undefined) owners.set(pubkeyMapKey(before.owner), before.owner)
    if (after !== null) owners.set(pubkeyMapKey(after.owner), after.owner)
  }
  return owners
}

/**
 * Returns the rows of a list that a block's changes produce, the row of kind `change` first. The caller has checked
 * with `disagreement` that the changes agree with the stored rows.
 */
export function changedRows(known: KnownList, changes: readonly BalanceChange[], slot: number): HolderRow[] {
  const rows = new RowsOfBlock(slot)
  const owners = new Map<string, { readonly owner: Pubkey; amount: bigint; accounts: number }>()
  const add = (owner: Pubkey, amount: bigint, accounts: number): void => {
    const key = pubkeyMapKey(owner)
    let sum = owners.get(key)
    if (sum === undefined) {
      const before = known.owners.get(key)?.value
      owners.set(key, (sum = { owner, amount: before?.amount ?? 0n, accounts: before?.accounts ?? 0 }))
    }
    sum.amount += amount
    sum.accounts += accounts
  }
  let { owners: ownerCount, accounts: accountCount, held, squares } = known.sums.value
  for (const [i, { account, after }] of changes.entries()) {
    const stored = known.accounts[i] ?? null
    const before = stored?.value ?? null
    if (isSameBalance(before, after)) continue
    const earlier = stored?.slot ?? null
    rows.replace('account', account, earlier, account, after && packBalance(after))
    rows.replace(
      'account-rank',
      before && rankKey(before.amount, account),
      earlier,
      after && rankKey(after.amount, account),
      after && after.owner
    )
    if (before !== null) add(before.owner, -before.amount, -1)
    if (after !== null) add(after.owner, after.amount, 1)
    accountCount += (after === null ? 0 : 1) - (before === null ? 0 : 1)
    held += (after?.amount ?? 0n) - (before?.amount ?? 0n)
  }
  for (const [key, { owner, amount, accounts }] of owners) {
    const stored = known.owners.get(key) ?? null
    const before = stored?.value ?? null
    const earlier = stored?.slot ?? null
    const after = accounts === 0 ? null : { amount, accounts }
    if (before?.amount === after?.amount && before?.accounts === after?.accounts) continue
    rows.replace('owner', owner, earlier, owner, after && packOwner(after))
    rows.replace(
      'owner-rank',
      before && rankKey(before.amount, owner),
      earlier,
      after && rankKey(amount, owner),
      after && packCount(accounts)
    )
    ownerCount += (after === null ? 0 : 1) - (before === null ? 0 : 1)
    squares += amount * amount - (before?.amount ?? 0n) ** 2n
  }
  if (rows.isEmpty) return []
  const sums = { owners: ownerCount, accounts: accountCount, held, squares }
  rows.replace('sums', SUMS_KEY, known.sums.slot, SUMS_KEY, packSums(sums))
  return rows.finish()
}

/** Returns the first difference between the balances before a block and the stored ones; null if they agree. */
export function disagreement(
  accounts: KnownList['accounts'],
  changes: readonly BalanceChange[]
): string | null {
  for (const [i, { before }] of changes.entries()) {
    const stored = accounts[i]?.value.amount ?? 0n
    if (stored !== before)
      return `an account has ${before} base units before a block, and ${stored} are stored`
  }
  return null
}

/** Collects the rows of a slot, each with the version that it supersedes. */
class RowsOfBlock {
  readonly #slot: number
  readonly #rows: (HolderRow & ChangedRow)[] = []

  constructor(slot: number) {
    this.#slot = slot
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  /** Replaces a row whose version is from `earlierSlot`. Either row may be missing, and their keys may differ. */
  replace(
    kind: HolderRowKind,
    earlierKey: Uint8Array | null,
    earlierSlot: number | null,
    key: Uint8Array | null,
    value: Uint8Array | null
  ): void {
    const isSameKey = earlierKey !== null && key !== null && Buffer.compare(earlierKey, key) === 0
    if (earlierKey !== null && earlierSlot !== null && !isSameKey)
      this.#put(kind, earlierKey, null, earlierSlot)
    if (key !== null && (value !== null || isSameKey))
      this.#put(kind, key, value, isSameKey ? earlierSlot : null)
  }

  finish(): HolderRow[] {
    const value = packChanges(this.#rows)
    const change = { kind: 'change', key: changeKey(this.#slot), slot: this.#slot, value } as const
    return [change, ...this.#rows]
  }

  #put(kind: HolderRowKind, key: Uint8Array, value: Uint8Array | null, earlierSlot: number | null): void {
    this.#rows.push({ kind, key, slot: this.#slot, value, isGone: value === null, earlierSlot })
  }
}

const isSameBalance = (a: HeldBalance | null, b: HeldBalance | null): boolean =>
  a === null || b === null ? a === b : a.amount === b.amount && samePubkey(a.owner, b.owner)

/** Yields the rows of a whole list at a slot, in chunks of about `size`. Sums come last. */
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
    rows.push({ kind: 'account', key: account, slot, value: packBalance(balance) })
    rows.push({ kind: 'account-rank', key: rankKey(amount, account), slot, value: owner })
    const sum = owners.get(pubkeyMapKey(owner)) ?? { owner, amount: 0n, accounts: 0 }
    sum.amount += amount
    sum.accounts++
    owners.set(pubkeyMapKey(owner), sum)
    accounts++
    held += amount
    if (rows.length >= size) yield rows.splice(0)
  }
  for (const { owner, ...sum } of owners.values()) {
    rows.push({ kind: 'owner', key: owner, slot, value: packOwner(sum) })
    rows.push({ kind: 'owner-rank', key: rankKey(sum.amount, owner), slot, value: packCount(sum.accounts) })
    squares += sum.amount ** 2n
    if (rows.length >= size) yield rows.splice(0)
  }
  const sums = packSums({ owners: owners.size, accounts, held, squares })
  rows.push({ kind: 'sums', key: SUMS_KEY, slot, value: sums })
  yield rows
}
