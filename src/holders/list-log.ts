import type { Pubkey } from '../chain/pubkey.ts'
import {
  packBalance,
  packOwner,
  packSums,
  unpackBalance,
  unpackOwner,
  unpackSums,
  type HeldBalance,
  type HolderSums,
  type OwnerBalance
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

export function packBlock({ accounts, owners, sums }: LoggedBlock): Uint8Array {
  const bytes = Buffer.alloc(
    COUNT_BYTES + SUMS_BYTES + accounts.length * ACCOUNT_ENTRY + owners.length * OWNER_ENTRY
  )
  bytes.writeUInt32BE(accounts.length)
  bytes.set(packSums(sums), COUNT_BYTES)
  let at = COUNT_BYTES + SUMS_BYTES
  for (const { account, balance } of accounts) {
    bytes.set(account, at)
    if (balance !== null) bytes.set(packBalance(balance), at + ADDRESS_BYTES)
    at += ACCOUNT_ENTRY
  }
  for (const { owner, balance } of owners) {
    bytes.set(owner, at)
    if (balance !== null) bytes.set(packOwner(balance), at + ADDRESS_BYTES)
    at += OWNER_ENTRY
  }
  return bytes
}

export function unpackBlock(slot: number, bytes: Uint8Array): LoggedBlock {
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  const sums = unpackSums(bytes.subarray(COUNT_BYTES))
  const accounts: LoggedAccount[] = []
  const owners: LoggedOwner[] = []
  let at = COUNT_BYTES + SUMS_BYTES
  for (; accounts.length < count; at += ACCOUNT_ENTRY) {
    const balance = unpackBalance(bytes.subarray(at + ADDRESS_BYTES, at + ACCOUNT_ENTRY))
    const account = bytes.slice(at, at + ADDRESS_BYTES)
    accounts.push({ account, balance: balance.amount === 0n ? null : balance })
  }
  for (; at < bytes.length; at += OWNER_ENTRY) {
    const balance = unpackOwner(bytes.subarray(at + ADDRESS_BYTES, at + OWNER_ENTRY))
    const owner = bytes.slice(at, at + ADDRESS_BYTES)
    owners.push({ owner, balance: balance.accounts === 0 ? null : balance })
  }
  return { slot, accounts, owners, sums }
}
