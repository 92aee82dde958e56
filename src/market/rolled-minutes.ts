import type { ActivityMinute, UsdPrice } from './activity-rows.ts'

/** Sums of a mint's trades over some minutes, as in an `ActivityMinute`. */
export type MinuteSums = Pick<
  ActivityMinute,
  'trades' | 'buys' | 'sells' | 'priced' | 'buyMicroUsd' | 'sellMicroUsd' | 'volumeCash'
>

/** Maximum volume of a minute. The sum of a day then stays below 2^63, so differences are exact. */
const VOLUME_MAX = 2n ** 52n

/** The fields of an entry: start of the minute, prices, and sums of all minutes up to it. */
const NUMBERS = 7
const [MINUTE, OPEN, CLOSE, TRADES, BUYS, SELLS, PRICED] = [0, 1, 2, 3, 4, 5, 6] as const
const VOLUMES = 3
const [BOUGHT, SOLD, CASH] = [0, 1, 2] as const
const PLACE_BYTES = 8 * (NUMBERS + VOLUMES)
const ROOM_MIN = 16

/** Numbers that encode a missing price; a price is never negative. */
const UNPRICED = -1
const NO_PRICE = NaN

/**
 * Minutes of a mint, oldest first, with running sums: the sum of a range is the difference of two entries. Only the
 * newest minute changes.
 */
export class RolledMinutes {
  /** The first entry has no minute; it has the sums of the dropped minutes. */
  #numbers: Float64Array
  /** Running sums modulo 2^64. */
  #volumes: BigInt64Array
  #end = 1

  /** Allocates room for a number of minutes; grows as needed. */
  constructor(room = 0) {
    const places = 1 + Math.max(room, ROOM_MIN)
    this.#numbers = new Float64Array(places * NUMBERS)
    this.#numbers[MINUTE] = -Infinity
    this.#volumes = new BigInt64Array(places * VOLUMES)
  }

  /** Returns whether the volumes of a minute are small enough. */
  static fits({ volumeMicroUsd, volumeCash }: ActivityMinute): boolean {
    return volumeMicroUsd < VOLUME_MAX && volumeCash < VOLUME_MAX
  }

  get bytes(): number {
    return (this.#numbers.length / NUMBERS) * PLACE_BYTES
  }

  /** Start of the newest minute in Unix seconds; -Infinity if there are no minutes. */
  get newest(): number {
    return this.#number(this.#end - 1, MINUTE)
  }

  /** Returns the index of the first minute at or after a time in Unix seconds; the end if no minute follows. */
  placeOf(time: number): number {
    let low = 1
    let high = this.#end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#number(middle, MINUTE) < time) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Returns the start of the minute at an index in Unix seconds; Infinity at the end. */
  timeAt(place: number): number {
    return place < this.#end ? this.#number(place, MINUTE) : Infinity
  }

  /** Adds a minute at or after the newest one. A row of the newest minute replaces it. */
  put(row: ActivityMinute): void {
    if (row.minute > this.newest) this.#end++
    if (this.#end * NUMBERS > this.#numbers.length) this.#grow()
    const before = this.#end - 2
    const at = (this.#end - 1) * NUMBERS
    const set = (field: number, value: number): void => void (this.#numbers[at + field] = value)
    const sum = (field: number, value: number): void => set(field, this.#number(before, field) + value)
    const volume = (field: number, value: bigint): void =>
      void (this.#volumes[(this.#end - 1) * VOLUMES + field] = this.#volume(before, field) + value)
    set(MINUTE, row.minute)
    set(OPEN, numberOf(row.openUsd))
    set(CLOSE, numberOf(row.closeUsd))
    sum(TRADES, row.trades)
    sum(BUYS, row.buys)
    sum(SELLS, row.sells)
    sum(PRICED, row.priced)
    volume(BOUGHT, row.buyMicroUsd)
    volume(SOLD, row.sellMicroUsd)
    volume(CASH, row.volumeCash)
  }

  /** Drops the minutes before a time once they are the majority. */
  trim(time: number): void {
    const dropped = this.placeOf(time) - 1
    if (dropped < this.#end / 2) return
    this.#numbers.copyWithin(0, dropped * NUMBERS, this.#end * NUMBERS)
    this.#numbers[MINUTE] = -Infinity
    this.#volumes.copyWithin(0, dropped * VOLUMES, this.#end * VOLUMES)
    this.#end -= dropped
  }

  /** Sums the minutes from index `from` to before `to`. */
  sums(from: number, to: number): MinuteSums {
    const number = (field: number): number => this.#number(to - 1, field) - this.#number(from - 1, field)
    const volume = (field: number): bigint =>
      BigInt.asIntN(64, this.#volume(to - 1, field) - this.#volume(from - 1, field))
    return {
      trades: number(TRADES),
      buys: number(BUYS),
      sells: number(SELLS),
      priced: number(PRICED),
      buyMicroUsd: volume(BOUGHT),
      sellMicroUsd: volume(SOLD),
      volumeCash: volume(CASH)
    }
  }

  /** Returns the index of the first price-forming minute in a range; `to` if no minute formed a price. */
  firstFormed(from: number, to: number): number {
    let place = from
    while (place < to && Number.isNaN(this.#number(place, OPEN))) place++
    return place
  }

  /** Returns the first price of the minute at a place. */
  openAt(place: number): UsdPrice {
    return priceOf(this.#number(place, OPEN))
  }

  /** Returns the last price of the minutes from index `from` to before `to`. */
  lastClose(from: number, to: number): UsdPrice {
    let place = to - 1
    while (place >= from && Number.isNaN(this.#number(place, CLOSE))) place--
    return place < from ? null : priceOf(this.#number(place, CLOSE))
  }

  #number(place: number, field: number): number {
    return this.#numbers[place * NUMBERS + field]!
  }

  #volume(place: number, field: number): bigint {
    return this.#volumes[place * VOLUMES + field]!
  }

  #grow(): void {
    const [numbers, volumes] = [this.#numbers, this.#volumes]
    this.#numbers = new Float64Array(numbers.length * 2)
    this.#numbers.set(numbers)
    this.#volumes = new BigInt64Array(volumes.length * 2)
    this.#volumes.set(volumes)
  }
}

const numberOf = (price: UsdPrice): number =>
  price === null ? NO_PRICE : price === 'unpriced' ? UNPRICED : price

const priceOf = (number: number): UsdPrice =>
  Number.isNaN(number) ? null : number === UNPRICED ? 'unpriced' : number
