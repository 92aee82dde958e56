const FIRST_LENGTH = 16

/** A mint's trades, and their volume in millionths of a USD. */
export interface MintVolume {
  readonly trades: number
  readonly microUsd: bigint
}

/**
 * The trades and volume of each mint in one minute, 16 bytes a mint. Volumes are stored modulo 2^64, which 18 trillion
 * USD would reach.
 */
export class MinuteVolumes {
  /** Unix seconds. */
  readonly start: number
  #length = 0
  #mints = new Uint32Array(FIRST_LENGTH)
  #trades = new Uint32Array(FIRST_LENGTH)
  #microUsd = new BigInt64Array(FIRST_LENGTH)
  /** Column index by mint; null until the first change, and after `settle`. */
  #places: Map<number, number> | null = null

  constructor(start: number) {
    this.start = start
  }

  /** Number of mints that traded. */
  get length(): number {
    return this.#length
  }

  get bytes(): number {
    return this.#mints.byteLength + this.#trades.byteLength + this.#microUsd.byteLength
  }

  /** Numbers of the mints that traded. */
  get mints(): Uint32Array {
    return this.#mints.subarray(0, this.#length)
  }

  /**
   * Sets the sums of a mint in this minute at some block: totals, not the block's own share. A minute's trades only
   * grow, so sums with no more trades than the stored ones are not newer, and are ignored. Returns the difference to
   * the old sums, or null if nothing changes.
   */
  raise(mint: number, { trades, microUsd }: MintVolume): MintVolume | null {
    const places = (this.#places ??= new Map(Array.from(this.mints, (held, place) => [held, place])))
    const place = places.get(mint) ?? this.#append(mint, places)
    const above = trades - this.#trades[place]!
    if (above <= 0) return null
    const change = { trades: above, microUsd: microUsd - this.#microUsd[place]! }
    this.#trades[place] = trades
    this.#microUsd[place] = microUsd
    return change
  }

  /** Calls `take` with every mint and its sums. */
  each(take: (mint: number, volume: MintVolume) => void): void {
    for (let place = 0; place < this.#length; place++) {
      take(this.#mints[place]!, { trades: this.#trades[place]!, microUsd: this.#microUsd[place]! })
    }
  }

  /** Frees the memory that only changes need; a later change rebuilds it. */
  settle(): void {
    this.#places = null
    this.#resize(this.#length)
  }

  #append(mint: number, places: Map<number, number>): number {
    const place = this.#length++
    if (place === this.#mints.length) this.#resize(Math.max(FIRST_LENGTH, place * 2))
    this.#mints[place] = mint
    places.set(mint, place)
    return place
  }

  #resize(length: number): void {
    this.#mints = new Uint32Array(this.#mints.buffer.transfer(length * 4))
    this.#trades = new Uint32Array(this.#trades.buffer.transfer(length * 4))
    this.#microUsd = new BigInt64Array(this.#microUsd.buffer.transfer(length * 8))
  }
}
