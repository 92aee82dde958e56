import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { LoggedAccount, LoggedBlock, LoggedOwner } from './list-log.ts'
import { packCount, rankKey, type HeldBalance, type HolderSums, type OwnerBalance } from './row-bytes.ts'

/** A value with the slot of the block that it is of. */
interface Changed<T> {
  readonly entry: T
  readonly slot: number
}

/** A row of a list by amount: an account or an owner. */
export interface RankRow {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export type RankKind = 'owner-rank' | 'account-rank'

/** The newest values of what the blocks of a list's log have changed, which take the place of those of the snapshot. */
export class ListOverlay {
  readonly #accounts = new Map<string, Changed<LoggedAccount>>()
  readonly #owners = new Map<string, Changed<LoggedOwner>>()
  /** The sums after the newest block; null before the first. */
  sums: { readonly sums: HolderSums; readonly slot: number } | null = null

  /** Accounts and owners in memory. */
  get size(): number {
    return this.#accounts.size + this.#owners.size
  }

  get accounts(): LoggedAccount[] {
    return [...this.#accounts.values()].map(({ entry }) => entry)
  }

  get owners(): LoggedOwner[] {
    return [...this.#owners.values()].map(({ entry }) => entry)
  }

  copy(): ListOverlay {
    const copy = new ListOverlay()
    for (const [key, value] of this.#accounts) copy.#accounts.set(key, value)
    for (const [key, value] of this.#owners) copy.#owners.set(key, value)
    copy.sums = this.sums
    return copy
  }

  /** Applies a block, which follows those before it. */
  apply({ slot, accounts, owners, sums }: LoggedBlock): void {
    for (const entry of accounts) this.#accounts.set(pubkeyMapKey(entry.account), { entry, slot })
    for (const entry of owners) this.#owners.set(pubkeyMapKey(entry.owner), { entry, slot })
    this.sums = { sums, slot }
  }

  /** Forgets what no block after a slot has changed. */
  forgetUpTo(upTo: number): void {
    for (const [key, { slot }] of this.#accounts) if (slot <= upTo) this.#accounts.delete(key)
    for (const [key, { slot }] of this.#owners) if (slot <= upTo) this.#owners.delete(key)
    if (this.sums !== null && this.sums.slot <= upTo) this.sums = null
  }

  /** The balance of an account; undefined if no block has changed it. */
  account(account: Pubkey): HeldBalance | null | undefined {
    return this.#accounts.get(pubkeyMapKey(account))?.entry.balance
  }

  /** The balance of an owner; undefined if no block has changed it. */
  owner(owner: Pubkey): OwnerBalance | null | undefined {
    return this.#owners.get(pubkeyMapKey(owner))?.entry.balance
  }

  /** Tells whether a block has changed the account or owner of a kind of rows. */
  has(kind: RankKind, address: Pubkey): boolean {
    const key = pubkeyMapKey(address)
    return kind === 'owner-rank' ? this.#owners.has(key) : this.#accounts.has(key)
  }

  /** Returns the first changed rows by amount after a key, in their order. */
  ranked(kind: RankKind, after: Uint8Array | undefined, limit: number): RankRow[] {
    const rows: RankRow[] = []
    for (const row of this.#rankRows(kind)) {
      if (after !== undefined && Buffer.compare(row.key, after) <= 0) continue
      if (rows.length === limit && Buffer.compare(row.key, rows.at(-1)!.key) > 0) continue
      rows.splice(placeOf(rows, row.key), 0, row)
      if (rows.length > limit) rows.pop()
    }
    return rows
  }

  *#rankRows(kind: RankKind): Generator<RankRow> {
    if (kind === 'owner-rank') {
      for (const { entry } of this.#owners.values())
        if (entry.balance !== null)
          yield { key: rankKey(entry.balance.amount, entry.owner), value: packCount(entry.balance.accounts) }
    } else
      for (const { entry } of this.#accounts.values())
        if (entry.balance !== null)
          yield { key: rankKey(entry.balance.amount, entry.account), value: entry.balance.owner }
  }
}

/** Returns the place of a key among rows in their order. */
function placeOf(rows: readonly RankRow[], key: Uint8Array): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Buffer.compare(rows[middle]!.key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
