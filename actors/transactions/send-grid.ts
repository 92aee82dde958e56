import type { Clock } from '../../src/ports.ts'
import { REBROADCAST_MS } from '../../src/transactions/submission.ts'

/**
 * Milliseconds of one bucket, and the most by which a send can be late: a fifth of the limit of 50 ms, and at most
 * 100 wake-ups a second. Sends of one bucket share a request.
 */
const BUCKET_MS = 10
const BUCKETS = REBROADCAST_MS / BUCKET_MS

/** Something that is due at each instant `anchorMs` + n × REBROADCAST_MS, next at `dueAtMs`. */
export interface Periodic {
  readonly anchorMs: number
  dueAtMs: number
  instantAfter(nowMs: number): number
}

/**
 * A timer wheel of one period: all items share one timer. An item stays in the bucket of its anchor, so that adding, finding
 * and removing cost the same with any number of items. Missed instants are not made up for.
 */
export class SendGrid<Item extends Periodic> {
  readonly #clock: Clock
  readonly #fire: (due: readonly Item[], nowMs: number) => void
  readonly #buckets: Set<Item>[] = Array.from({ length: BUCKETS }, () => new Set())
  #size = 0
  #timer: unknown = null
  #wakeTick = Infinity
  /** The last tick, in units of BUCKET_MS since the epoch, whose bucket was checked. */
  #tick: number

  /** `fire`, which must not throw, receives the items of a bucket whose instant has come. */
  constructor(clock: Clock, fire: (due: readonly Item[], nowMs: number) => void) {
    this.#clock = clock
    this.#fire = fire
    this.#tick = tickOf(clock.now())
  }

  get size(): number {
    return this.#size
  }

  has(item: Item): boolean {
    return this.#bucketOf(item).has(item)
  }

  add(item: Item): void {
    const bucket = this.#bucketOf(item)
    if (bucket.has(item)) return
    if (this.#size === 0) this.#tick = tickOf(this.#clock.now())
    bucket.add(item)
    this.#size++
    this.#schedule()
  }

  delete(item: Item): void {
    if (this.#bucketOf(item).delete(item)) this.#size--
    if (this.#size === 0) this.end()
  }

  /** Stops the timer. */
  end(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = null
    this.#wakeTick = Infinity
  }

  /** An item is due at the end of the bucket that its instants fall in. */
  #bucketOf({ anchorMs }: Item): Set<Item> {
    return this.#buckets[Math.ceil(anchorMs / BUCKET_MS) % BUCKETS]!
  }

  #schedule(): void {
    const next = this.#nextTick()
    if (next === null || next >= this.#wakeTick) return
    this.#clock.clearTimeout(this.#timer)
    this.#wakeTick = next
    const waitMs = next * BUCKET_MS - this.#clock.now()
    this.#timer = this.#clock.setTimeout(() => this.#wake(), Math.min(Math.max(waitMs, 1), REBROADCAST_MS))
  }

  #nextTick(): number | null {
    for (let ahead = 1; ahead <= BUCKETS; ahead++)
      if (this.#buckets[(this.#tick + ahead) % BUCKETS]!.size > 0) return this.#tick + ahead
    return null
  }

  #wake(): void {
    this.end()
    const nowMs = this.#clock.now()
    const tick = tickOf(nowMs)
    // After a jump of the system time every bucket is checked once.
    const passed = tick < this.#tick ? BUCKETS : Math.min(tick - this.#tick, BUCKETS)
    this.#tick = tick
    const due: Item[] = []
    for (let back = passed - 1; back >= 0; back--)
      for (const item of this.#buckets[(tick - back + BUCKETS) % BUCKETS]!)
        if (isDue(item, nowMs)) due.push(item)
    for (const item of due) item.dueAtMs = item.instantAfter(nowMs)
    if (due.length > 0) this.#fire(due, nowMs)
    this.#schedule()
  }
}

const tickOf = (ms: number): number => Math.floor(ms / BUCKET_MS)

/** Tells whether an instant has come, or lies so far ahead that the system time was set back. */
const isDue = ({ dueAtMs }: Periodic, nowMs: number): boolean =>
  dueAtMs <= nowMs || dueAtMs > nowMs + REBROADCAST_MS
