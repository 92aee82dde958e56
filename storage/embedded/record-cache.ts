import { SecondChanceCache } from '../../src/kernel/memory/second-chance-cache.ts'
import { SeenKeys } from './seen-keys.ts'

/**
 * Records in memory, decoded or packed, by the text of their keys; null marks an absent one. Records that are written are cached
 * at once, those that are read from their second read on: most are read once, and the garbage collector would copy and mark
 * each until its eviction, which takes half as long as a page of trades.
 */
export class RecordCache {
  readonly #values: SecondChanceCache<unknown>
  readonly #seen = new SeenKeys()

  /** Takes the limit of its estimated bytes. */
  constructor(bytesMax: number) {
    this.#values = new SecondChanceCache<unknown>(bytesMax)
  }

  /** Estimated bytes in use. */
  get bytes(): number {
    return this.#values.bytes
  }

  /** Returns the value of a key; undefined if it is not cached. */
  get(key: string): unknown {
    return this.#values.get(key)
  }

  /** Counts a read of a key that is not cached. Returns whether the value that it finds is to be cached. */
  admits(key: string): boolean {
    return this.#seen.meet(key)
  }

  set(key: string, value: unknown, bytes: number): void {
    this.#values.set(key, value, bytes)
  }

  delete(key: string): void {
    this.#values.delete(key)
  }
}
