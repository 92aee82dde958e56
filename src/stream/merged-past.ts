import type { EncodedEvent, Memory } from '../market/log.ts'
import { isKeptAsSent, type Channel } from './channel.ts'
import type { ChannelHistory, Stretch } from './channel-history.ts'

/** Events of a channel that are next, in cursor order. */
export interface ChannelEvents {
  readonly channel: Channel
  readonly events: readonly EncodedEvent[]
}

/**
 * Rows that are read of all channels together, about 3 MB, and of one; half as many may be held beside them. Those of a
 * channel are in proportion to how many it has of late, so that all pages end at about the same slot: else they would be
 * read one after another, as whatever is missing of one lets the others wait.
 */
const ROWS_HELD = 2_048
const ROWS_OF_ONE = { least: 16, most: 512 }
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
    const ofAll = this.#parts.reduce((sum, part) => sum + part.rowsPerCursor, 0)
    await Promise.all(
      this.#parts.map((part) => {
        const share = ofAll === 0 ? 1 / this.#parts.length : part.rowsPerCursor / ofAll
        const rows = Math.ceil(share * ROWS_HELD)
        const { least, most } = ROWS_OF_ONE
        return part.fill(this.#history, until, Math.min(Math.max(rows, least), most), memory)
      })
    )
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
  #rowsPerCursor = 0

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

  /** How dense rows were where they were read last; 0 where none were read, and of a channel that is kept as it was sent. */
  get rowsPerCursor(): number {
    return this.#rowsPerCursor
  }

  /** Reads on where less than half of what is to be held is left: with those that have nothing, and not alone later. */
  async fill(
    history: Pick<ChannelHistory, 'read'>,
    until: number,
    rows: number,
    memory: Memory
  ): Promise<void> {
    const held = this.#events.length - this.#next
    const enough = isKeptAsSent(this.channel) ? EVENTS_HELD.few : rows
    if (held >= enough / 2 || this.#to >= until) return
    const limits = { rows, parts: this.#slots, memory }
    const from = this.#to
    const { events, to } = await history.read(this.channel, from, until, limits)
    // Up to the end of a full page there were as many rows, though some may be of no event.
    if (!isKeptAsSent(this.channel)) this.#rowsPerCursor = (to < until ? rows : events.length) / (to - from)
    if (events.length < EVENTS_HELD.few) this.#slots = Math.min(2 * this.#slots, SLOTS_HELD.most)
    else if (events.length > EVENTS_HELD.many) this.#slots = Math.ceil(this.#slots / 2)
    this.#events = this.holdsEvents ? [...this.#events.slice(this.#next), ...events] : events
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
