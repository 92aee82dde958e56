import type { Pubkey } from '../chain/pubkey.ts'
import {
  packSums,
  unpackBalance,
  unpackOwner,
  unpackSums,
  writeBalance,
  writeOwner,
  type HeldBalance,
  type HolderSums,
  type OwnerBalance,
  type SlotSums
} from './row-bytes.ts'

/** An account after a block; null if it has no tokens. */
export interface LoggedAccount {
  readonly account: Pubkey
  readonly balance: HeldBalance | null
}

/** An owner after a block; null if none of its accounts has tokens. */
export interface LoggedOwner {
  readonly owner: Pubkey
  readonly balance: OwnerBalance | null
}

/** The changes of a list by a block, as the values after it: one row of the list's log. */
export interface LoggedBlock {
  readonly slot: number
  readonly accounts: readonly LoggedAccount[]
  readonly owners: readonly LoggedOwner[]
  readonly sums: HolderSums
}

/**
 * Bytes of a logged block: the number of accounts, the sums, then each account with its balance, and each owner with its own.
 * Numbers are big-endian. A balance of zero stands for none.
 */
const COUNT_BYTES = 4
const ADDRESS_BYTES = 32
const SUMS_BYTES = 40
const BALANCE_BYTES = 40
const OWNER_BYTES = 12
const ACCOUNT_ENTRY = ADDRESS_BYTES + BALANCE_BYTES
const OWNER_ENTRY = ADDRESS_BYTES + OWNER_BYTES
/** The place of the first entry of a block. */
const FIRST_ENTRY = COUNT_BYTES + SUMS_BYTES

export function packBlock({ accounts, owners, sums }: LoggedBlock): Uint8Array {
  const bytes = Buffer.alloc(FIRST_ENTRY + accounts.length * ACCOUNT_ENTRY + owners.length * OWNER_ENTRY)
  bytes.writeUInt32BE(accounts.length)
  bytes.set(packSums(sums), COUNT_BYTES)
  let at = FIRST_ENTRY
  for (const { account, balance } of accounts) {
    bytes.set(account, at)
    if (balance !== null) writeBalance(bytes, at + ADDRESS_BYTES, balance)
    at += ACCOUNT_ENTRY
  }
  for (const { owner, balance } of owners) {
    bytes.set(owner, at)
    if (balance !== null) writeOwner(bytes, at + ADDRESS_BYTES, balance)
    at += OWNER_ENTRY
  }
  return bytes
}

export function unpackBlock(slot: number, bytes: Uint8Array): LoggedBlock {
  const ownersAt = endOfAccounts(bytes)
  const accounts: LoggedAccount[] = []
  const owners: LoggedOwner[] = []
  let at = FIRST_ENTRY
  for (; at < ownersAt; at += ACCOUNT_ENTRY) accounts.push(accountAt(bytes, at))
  for (; at < bytes.length; at += OWNER_ENTRY) owners.push(ownerAt(bytes, at))
  return { slot, accounts, owners, sums: unpackSums(bytes, COUNT_BYTES) }
}

/** The place of an entry in a packed block. */
interface PackedEntry {
  bytes: Uint8Array
  at: number
}

/** The newest values in packed blocks that are added in their order. A value that a later block replaces is not unpacked. */
export class NewestOfLog {
  /** Entries by the characters of the address's bytes. */
  readonly #accounts = new Map<string, PackedEntry>()
  readonly #owners = new Map<string, PackedEntry>()
  #newest: { readonly slot: number; readonly bytes: Uint8Array } | null = null

  add(slot: number, bytes: Uint8Array): void {
    const ownersAt = endOfAccounts(bytes)
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = FIRST_ENTRY
    for (; at < ownersAt; at += ACCOUNT_ENTRY) replace(this.#accounts, text, bytes, at)
    for (; at < bytes.length; at += OWNER_ENTRY) replace(this.#owners, text, bytes, at)
    this.#newest = { slot, bytes }
  }

  get accounts(): LoggedAccount[] {
    return Array.from(this.#accounts.values(), ({ bytes, at }) => accountAt(bytes, at))
  }

  get owners(): LoggedOwner[] {
    return Array.from(this.#owners.values(), ({ bytes, at }) => ownerAt(bytes, at))
  }

  /** The sums after the newest block; null before the first. */
  get sums(): SlotSums | null {
    if (this.#newest === null) return null
    const { slot, bytes } = this.#newest
    return { slot, sums: unpackSums(bytes, COUNT_BYTES) }
  }
}

function replace(entries: Map<string, PackedEntry>, text: Buffer, bytes: Uint8Array, at: number): void {
  const address = text.toString('latin1', at, at + ADDRESS_BYTES)
  const known = entries.get(address)
  if (known === undefined) entries.set(address, { bytes, at })
  else {
    known.bytes = bytes
    known.at = at
  }
}

function endOfAccounts(bytes: Uint8Array): number {
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  return FIRST_ENTRY + count * ACCOUNT_ENTRY
}

function accountAt(bytes: Uint8Array, at: number): LoggedAccount {
  const balance = unpackBalance(bytes, at + ADDRESS_BYTES)
  const account = bytes.slice(at, at + ADDRESS_BYTES)
  return { account, balance: balance.amount === 0n ? null : balance }
}

function ownerAt(bytes: Uint8Array, at: number): LoggedOwner {
  const balance = unpackOwner(bytes, at + ADDRESS_BYTES)
  const owner = bytes.slice(at, at + ADDRESS_BYTES)
  return { owner, balance: balance.accounts === 0 ? null : balance }
}
