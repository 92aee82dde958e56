import { endOfEvents, splitCursor } from '../market/cursor.ts'
import { eventsIn, type EventMembers, type Frames } from '../stream/frames.ts'
import { Queue } from './queue.ts'
import type { CursorRange } from './webhook.ts'

/** Maximum undelivered live events of a webhook; above that the oldest are dropped (src/docs/webhooks.md). */
export const BUFFER_MAX = 5_000
/** Maximum events of one POST (src/docs/webhooks.md). */
export const BATCH_EVENTS_MAX = 64
/**
 * Maximum bytes of the events of one POST; a larger event is sent alone. Four times a batch of the largest trades, so
 * that a receiver can bound its requests.
 */
export const BATCH_BYTES_MAX = 512 * 2 ** 10
/**
 * Maximum live events whose bytes are in memory: four batches. A receiver that keeps up never causes reads of the
 * log; a receiver that hangs holds no more bytes than this.
 */
const NEAR_MAX = 256
/** Maximum events read from the log and not yet taken, in addition to those of one batch: three batches a read. */
export const LOADED_MAX = 192

const BACKLOG_LIMITS = { live: BUFFER_MAX, near: NEAR_MAX }
export type BacklogLimits = Readonly<typeof BACKLOG_LIMITS>

/** Events that are sent together: those of the webhook's channels with `after` < cursor ≤ `last`. */
export interface BatchEvents {
  readonly after: number
  readonly last: number
  readonly events: readonly EventMembers[]
}

/** A range to read from the log. */
export interface PastRange {
  /** The state of the backlog that the range belongs to. */
  readonly epoch: number
  readonly after: number
  /** Ends a slot. */
  readonly until: number
}

/**
 * The events that a webhook still has to deliver, in cursor order: first the past, which is read from the log, then
 * live events.
 *
 * B1. Every event after the position is delivered once, or counted once as dropped. The position and the hole
 *     determine at any moment which events are dropped.
 * B2. The past consists of events missed while this service was down, or requested by the tenant. It is never
 *     dropped. At most LOADED_MAX of its events, and those of one batch, are in memory.
 * B3. At most BUFFER_MAX live events are undelivered, apart from the batch in flight. Above that the oldest are
 *     dropped one by one.
 * B4. The oldest NEAR_MAX live events refer to bytes that all readers of a channel share. Of later ones only the
 *     cursors are in memory, 8 bytes each; their bytes are read from the log when they are due.
 * B5. While events before the dropped ones are undelivered, the dropped ones form a hole. There is at most one hole:
 *     events that would form a second one become past instead.
 */
export class Backlog {
  #position: number
  /** End of the batch in flight; null if no batch is in flight. */
  #inFlight: number | null = null
  #hole: CursorRange | null
  /** End of the past. */
  #target: number
  /** Everything up to here was read from the log, taken or dropped. */
  #readTo: number
  #epoch = 0
  /** Events read from the log: first the past, then live events. */
  #loaded: EventMembers[] = []
  #loadedLive = 0
  readonly #near = new Queue<EventMembers>()
  readonly #far = new Queue<number>()
  #dropped = 0

  readonly #limits: BacklogLimits

  /** Starts after a position. `head` is the hub's head; the hub supplies the events after the head. */
  constructor(
    position: number,
    hole: CursorRange | null,
    head: number,
    limits: BacklogLimits = BACKLOG_LIMITS
  ) {
    this.#limits = limits
    this.#position = position
    this.#hole = hole
    this.#readTo = position
    this.#target = Math.max(position, head)
    this.#passHole()
  }

  /** Every event up to here is delivered or dropped. */
  get position(): number {
    return this.#position
  }

  get hole(): CursorRange | null {
    return this.#hole
  }

  /** Undelivered live events, apart from the batch in flight. */
  get live(): number {
    return this.#loadedLive + this.#near.length + this.#far.length
  }

