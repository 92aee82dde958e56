import { samePubkey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

/**
 * The addresses of one stored value. Each is written once, at its first use, and by number afterwards. Rows of a page share
 * most of their addresses, on disk and in memory.
 */
export class KeyTable {
  readonly #keys: Pubkey[]

  constructor(keys: readonly Pubkey[] = []) {
    this.#keys = [...keys]
  }

  get keys(): readonly Pubkey[] {
    return this.#keys
  }

  write(out: ByteWriter, key: Pubkey): void {
    // Some sixty addresses at most, the frequent ones first: a scan is faster than a map keyed by text.
    let index = 0
    while (index < this.#keys.length && !samePubkey(this.#keys[index]!, key)) index++
    out.count(index)
    if (index < this.#keys.length) return
    out.fixed(key, 32)
    this.#keys.push(key)
  }

  writeOptional(out: ByteWriter, key: Pubkey | null): void {
    out.byte(key === null ? 0 : 1)
    if (key !== null) this.write(out, key)
  }

  read(source: ByteReader): Pubkey {
    const index = source.count()
    if (index < this.#keys.length) return this.#keys[index]!
    if (index > this.#keys.length) throw new RangeError('an address is named before it is given')
    const key = source.address()
    this.#keys.push(key)
    return key
  }

  readOptional(source: ByteReader): Pubkey | null {
    return source.byte() === 0 ? null : this.read(source)
  }
}
