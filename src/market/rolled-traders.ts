import { estimatedTraders, hourRegisters, isExact, raiseRegisters, TraderUnion } from './traders.ts'
import type { ActivityHour } from './activity-rows.ts'
import { bucketStart } from './buckets.ts'

/** Maximum number of cached unions: twice the windows of a token, because a minute later these may begin in other hours. */
const UNIONS_MAX = 8
/** Bytes of a cached union: its registers, and the map's entry. */
const UNION_BYTES = 2_200

type HourTraders = Pick<ActivityHour, 'hour' | 'traders'>

/**
 * Counts the traders of windows over a mint's hours, like `TraderUnion`. If they are estimated, the union of the
 * hours between a window's first and its newest one is cached: only these two hours change within an hour.
 */
export class RolledTraders {
  /** The newest hour of the cached unions. */
  #newest = -Infinity
  /** Registers by the first hour of the windows. */
  readonly #unions = new Map<number, Uint8Array>()

  get bytes(): number {
    return this.#unions.size * UNION_BYTES
  }

  /** Counts the traders from a minute to the end of the newest of some hours, oldest first. */
  count(hours: readonly HourTraders[], from: number): number {
    if (hours.every(({ traders }) => isExact(traders))) {
      const union = new TraderUnion()
      for (const { hour, traders } of hours) union.add(traders, fromMinute(hour, from))
      return union.count
    }
    const first = bucketStart('1h', from)
    const newest = hours.at(-1)!
    const registers = this.#union(hours, first, newest.hour).slice()
    const [oldest] = hours
    if (oldest!.hour === first && oldest !== newest)
      raiseRegisters(registers, oldest!.traders, fromMinute(first, from))
    raiseRegisters(registers, newest.traders, fromMinute(newest.hour, from))
    return estimatedTraders(registers)
  }

  /** Returns the union of all hours between `first` and `newest`. */
  #union(hours: readonly HourTraders[], first: number, newest: number): Uint8Array {
    if (newest !== this.#newest || this.#unions.size === UNIONS_MAX) this.#unions.clear()
    this.#newest = newest
    const cached = this.#unions.get(first)
    if (cached !== undefined) return cached
    const registers = hourRegisters()
    for (const { hour, traders } of hours)
      if (hour > first && hour < newest) raiseRegisters(registers, traders)
    this.#unions.set(first, registers)
    return registers
  }
}

const fromMinute = (hour: number, from: number): number => Math.max(from - hour, 0) / 60