  /** Whether past events remain to be read from the log. */
  get hasPast(): boolean {
    return this.#readTo < this.#target
  }

  /** Number of events that can be taken without reading the log. */
  get ready(): number {
    return this.#loaded.length + (this.hasPast ? 0 : this.#near.length)
  }

  /** Whether no undelivered event is known, apart from the batch in flight. */
  get isEmpty(): boolean {
    return this.live === 0 && this.#loaded.length === 0 && !this.hasPast
  }

  /** Returns the number of events dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  /** Adds the events of a block, one list of frames for each channel; `head` is the end of the block. */
  add(parts: readonly Frames[], head: number): void {
    for (const event of inCursorOrder(parts)) this.#push(event)
    if (this.live > this.#limits.live) this.#drop(this.live - this.#limits.live, head)
  }

  /** Turns all undelivered events into past, up to a new head, because events have changed or were not passed on. */
  rewind(head: number): void {
    this.#epoch++
    this.#loaded = []
    this.#loadedLive = 0
    this.#near.clear()
    this.#far.clear()
    this.#readTo = this.#inFlight ?? this.#position
    this.#target = Math.max(this.#readTo, head)
    this.#passHole()
  }

  /** Records that a webhook without undelivered events has received everything up to a head. */
  settle(head: number): void {
    if (!this.isEmpty || this.#inFlight !== null || head <= this.#position) return
    this.#position = head
    this.#readTo = head
    this.#target = head
  }

  /** Returns the next range to read from the log; null while enough is loaded. */
  nextRange(): PastRange | null {
    if (this.#loaded.length >= BATCH_EVENTS_MAX) return null
    const range = { epoch: this.#epoch, after: this.#readTo }
    if (this.hasPast) return { ...range, until: this.#target }
    if (this.#near.length > 0 || this.#far.length === 0) return null
    return { ...range, until: endOfEvents(splitCursor(this.#far.last).slot) }
  }

  /** Adds the events of a range of the log up to `to`, in cursor order. */
  addRead({ epoch }: PastRange, events: readonly EventMembers[], to: number): void {
    if (epoch !== this.#epoch) return
    for (const event of events) {
      const { cursor } = event
      if (cursor <= this.#readTo || (this.#hole !== null && isIn(this.#hole, cursor))) continue
      this.#loaded.push(event)
      if (cursor > this.#target) this.#loadedLive++
    }
    this.#forgetFar(to)
    this.#readTo = Math.max(this.#readTo, to)
    this.#passHole()
  }

  /**
   * Skips the events that the log no longer has, up to the horizon. Returns the range whose events cannot be counted.
   * Returns null if all of them were live events, which are counted as dropped.
   */
  passHorizon({ epoch, after }: PastRange, horizon: number): CursorRange | null {
    if (epoch !== this.#epoch || horizon <= this.#readTo) return null
    const isPast = this.hasPast
    this.#dropped += this.#forgetFar(horizon)
    this.#readTo = horizon
    this.#passHole()
    return isPast ? { from: after, to: Math.min(horizon, this.#target) } : null
  }

  /** Takes the next batch; null if no batch is ready. At most one batch is taken until `settleBatch`. */
  take(): BatchEvents | null {
    const after = this.#position
    let [bytes, count] = [0, 0]
    const fits = (event: EventMembers | undefined): boolean => {
      if (event === undefined || count === BATCH_EVENTS_MAX) return false
      bytes += event.members.length
      return count === 0 || (bytes <= BATCH_BYTES_MAX && !this.#isBeyondHole(event.cursor))
    }
    while (fits(this.#loaded[count])) count++
    let events = this.#loaded.slice(0, count)
    this.#loadedLive -= Math.max(0, count - (this.#loaded.length - this.#loadedLive))
    this.#loaded = this.#loaded.slice(count)
    if (this.#loaded.length === 0 && !this.hasPast) {
      const loaded = count
      while (fits(this.#near.at(count - loaded))) count++
      const near = this.#near.take(count - loaded)
      this.#readTo = near.at(-1)?.cursor ?? this.#readTo
      events = loaded === 0 ? near : [...events, ...near]
    }
    if (events.length === 0) return null
    this.#inFlight = events.at(-1)!.cursor
    return { after, last: this.#inFlight, events }
  }

  /** Restores a batch that was stored before a restart. The backlog must be new. */
  restore({ last }: Pick<BatchEvents, 'last'>): void {
    this.#inFlight = last
    this.#readTo = last
    this.#target = Math.max(this.#target, last)
    this.#passHole()
  }

  /** Ends the batch in flight: its events are delivered, or the caller has counted them as dropped. */
  settleBatch(): void {
    if (this.#inFlight === null) return
    this.#position = this.#inFlight
    this.#inFlight = null
    this.#passHole()
  }

  /** Abandons the batch in flight, so that its events are read again up to a head. */
  giveBack(head: number): void {
    this.#inFlight = null
    this.rewind(head)
  }

  #push(event: EventMembers): void {
    if (event.cursor <= this.#target) return
    if (this.#far.length === 0 && this.#near.length < this.#limits.near) this.#near.push(event)
    else this.#far.push(event.cursor)
  }

  #drop(count: number, head: number): void {
    if (this.#hole !== null && this.#hole.to < this.#target) return this.rewind(head)
    const past = this.#loaded.length - this.#loadedLive
    const isFirst = this.#inFlight === null && past === 0 && !this.hasPast
    const from = this.#hole?.from ?? Math.max(this.#target, this.#inFlight ?? this.#position)
    const loaded = Math.min(count, this.#loadedLive)
    let to = this.#loaded.splice(past, loaded).at(-1)?.cursor ?? -1
    this.#loadedLive -= loaded
    for (let left = count - loaded; left > 0; left--)
      to = this.#near.length > 0 ? this.#near.shift().cursor : this.#far.shift()
    this.#dropped += count
    if (isFirst) this.#position = to
    else this.#hole = { from, to }
    if (this.#readTo >= from) this.#readTo = Math.max(this.#readTo, to)
    this.#passHole()
  }

  /** Removes the cursors of live events that were read from the log, and returns their number. */
  #forgetFar(to: number): number {
    let forgotten = 0
    for (; this.#far.length > 0 && this.#far.first <= to; forgotten++) this.#far.shift()
    return forgotten
  }

  /**
   * Moves the read position from inside the hole to its end, and the delivery position past everything that needs no
   * delivery.
   */
  #passHole(): void {
    if (this.#hole !== null && this.#readTo >= this.#hole.from && this.#readTo < this.#hole.to)
      this.#readTo = this.#hole.to
    if (this.#inFlight === null && this.#loaded.length === 0)
      this.#position = Math.max(this.#position, this.#readTo)
    if (this.#hole === null) return
    const [next] = this.#loaded
    const isPassed =
      this.#inFlight === null &&
      this.#readTo >= this.#hole.to &&
      (next === undefined || next.cursor > this.#hole.to)
    if (!isPassed) return
    this.#position = Math.max(this.#position, this.#hole.to)
    this.#hole = null
  }

  /** Returns whether an event lies beyond a hole that the position has not reached. */
  #isBeyondHole(cursor: number): boolean {
    return this.#hole !== null && cursor > this.#hole.to
  }
}

const isIn = ({ from, to }: CursorRange, cursor: number): boolean => cursor > from && cursor <= to

/** Returns the events of a block in cursor order. An event of several channels has a cursor on each of them. */
function inCursorOrder(parts: readonly Frames[]): readonly EventMembers[] {
  const [first] = parts
  return parts.length === 1 ? eventsIn(first!) : parts.flatMap(eventsIn).sort((a, b) => a.cursor - b.cursor)
}
