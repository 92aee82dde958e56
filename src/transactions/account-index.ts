/** Average accounts per bucket. A bucket is read in one cache line. */
const PER_BUCKET = 4

/** Accounts of a block in buckets. The bucket of a hash is its lower half modulo the number of buckets, a power of two. */
export class AccountIndex {
  readonly #low: Uint32Array
  readonly #high: Uint16Array
  /** The transaction of each account. */
  readonly #places: Uint32Array | Uint16Array
  /** Start of each bucket, and the end of the last one. */
  readonly #buckets: Uint32Array

  /** Takes the hashes of all accounts, and the end index of each transaction's accounts. */
  constructor({ ends, low, high }: Readonly<{ ends: Uint32Array; low: Uint32Array; high: Uint16Array }>) {
    const { length } = low
    const size = 2 ** Math.max(0, Math.ceil(Math.log2(length / PER_BUCKET)))
    const buckets = new Uint32Array(size + 1)
    const places = ends.length > 2 ** 16 ? new Uint32Array(length) : new Uint16Array(length)
    const [lowByBucket, highByBucket] = [new Uint32Array(length), new Uint16Array(length)]
    for (let at = 0; at < length; at++) buckets[(low[at]! & (size - 1)) + 1]!++
    for (let i = 0; i < size; i++) buckets[i + 1]! += buckets[i]!
    for (let at = length - 1, place = ends.length - 1; at >= 0; at--) {
      while (place > 0 && ends[place - 1]! > at) place--
      // Buckets fill from their end. Afterwards entry `i + 1` holds the start of bucket `i`.
      const to = --buckets[(low[at]! & (size - 1)) + 1]!
      lowByBucket[to] = low[at]!
      highByBucket[to] = high[at]!
      places[to] = place
    }
    buckets.copyWithin(0, 1)
    buckets[size] = length
    this.#low = lowByBucket
    this.#high = highByBucket
    this.#places = places
    this.#buckets = buckets
  }

  /** Bytes of the index. */
  get bytes(): number {
    return this.#low.byteLength + this.#high.byteLength + this.#places.byteLength + this.#buckets.byteLength
  }

  /** Calls `found` with each transaction that has an account with the hash, once for each such account. */
  find(low: number, high: number, found: (place: number) => void): void {
    const bucket = low & (this.#buckets.length - 2)
    const end = this.#buckets[bucket + 1]!
    for (let at = this.#buckets[bucket]!; at < end; at++)
      if (this.#low[at] === low && this.#high[at] === high) found(this.#places[at]!)
  }
}
