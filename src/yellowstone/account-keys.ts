import { hashOfKeyBytes } from '../chain/account-hash.ts'
import { isLockedForWriting, type AccountLocks } from '../chain/account-locks.ts'
import type { Pubkey, PubkeyTable } from '../chain/pubkey.ts'
import type { AccountKeys } from '../chain/transaction.ts'
import type { ProtobufReader } from './protobuf.ts'

const KEY_BYTES = 32

/**
 * The keys of a transaction, by their offsets in the message of its block. A key is copied on first use: rows and
 * market state retain keys for long, and a view would retain the whole block.
 */
export class StreamedKeys implements AccountKeys {
  readonly length: number
  readonly #from: ProtobufReader
  readonly #static: readonly number[]
  readonly #loaded: readonly number[]
  readonly #locks: AccountLocks
  readonly #copies: (Pubkey | undefined)[] = []

  /** Takes the offsets of the static and of the loaded keys, 32 bytes each. */
  constructor(
    from: ProtobufReader,
    statics: readonly number[],
    loaded: readonly number[],
    locks: AccountLocks
  ) {
    this.#locks = locks
    this.#from = from
    this.#static = statics
    this.#loaded = loaded
    this.length = statics.length + loaded.length
  }

  bytes(index: number): Pubkey {
    return (this.#copies[index] ??= this.#copy(index))
  }

  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined {
    return table.ofBytes(this.bytes(index))
  }

  isWritable(index: number): boolean {
    return isLockedForWriting(this.#locks, index)
  }

  hash(index: number): number {
    return hashOfKeyBytes(this.#from.bytes, this.#startOf(index))
  }

  writableHashes(into: Float64Array, from: number): number {
    const { bytes } = this.#from
    const { signatures, readonlySigned, readonlyUnsigned, statics, loadedWritable } = this.#locks
    let at = from
    for (let index = 0; index < signatures - readonlySigned; index++)
      into[at++] = hashOfKeyBytes(bytes, this.#static[index])
    for (let index = signatures; index < statics - readonlyUnsigned; index++)
      into[at++] = hashOfKeyBytes(bytes, this.#static[index])
    for (let index = 0; index < loadedWritable; index++)
      into[at++] = hashOfKeyBytes(bytes, this.#loaded[index])
    return at
  }

  #copy(index: number): Pubkey {
    const start = this.#startOf(index)
    return this.#from.copy(start, start + KEY_BYTES)
  }

  #startOf(index: number): number {
    const start = this.#static[index] ?? this.#loaded[index - this.#static.length]
    if (start === undefined) throw new RangeError(`no account ${index}`)
    return start
  }
}
