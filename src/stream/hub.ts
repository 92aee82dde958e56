import type { CommitFeed } from '../views/commit-feed.ts'
import type { CashList } from '../market/cash.ts'
import { endOfEvents } from '../market/cursor.ts'
import type { EncodedEvent } from '../market/log.ts'
import type { SlotRow } from '../market/rows.ts'
import { BlockEvents } from './block-events.ts'
import type { Channel } from './channel.ts'
import { ChannelTable } from './channel-table.ts'
import { eventFrames, type Frames } from './frames.ts'

/** Who reads channels as they come. None of these may throw. */
export interface Reader {
  /** Events of one of its channels, of the block that is being told. */
  owe(frames: Frames): void
  /** Says that all of the block's events have been given. */
  endBlock(): void
  /**
   * Says that what there is after a cursor was not told, or not all of it, and takes back what was given of the block: whoever
   * wants it reads it from the store.
   */
  missed(after: number): void
}

/** Blocks that are held for those who are about to catch up, and their rows. Chosen. */
const RECENT_BLOCKS = 64
const RECENT_ROWS = 20_000

/** A channel that somebody reads. */
interface LiveChannel {
  readonly channel: Channel
  readonly readers: Set<Reader>
}

/**
 * The channels that somebody reads, and the newest blocks.
 *
 * H1. An event is encoded once for all its readers, and framed once for all readers of a channel.
 * H2. Readers of a channel are told every block after the head at which they joined, in order, once; what the feed did
 *     not tell they are told to have missed.
 * H3. The first block after a start, or after blocks that were told have been taken back, everybody reads from the store:
 *     what it says of a lost fork lies between that block and what was told before.
 * H4. Readers of a channel that fails read the block from the store, all of their channels in one order; no others notice.
 */
export class StreamHub {
  readonly #feed: CommitFeed
  readonly #cash: CashList
  readonly #report: (fault: unknown) => void
  readonly #channels = new ChannelTable<LiveChannel>()
  #recent: BlockEvents[] = []
  #recentRows = 0
  /** Whether what the next block follows on may be other than what was told (H3). */
  #isDoubtful = true
  /** Of the blocks after this cursor none is missing among the recent ones. */
  #recentAfter: number
  /** The end of the newest slot that readers were told of. */
  #told: number
  #eventsTold = 0
  readonly #waiting = new Set<{ readonly cursor: number; readonly wake: () => void }>()

  constructor(feed: CommitFeed, cash: CashList, report: (fault: unknown) => void) {
    this.#feed = feed
    this.#cash = cash
    this.#report = report
    this.#told = endOf(feed.head)
    this.#recentAfter = this.#told
  }

  /** Follows the feed until the returned function is called. */
  follow(): () => void {
    const unfollow = this.#feed.follow((commit) => this.#tell(new BlockEvents(commit, this.#cash)))
    const unheed = this.#feed.onJump(() => this.#jump())
    return () => {
      unfollow()
      unheed()
    }
  }

  /** The last cursor of the newest slot that readers were told of; -1 before the first. */
  get head(): number {
    return this.#told
  }

  get headSlot(): SlotRow | null {
    return this.#feed.head
  }

  /** Channels that somebody reads. */
  get channels(): number {
    return this.#channels.size
  }

  /** Events told on some channel since the start. */
  get eventsTold(): number {
    return this.#eventsTold
  }

  /** Has a reader told of a channel from the next block on. */
  join(channel: Channel, reader: Reader): void {
    const live = this.#channels.get(channel)
    if (live === undefined) this.#channels.set(channel, { channel, readers: new Set([reader]) })
    else live.readers.add(reader)
  }

  leave(channel: Channel, reader: Reader): void {
    const live = this.#channels.get(channel)
    live?.readers.delete(reader)
    if (live?.readers.size === 0) this.#channels.delete(channel)
  }

  /** The blocks after a cursor that ends a slot, oldest first; null when they are not all in memory. */
  recentAfter(cursor: number): readonly BlockEvents[] | null {
    if (cursor < this.#recentAfter) return null
    return this.#recent.filter(({ slot }) => endOf(slot) > cursor)
  }

  /** Resolves once readers were told up to a cursor, or when `end` aborts. */
  reaches(cursor: number, end: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = { cursor, wake: resolve }
      this.#waiting.add(waiting)
      end.addEventListener(
        'abort',
        () => {
          this.#waiting.delete(waiting)
          resolve()
        },
        { once: true }
      )
    })
  }

  #wake(): void {
    for (const waiting of this.#waiting) {
      if (waiting.cursor > this.#told) continue
      this.#waiting.delete(waiting)
      waiting.wake()
    }
  }

  #tell(block: BlockEvents): void {
    const before = this.#told
    this.#told = endOf(block.slot)
    if (this.#isDoubtful) {
      this.#isDoubtful = false
      this.#recentAfter = this.#told
      this.#miss(before)
      this.#wake()
      return
    }
    this.#remember(block)
    const touched = new Set<Reader>()
    const failed = new Set<Reader>()
    for (const [live, events] of this.#eventsOf(block, before)) {
      try {
        const frames = eventFrames(live.channel.name, events, false)
        this.#eventsTold += events.length
        for (const reader of live.readers) {
          reader.owe(frames)
          touched.add(reader)
        }
      } catch (fault) {
        this.#report(fault)
        for (const reader of live.readers) failed.add(reader)
      }
    }
    for (const reader of touched) if (!failed.has(reader)) reader.endBlock()
    for (const reader of failed) reader.missed(before)
    this.#wake()
  }

  #eventsOf(block: BlockEvents, before: number): Map<LiveChannel, EncodedEvent[]> {
    try {
      return block.on(this.#channels)
    } catch (fault) {
      this.#report(fault)
      this.#miss(before)
      return new Map()
    }
  }

  #remember(block: BlockEvents): void {
    this.#recent.push(block)
    this.#recentRows += block.size
    while (this.#recent.length > RECENT_BLOCKS || this.#recentRows > RECENT_ROWS) {
      const oldest = this.#recent.shift()!
      this.#recentRows -= oldest.size
      this.#recentAfter = endOf(oldest.slot)
    }
  }

  #jump(): void {
    const before = this.#told
    this.#recent = []
    this.#recentRows = 0
    const head = endOf(this.#feed.head)
    // Behind a fork that was taken back the next block is newer than all that was told.
    this.#told = Math.max(head, before)
    this.#recentAfter = this.#told
    if (head < before) this.#isDoubtful = true
    if (head <= before) return
    this.#miss(before)
    this.#wake()
  }

  #miss(after: number): void {
    const readers = new Set<Reader>()
    for (const live of this.#channels) for (const reader of live.readers) readers.add(reader)
    for (const reader of readers) reader.missed(after)
  }
}

/** The last cursor that an event of a slot can have; -1 of none. */
export const endOf = (slot: SlotRow | null): number => (slot === null ? -1 : endOfEvents(slot.slot))
