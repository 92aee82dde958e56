import { isLockedForWriting } from './account-locks.ts'
import { pubkeyFromBase58, samePubkey } from './pubkey.ts'
import type { Transaction } from './transaction.ts'
import { staticKey } from './wire.ts'
import type { WireTransaction } from './wire.ts'

const SYSTEM_PROGRAM = pubkeyFromBase58('11111111111111111111111111111111')
/** Number of the instruction AdvanceNonceAccount of the system program. */
const ADVANCE_NONCE = 4
/** State of a nonce account that has a value. */
const INITIALIZED = 1
const NONCE_BYTES = 80

/** The durable nonce that a transaction uses instead of a recent blockhash. */
export interface NonceAdvance {
  /** Addresses of 32 bytes. */
  readonly account: Uint8Array
  /** The third account of the instruction, which signs; null if the instruction does not list it. */
  readonly authority: Uint8Array | null
}

/** The value of a durable nonce that a transaction in a block has used up. */
export interface NonceUse {
  /** Address of the nonce account. */
  readonly account: Uint8Array
  readonly value: Uint8Array
}

/** The content of a nonce account. */
export interface NonceState {
  readonly authority: Uint8Array
  /** The value that a transaction has in place of its blockhash. */
  readonly value: Uint8Array
}

/**
 * Returns the durable nonce of a transaction; null if it uses a recent blockhash. Its first instruction advances the nonce
 * account, which must be static and writable: a node accepts no other (SIMD-0242).
 */
export function nonceAdvanceOf(wire: WireTransaction): NonceAdvance | null {
  const first = wire.instructions[0]
  if (first === undefined || !samePubkey(staticKey(wire, first.program), SYSTEM_PROGRAM)) return null
  const { data, accounts } = first
  if (!isAdvance(data)) return null
  const [account, , authority] = accounts
  const locks = { ...wire.header, statics: wire.keyCount, loadedWritable: 0 }
  if (account === undefined || !isLockedForWriting(locks, account)) return null
  return {
    account: staticKey(wire, account),
    authority: authority === undefined || authority >= wire.keyCount ? null : staticKey(wire, authority)
  }
}

/**
 * Returns the nonce that a transaction of a block has used up. A failed transaction uses it up as well, because the nonce
 * account advances nevertheless. Null if the first instruction is not AdvanceNonceAccount. For a transaction with a recent
 * blockhash, `value` is that blockhash, which is never the value of a nonce.
 */
export function nonceUseOf({
  instructions,
  keys,
  lifetime
}: Pick<Transaction, 'instructions' | 'keys' | 'lifetime'>): NonceUse | null {
  const first = instructions[0]
  if (lifetime === undefined || first === undefined || !isAdvance(first.data)) return null
  if (!samePubkey(keys.bytes(first.program), SYSTEM_PROGRAM)) return null
  const account = first.accounts[0]
  return account === undefined ? null : { account: keys.bytes(account), value: lifetime }
}

const isAdvance = (data: Uint8Array): boolean =>
  data.length >= 4 && new DataView(data.buffer, data.byteOffset).getUint32(0, true) === ADVANCE_NONCE

/** Reads the data of an account; null unless it is an initialized nonce account of the system program. */
export function nonceStateOf({
  owner,
  data
}: {
  readonly owner: Uint8Array
  readonly data: Uint8Array
}): NonceState | null {
  if (!samePubkey(owner, SYSTEM_PROGRAM) || data.length !== NONCE_BYTES) return null
  if (new DataView(data.buffer, data.byteOffset).getUint32(4, true) !== INITIALIZED) return null
  return { authority: data.slice(8, 40), value: data.slice(40, 72) }
}
