import type { ActivityHour, UsdPrice } from './activity-rows.ts'
import { bucketStart } from './buckets.ts'
import { RolledMinutes } from './rolled-minutes.ts'
import { RolledTraders } from './rolled-traders.ts'
import { windowHours, windowSpan, type MintWindow } from './windows.ts'

const HOUR = 3_600
const DAY = 86_400
/** Seconds before the newest minute for which hours are stored: a window of a day begins within its first hour. */
const RETENTION = DAY + HOUR
/** Bytes of a mint without minutes and traders, estimated. */
const OVERHEAD_BYTES = 800
const HOUR_BYTES = 120

type KeptHour = Pick<ActivityHour, 'hour' | 'priorUsd' | 'traders'>

/**
 * The last day of a mint's activity as running sums. A window of up to a day is read in constant time, and a block
 * adds its minute. Windows equal those of `foldWindow` over the day's stored hours, to the bit.
 */
export class RolledMint {
  readonly #minutes: RolledMinutes
  readonly #traders = new RolledTraders()
  readonly #hours: KeptHour[] = []

  /** Start of the first hour that is complete, Unix seconds. */
  #from: number
  /** The price before later hours whose rows know none. */
  readonly #earlierUsd: UsdPrice

  private constructor(from: number, minutes: number, earlierUsd: UsdPrice) {
    this.#from = from
    this.#earlierUsd = earlierUsd
    this.#minutes = new RolledMinutes(minutes)
  }

  /**
   * Aggregates all stored hours from one on, oldest first. Null for a mint whose volumes are too large. `earlierUsd` is the
   * price before later hours whose rows know none.
   */
  static of(from: number, hours: readonly ActivityHour[], earlierUsd: UsdPrice = null): RolledMint | null {
    const rolled = new RolledMint(
      from,
      hours.reduce((sum, { minutes }) => sum + minutes.length, 0),
      earlierUsd
    )
    return hours.every((hour) => rolled.#add(hour)) ? rolled : null
  }

  /** Bytes of memory, estimated. */
  get bytes(): number {
    const traders = this.#hours.reduce((sum, hour) => sum + hour.traders.length + HOUR_BYTES, 0)
    return OVERHEAD_BYTES + this.#minutes.bytes + this.#traders.bytes + traders
  }

  /** Returns whether windows that end with a time are complete. The head's time may have fallen. */
  covers(headTime: number): boolean {
    return windowHours(headTime, DAY).from >= this.#from
  }

  /**
   * Applies an hour that a block has changed. Returns false if it cannot: its volumes are too large, or the block's
   * time is before the newest minute. The mint must then be read again.
   */
  apply(hour: ActivityHour, blockTime: number): boolean {
    if (bucketStart('1m', blockTime) < this.#minutes.newest) return false
    if (!this.#add({ ...hour, priorUsd: hour.priorUsd ?? this.#earlierUsd })) return false
    const oldest = hour.hour - RETENTION
    while (this.#hours[0]!.hour < oldest) this.#hours.shift()
    this.#minutes.trim(oldest)
    this.#from = Math.max(this.#from, oldest)
    return true
  }

  /** Returns the window of `seconds`, at most a day, that ends with the minute of `headTime`; traders on demand. */
  window(headTime: number, seconds: number, options: { readonly traders: boolean }): MintWindow {
    const { from, to } = windowSpan(headTime, seconds)
    const minutes = this.#minutes
    const [start, end] = [minutes.placeOf(from), minutes.placeOf(to)]
    const { trades, buys, sells, priced, buyMicroUsd, sellMicroUsd, volumeCash } = minutes.sums(start, end)
    const isUnpriced = trades > 0 && priced === 0
    // A trader's last minute alone is known, and may be after the window.
    const isNewest = minutes.timeAt(end) >= bucketStart('1h', to - 1) + HOUR
    const opened = minutes.firstFormed(start, end)
    return {
      ...{ from, to, trades, buys, sells, volumeCash },
      volumeMicroUsd: isUnpriced ? null : buyMicroUsd + sellMicroUsd,
      buyMicroUsd: isUnpriced ? null : buyMicroUsd,
      sellMicroUsd: isUnpriced ? null : sellMicroUsd,
      unpriced: trades - priced,
      traders: options.traders && isNewest ? this.#count(from, to) : null,
      startUsd: this.#priceBefore(from, to, opened) ?? (opened < end ? minutes.openAt(opened) : null),
      endUsd: minutes.lastClose(opened, end)
    }
  }

  #count(from: number, to: number): number {
    const first = bucketStart('1h', from)
    return this.#traders.count(
      this.#hours.filter(({ hour }) => hour >= first && hour < to),
      from
    )
  }

  /** Returns the last known price before a window, whose first price-forming minute is at `opened`. */
  #priceBefore(from: number, to: number, opened: number): UsdPrice {
    const minutes = this.#minutes
    const first = bucketStart('1h', from)
    const place = minutes.placeOf(first)
    let before = minutes.lastClose(minutes.placeOf(windowHours(to - 1, DAY).from), place)
    for (const { hour, priorUsd } of this.#hours) {
      if (hour < first || hour >= to) continue
      if (hour > minutes.timeAt(opened)) break
      before = priorUsd ?? before
      if (hour === first) before = minutes.lastClose(place, minutes.placeOf(from)) ?? before
    }
    return before
  }

  /** Adds an hour's minutes from the newest stored one on. */
  #add({ hour, priorUsd, traders, minutes }: ActivityHour): boolean {
    const { newest } = this.#minutes
    for (const minute of minutes) {
      if (minute.minute < newest) continue
      if (!RolledMinutes.fits(minute)) return false
      this.#minutes.put(minute)
    }
    if (this.#hours.at(-1)?.hour === hour) this.#hours.pop()
    this.#hours.push({ hour, priorUsd, traders: owned(traders) })
    return true
  }
}

/** Copies bytes that are a section of a larger buffer, which would stay alive with them. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
}
