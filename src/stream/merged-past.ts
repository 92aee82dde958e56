import type { EncodedEvent, Memory } from '../market/log.ts'
import type { Channel } from './channel.ts'
import type { ChannelHistory, Stretch } from './channel-history.ts'

/** Events of a channel that are next, in cursor order. */
export interface ChannelEvents {
  readonly channel: Channel
  readonly events: readonly EncodedEvent[]
}

/** Rows that are held of all channels together; a channel among many has some at least. Chosen: 1 MB, of 50 channels 5. */
const ROWS_HELD = 512
const ROWS_LEAST = 64
/**
 * Events of a channel that is kept as it was sent, by slots: as many slots as give about so many, two at first. More make a
 * replay a little faster, and let live events wait beside twenty of them.
 */
const EVENTS_HELD = { few: 128, many: 512 }
const SLOTS_HELD = { first: 2, most: 32 }

/** The past of several channels in one order, a page after another, from a cursor on. */
export class MergedPast {
  readonly #history: Pick<ChannelHistory, 'read'>
  #parts: Part[]
  #position: number

  constructor(history: Pick<ChannelHistory, 'read'>, channels: readonly Channel[], since: number) {
    this.#history = history
    this.#parts = channels.map((channel) => new Part(channel, since))
    this.#position = since
  }

  /** All that is after `since` and up to here has been given. */
  get position(): number {
    return this.#position
  }

  get channels(): readonly Channel[] {
    return this.#parts.map(({ channel }) => channel)
  }

  /** Takes note that everything up to a cursor was given by others. */
  skipTo(cursor: number): void {
    this.#position = cursor
    for (const part of this.#parts) part.skipTo(cursor)
  }

  drop(name: string): void {
    this.#parts = this.#parts.filter(({ channel }) => channel.name !== name)
  }

  /** Whether something was read that has not been given. */
  get holdsEvents(): boolean {
    return this.#parts.some((part) => part.holdsEvents)
  }

  /**
   * The next events up to a cursor that ends a slot: none once there are no more, and then `position` is that cursor.
   * What is kept as it was sent is read into some memory.
   */
  async next(until: number, memory: Memory): Promise<ChannelEvents[]> {
    const rows = Math.max(ROWS_LEAST, Math.floor(ROWS_HELD / this.#parts.length))
    await Promise.all(this.#parts.map((part) => part.fill(this.#history, until, rows, memory)))
    // One of them may have been dropped meanwhile.
    const parts = this.#parts
    const to = parts.reduce((least, part) => Math.min(least, part.to), until)
    this.#position = Math.max(this.#position, to)
    return parts.flatMap((part) => {
      const events = part.takeTo(to)
      return events.length === 0 ? [] : [{ channel: part.channel, events }]
    })
  }
}

/** What has been read of one channel and not been given. */
class Part {
  readonly channel: Channel
  #events: Stretch['events'] = []
  #next = 0
  #to: number
  /** Slots to be read at a time. */
  #slots = SLOTS_HELD.first

  constructor(channel: Channel, since: number) {
    this.channel = channel
    this.#to = since
  }

  /** All that there is up to here is given or held. */
  get to(): number {
    return this.#to
  }

  get holdsEvents(): boolean {
    return this.#next < this.#events.length
  }

  async fill(
    history: Pick<ChannelHistory, 'read'>,
    until: number,
    rows: number,
    memory: Memory
  ): Promise<void> {
    if (this.holdsEvents || this.#to >= until) return
    const limits = { rows, parts: this.#slots, memory }
    const { events, to } = await history.read(this.channel, this.#to, until, limits)
    if (events.length < EVENTS_HELD.few) this.#slots = Math.min(2 * this.#slots, SLOTS_HELD.most)
    else if (events.length > EVENTS_HELD.many) this.#slots = Math.ceil(this.#slots / 2)
    this.#events = events
    this.#next = 0
    this.#to = to
  }

  takeTo(cursor: number): readonly EncodedEvent[] {
    const start = this.#next
    while (this.#next < this.#events.length && this.#events[this.#next]!.cursor <= cursor) this.#next++
    const all = start === 0 && this.#next === this.#events.length
    const taken = all ? this.#events : this.#events.slice(start, this.#next)
    if (this.#next === this.#events.length) {
      this.#events = []
      this.#next = 0
    }
    return taken
  }

  skipTo(cursor: number): void {
    this.takeTo(cursor)
    this.#to = Math.max(this.#to, cursor)
  }
}
