import { hashOfKeyBytes, hashOfKeyText } from '../account-hash.ts'
import { isLockedForWriting, type AccountLocks } from '../account-locks.ts'
import type { Pubkey, PubkeyTable } from '../pubkey.ts'
import type { AccountKeys } from '../transaction.ts'
import type { WireTransaction } from '../wire.ts'
import { keyOfText } from './frequent-keys.ts'

/** Account keys given as base58. A key is decoded on first use (1.1 µs) and then cached. */
export class TextKeys implements AccountKeys {
  readonly #texts: readonly string[]
  readonly #locks: AccountLocks | readonly boolean[] | null
  readonly #bytes: (Pubkey | undefined)[] = []

  /** `texts` must have 32 bytes each; `locks` are the keys locked for writing, null if unknown. */
  constructor(texts: readonly string[], locks: AccountLocks | readonly boolean[] | null = null) {
    this.#texts = texts
    this.#locks = locks
  }

  get length(): number {
    return this.#texts.length
  }

  bytes(index: number): Pubkey {
    return (this.#bytes[index] ??= keyOfText(this.#text(index)))
  }

  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined {
    return table.ofText(this.#text(index))
  }

  isWritable(index: number): boolean {
    const locks = this.#locks
    if (locks === null) return false
    return isFlags(locks) ? locks[index]! : isLockedForWriting(locks, index)
  }

  hash(index: number): number {
    return hashOfKeyText(this.#text(index))
  }

  writableHashes(into: Float64Array, from: number): number {
    let at = from
    for (let index = 0; index < this.length; index++)
      if (this.isWritable(index)) into[at++] = hashOfKeyText(this.#texts[index]!)
    return at
  }

  #text(index: number): string {
    const text = this.#texts[index]
    if (text === undefined) throw new RangeError(`no account ${index}`)
    return text
  }
}

const isFlags = (locks: AccountLocks | readonly boolean[]): locks is readonly boolean[] =>
  Array.isArray(locks)

/** Static keys as bytes, followed by the loaded ones, which a node writes as base58 in every encoding. */
export class WireKeys implements AccountKeys {
  readonly #wire: WireTransaction
  readonly #loaded: TextKeys
  readonly #locks: AccountLocks
  readonly #bytes: (Pubkey | undefined)[] = []

  constructor(wire: WireTransaction, loaded: readonly string[], loadedWritable: number) {
    this.#wire = wire
    const { signatures, readonlySigned, readonlyUnsigned } = wire.header
    this.#locks = { signatures, readonlySigned, readonlyUnsigned, statics: wire.keyCount, loadedWritable }
    this.#loaded = new TextKeys(loaded)
  }

  get length(): number {
    return this.#wire.keyCount + this.#loaded.length
  }

  bytes(index: number): Pubkey {
    const { keys, keyCount } = this.#wire
    if (index >= keyCount) return this.#loaded.bytes(index - keyCount)
    if (!(index >= 0)) throw new RangeError(`no account ${index}`)
    return (this.#bytes[index] ??= keys.subarray(index * 32, index * 32 + 32))
  }

  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined {
    const { keyCount } = this.#wire
    return index < keyCount ? table.ofBytes(this.bytes(index)) : this.#loaded.lookup(index - keyCount, table)
  }
  isWritable(index: number): boolean {
    return isLockedForWriting(this.#locks, index)
  }

  hash(index: number): number {
    const { keys, keyCount } = this.#wire
    return index < keyCount ? hashOfKeyBytes(keys, index * 32) : this.#loaded.hash(index - keyCount)
  }

  writableHashes(into: Float64Array, from: number): number {
    const { keys } = this.#wire
    const { signatures, readonlySigned, readonlyUnsigned, statics, loadedWritable } = this.#locks
    let at = from
    for (let index = 0; index < signatures - readonlySigned; index++)
      into[at++] = hashOfKeyBytes(keys, index * 32)
    for (let index = signatures; index < statics - readonlyUnsigned; index++)
      into[at++] = hashOfKeyBytes(keys, index * 32)
    for (let index = 0; index < loadedWritable; index++) into[at++] = this.#loaded.hash(index)
    return at
  }
}
