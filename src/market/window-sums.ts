import type { MinuteVolumes, MintVolume } from './minute-volumes.ts'

const FIRST_LENGTH = 1024

/** The sums of every mint over the minutes of one rolling window, by the mints' numbers. */
export class WindowSums {
  readonly #seconds: number
  #from = 0
  #to = 0
  #trades = new Uint32Array(FIRST_LENGTH)
  #microUsd = new BigInt64Array(FIRST_LENGTH)
  #active = 0

  /** Takes the window's length in seconds, a multiple of 60. */
  constructor(seconds: number) {
    this.#seconds = seconds
  }

  /** Number of mints that traded in the window. */
  get active(): number {
    return this.#active
  }

  get bytes(): number {
    return this.#trades.byteLength + this.#microUsd.byteLength
  }

  of(mint: number): MintVolume {
    return { trades: this.trades(mint), microUsd: this.microUsd(mint) }
  }

  trades(mint: number): number {
    return this.#trades[mint] ?? 0
  }

  microUsd(mint: number): bigint {
    return this.#microUsd[mint] ?? 0n
  }

  covers(minute: number): boolean {
    return this.#from <= minute && minute < this.#to
  }

  /** Moves the end of the window to `to`: adds the minutes that enter it and subtracts those that leave. */
  move(to: number, minutes: Iterable<MinuteVolumes>): void {
    const from = to - this.#seconds
    for (const minute of minutes) {
      const enters = from <= minute.start && minute.start < to
      if (enters && !this.covers(minute.start)) this.add(minute)
      if (!enters && this.covers(minute.start)) this.subtract(minute)
    }
    this.#from = from
    this.#to = to
  }

  add(minute: MinuteVolumes): void {
    minute.each((mint, volume) => this.change(mint, volume))
  }

  subtract(minute: MinuteVolumes): void {
    minute.each((mint, { trades, microUsd }) => this.change(mint, { trades: -trades, microUsd: -microUsd }))
  }

  change(mint: number, by: MintVolume): void {
    if (mint >= this.#trades.length) this.#grow(mint)
    const before = this.#trades[mint]!
    const after = before + by.trades
    this.#trades[mint] = after
    this.#microUsd[mint] = this.#microUsd[mint]! + by.microUsd
    if (before === 0) this.#active++
    if (after === 0) this.#active--
  }

  #grow(mint: number): void {
    const length = Math.max(mint + 1, this.#trades.length * 2)
    this.#trades = new Uint32Array(this.#trades.buffer.transfer(length * 4))
    this.#microUsd = new BigInt64Array(this.#microUsd.buffer.transfer(length * 8))
  }
}
