import type { EncodedEvent, Allocator } from '../market/log.ts'
import { isStoredEncoded, isPrivate, type ReplayedChannel } from './channel.ts'
import { atOnce, type RunPiece } from '../kernel/work/turns.ts'
import type { ReadLimits, Stretch } from './channel-history.ts'

/** Reads the past of channels, as ChannelHistory does. */
export interface PastReader {
  read(channel: ReplayedChannel, after: number, until: number, limits: ReadLimits): Promise<Stretch>
}

/** The next events of a channel, in cursor order. */
export interface ChannelEvents {
  readonly channel: ReplayedChannel
  readonly events: readonly EncodedEvent[]
}

/**
 * Maximum rows that are read for all channels together, and for one channel; half as many more may be buffered. Reading and
 * encoding a row takes 15 µs of the event loop, and merging it 5 µs. So a piece holds the event loop for about 2 ms, and the
 * merge for 5. A channel's rows are proportional to its recent density, so that all pages end near one slot. Otherwise one
 * channel's missing page would delay the others, and pages would be read sequentially.
 */
const ROWS_HELD = 1_024
const ROWS_OF_ONE = { least: 16, most: 128 }
/**
 * Events per read of a channel stored encoded, and slots per read, two at first, adapted to that number of events.
 * Larger reads would make a replay slightly faster, but live events would be queued behind twenty such pages.
 */
const EVENTS_HELD = { few: 128, many: 512 }
const SLOTS_HELD = { first: 2, most: 32 }

/** Merges the past of several channels in cursor order, page by page. */
export class MergedPast {
  readonly #history: PastReader
  readonly #rowsHeld: number
  #buffers: ChannelBuffer[]
  #position: number

  /**
   * `rowsHeld` is the number of rows that are read together. `changesSince` is the cursor after which changes of
   * submissions are read: changes may be stored after the events of their slot were read.
   */
  constructor(
    history: PastReader,
    channels: readonly ReplayedChannel[],
    since: number,
    { rowsHeld = ROWS_HELD, changesSince = since }: { rowsHeld?: number; changesSince?: number } = {}
  ) {
    this.#history = history
    this.#rowsHeld = rowsHeld
    this.#buffers = channels.map(
      (channel) => new ChannelBuffer(channel, since, isPrivate(channel) ? changesSince : null)
    )
    this.#position = since
  }

  /** Everything after `since` and up to here has been returned. */
  get position(): number {
    return this.#position
  }

  get channels(): readonly ReplayedChannel[] {
    return this.#buffers.map(({ channel }) => channel)
  }

  /** The cursor of the newest change of submissions that was returned, or after which they are read. */
  get changesTo(): number | null {
    return this.#buffers.reduce<number | null>((to, { changesTo }) => changesTo ?? to, null)
  }

  /** Records that everything up to a cursor was sent by other means. */
  skipTo(cursor: number): void {
    this.#position = cursor
    for (const buffer of this.#buffers) buffer.skipTo(cursor)
  }

  drop(name: string): void {
    this.#buffers = this.#buffers.filter(({ channel }) => channel.name !== name)
  }

  /** Whether events were read and not yet returned. */
  get holdsEvents(): boolean {
    return this.#buffers.some((buffer) => buffer.holdsEvents)
  }

  /**
   * Returns the next events up to `until`, which ends a slot. At the end the result is empty, and `position` is
   * `until`. Events that are stored encoded are read into memory of `allocator`. The read of each channel is a
   * separate piece.
   */
  async next(until: number, allocator: Allocator, runPiece: RunPiece = atOnce): Promise<ChannelEvents[]> {
    const ofAll = this.#buffers.reduce((sum, buffer) => sum + buffer.rowsPerCursor, 0)
    await Promise.all(
      this.#buffers.map((buffer) => {
        const share = ofAll === 0 ? 1 / this.#buffers.length : buffer.rowsPerCursor / ofAll
        const rows = Math.ceil(share * this.#rowsHeld)
        const { least, most } = ROWS_OF_ONE
        const limits = { rows: Math.min(Math.max(rows, least), most), allocator }
        return buffer.fill(this.#history, until, limits, runPiece)
      })
    )
    // A channel may have been dropped meanwhile.
    const buffers = this.#buffers
    const to = buffers.reduce((least, buffer) => Math.min(least, buffer.to), until)
    this.#position = Math.max(this.#position, to)
    return buffers.flatMap((buffer) => {
      const events = buffer.takeTo(to)
      return events.length === 0 ? [] : [{ channel: buffer.channel, events }]
    })
  }
}

type FillLimits = Required<Omit<ReadLimits, 'parts'>>

/** Events of one channel that were read and not yet returned. */
class ChannelBuffer {
  readonly channel: ReplayedChannel
  #events: Stretch['events'] = []
  #next = 0
  #to: number
  /** Slots of the next read. */
  #slots = SLOTS_HELD.first
  #rowsPerCursor = 0
  /** The read in flight. */
  #filling: Promise<void> | null = null
  /**
   * Cursor of the newest change of submissions read; null for other channels. A change stored later may belong to a
   * slot whose other events were already read.
   */
  #changesRead: number | null
  #changesTo: number | null

  constructor(channel: ReplayedChannel, since: number, changesSince: number | null) {
    this.channel = channel
    this.#to = since
    this.#changesRead = this.#changesTo = changesSince
  }

  get changesTo(): number | null {
    return this.#changesTo
  }

  /** Everything up to here is returned or held. */
  get to(): number {
    return this.#to
  }

  get holdsEvents(): boolean {
    return this.#next < this.#events.length
  }

  /** Rows per cursor in the last read; 0 if it found none, and for channels stored encoded. */
  get rowsPerCursor(): number {
    return this.#rowsPerCursor
  }

  /**
   * Reads more if the buffer holds less than half of its target, so that channels are read in parallel. Joins a read in
   * flight: after the read of another channel has failed, all are retried, and a second read would repeat the events.
   */
  fill(history: PastReader, until: number, limits: FillLimits, runPiece: RunPiece): Promise<void> {
    return (this.#filling ??= this.#read(history, until, limits, runPiece).finally(
      () => (this.#filling = null)
    ))
  }

  async #read(
    history: PastReader,
    until: number,
    { rows, allocator }: FillLimits,
    runPiece: RunPiece
  ): Promise<void> {
    const held = this.#events.length - this.#next
    const enough = isStoredEncoded(this.channel) ? EVENTS_HELD.few : rows
    if (held >= enough / 2 || this.#to >= until) return
    const limits = { rows, parts: this.#slots, allocator }
    const from = this.#changesRead ?? this.#to
    const { events, to } = await runPiece(() => history.read(this.channel, from, until, limits))
    // A full page had `rows` rows up to its end, though some may belong to no event.
    if (!isStoredEncoded(this.channel))
      this.#rowsPerCursor = (to < until ? rows : events.length) / Math.max(1, to - from)
    if (this.#changesRead !== null) this.#changesRead = events.at(-1)?.cursor ?? this.#changesRead
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
    if (this.#changesTo !== null && this.#next > start) this.#changesTo = this.#events[this.#next - 1]!.cursor
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
    if (this.#changesRead !== null) this.#changesRead = Math.max(this.#changesRead, cursor)
    if (this.#changesTo !== null) this.#changesTo = Math.max(this.#changesTo, cursor)
  }
}
