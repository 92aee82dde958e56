import type { EncodedEvent } from '../market/log.ts'
import type { Channel } from './channel.ts'
import type { ChannelHistory, ReadLimits, Stretch } from './channel-history.ts'

/** Events of a channel that are next, in cursor order. */
export interface ChannelEvents {
  readonly channel: Channel
  readonly events: readonly EncodedEvent[]
}

/** Rows that are held of all channels together; a channel among many has a few at least. Chosen: about 1 MB. */
const ROWS_HELD = 512
const ROWS_LEAST = 16
/**
 * Slots of a channel that is kept as it was sent, of a busy venue some hundred events each. With 4 a replay is a tenth
 * faster, and beside twenty of them live events come late: three times as long instead of twice.
 */
const PARTS_HELD = 2

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

  /** The next events up to a cursor that ends a slot: none once there are no more, and then `position` is that cursor. */
  async next(until: number): Promise<ChannelEvents[]> {
    const rows = Math.max(ROWS_LEAST, Math.floor(ROWS_HELD / this.#parts.length))
    const limits = { rows, parts: PARTS_HELD }
    await Promise.all(this.#parts.map((part) => part.fill(this.#history, until, limits)))
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

  constructor(channel: Channel, since: number) {
    this.channel = channel
    this.#to = since
  }

  /** All that there is up to here is given or held. */
  get to(): number {
    return this.#to
  }

  async fill(history: Pick<ChannelHistory, 'read'>, until: number, limits: ReadLimits): Promise<void> {
    if (this.#next < this.#events.length || this.#to >= until) return
    const { events, to } = await history.read(this.channel, this.#to, until, limits)
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
