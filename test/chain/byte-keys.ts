import { hashOfKeyBytes } from '../../src/chain/account-hash.ts'
import { isLockedForWriting, type AccountLocks } from '../../src/chain/account-locks.ts'
import type { Pubkey, PubkeyTable } from '../../src/chain/pubkey.ts'
import type { AccountKeys } from '../../src/chain/transaction.ts'

/** Account keys stored as consecutive bytes. Each key is a view of them, made once. */
export class ByteKeys implements AccountKeys {
  readonly length: number
  readonly #keys: Uint8Array
  readonly #locks: AccountLocks | null
  readonly #views: (Pubkey | undefined)[] = []

  /** Throws a RangeError unless the length is a multiple of 32 bytes. */
  constructor(keys: Uint8Array, locks: AccountLocks | null = null) {
    if (keys.length % 32 !== 0) throw new RangeError('an address has 32 bytes')
    this.length = keys.length / 32
    this.#keys = keys
    this.#locks = locks
  }

  bytes(index: number): Pubkey {
    if (!(index >= 0 && index < this.length)) throw new RangeError(`no account ${index}`)
    return (this.#views[index] ??= this.#keys.subarray(index * 32, index * 32 + 32))
  }

  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined {
    return table.ofBytes(this.bytes(index))
  }

  isWritable(index: number): boolean {
    return this.#locks !== null && isLockedForWriting(this.#locks, index)
  }

  hash(index: number): number {
    return hashOfKeyBytes(this.#keys, index * 32)
  }

  writableHashes(into: Float64Array, from: number): number {
    let at = from
    for (let index = 0; index < this.length; index++)
      if (this.isWritable(index)) into[at++] = hashOfKeyBytes(this.#keys, index * 32)
    return at
  }
}
