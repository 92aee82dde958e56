import type { CommitFeed } from '../kernel/feed/commit-feed.ts'
import { digestOf } from '../market/block-digest.ts'
import { extentOf, type BlockExtent } from '../market/block-extent.ts'
import type { CashList } from '../market/cash.ts'
import { endOfEvents } from '../market/cursor.ts'
import type { EncodedEvent } from '../market/log.ts'
import type { BlockCommit } from '../market/records.ts'
import type { SlotRow } from '../market/rows.ts'
import { BlockEvents, neededForChannels } from './block-events.ts'
import type { Channel } from './channel.ts'
import { ChannelTable } from './channel-table.ts'
import { eventFrames, type Frames } from './frames.ts'

/** A reader of live channels. None of these methods may throw. */
export interface Reader {
  /**
   * Receives events of one of its channels, of a block being published. Returns whether they are its first ones since
   * `endBlock`.
   */
  owe(frames: Frames): boolean
  /** Ends the blocks that are published together: all of their events have been passed on. */
  endBlock(): void
  /**
   * Reports that the events after a cursor were not passed on, or not all of them. Discards the events of the blocks
   * being published. The reader must read all of these from the store.
   */
  missed(after: number): void
}

/**
 * Limits of the cache of recent blocks, for readers that are about to catch up. 64 blocks are 25 s of a live chain,
 * and 20,000 rows about 30 MB.
 */
const RECENT_BLOCKS = 64
const RECENT_ROWS = 20_000

/** A channel with at least one reader. */
interface LiveChannel {
  readonly channel: Channel
  readonly readers: Set<Reader>
}

/**
 * The channels with readers, and the newest blocks.
 *
 * H1. An event is encoded once for all its readers, and framed once for all readers of a channel.
 * H2. A reader of a channel receives every block after the head at which it joined, in order, once. Blocks that the
 *     feed skipped are reported as missed.
 * H3. After a start, or a retraction of published blocks, all readers read the first block from the store. The
 *     retractions of a lost fork come between that block and the earlier ones.
 * H4. If a channel fails, its readers read the block from the store, in one order for all of their channels. Other
 *     readers are not affected.
 * H5. A follower's block is read only if it may have events of a channel with readers. Others are not among the recent ones:
 *     who catches up reads them from the store.
 * H6. Blocks that the feed publishes together end together for a reader, which then has the events of all of them.
 */
export class StreamHub {
  readonly #feed: CommitFeed
  readonly #cash: CashList
  readonly #report: (fault: unknown) => void
  readonly #channels = new ChannelTable<LiveChannel>()
  #recent: { readonly block: BlockEvents; readonly rows: number }[] = []
  #recentRows = 0
  /** Whether the next block possibly follows a different block than the last published one (H3). */
  #isDoubtful = true
  /** No block after this cursor is missing among the recent ones. */
  #recentAfter: number
  /** The end of the newest published slot. */
  #head: number
  #eventsPublished = 0
  /**
   * Readers with events of the blocks being published. A list and not a set: with thousands of readers of one event, a set is
   * a tenth of the publication.
   */
  #owed: Reader[] = []
  /** The head before the blocks being published; null between publications. */
  #before: number | null = null
  readonly #waiting = new Set<{ readonly cursor: number; readonly wake: () => void }>()

  constructor(feed: CommitFeed, cash: CashList, report: (fault: unknown) => void) {
    this.#feed = feed
    this.#cash = cash
    this.#report = report
    this.#head = endOf(feed.head)
    this.#recentAfter = this.#head
  }

  /** Follows the feed. Returns a function that ends it. */
  follow(): () => void {
    return this.#feed.follow({
      published: (commit) => this.#publish(commit),
      jumped: () => this.#jump(),
      ended: () => this.#end(),
      needs: (commit) => this.#needed(commit)
    })
  }

  /** The last cursor of the newest published slot; -1 before the first. */
  get head(): number {
    return this.#head
  }

  get headSlot(): SlotRow | null {
    return this.#feed.head
  }

  /** Number of channels with readers. */
  get channels(): number {
    return this.#channels.size
  }

  /** Events published on any channel since the start. */
  get eventsPublished(): number {
    return this.#eventsPublished
  }

  /** Subscribes a reader to a channel, starting with the next block. */
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

  /** Returns the blocks after a cursor that ends a slot, oldest first; null if some of them were evicted. */
  recentAfter(cursor: number): readonly BlockEvents[] | null {
    if (cursor < this.#recentAfter) return null
    return this.#recent.map(({ block }) => block).filter(({ slot }) => endOf(slot) > cursor)
  }

  /** Resolves once blocks up to a cursor were published, or when `end` aborts. */
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
      if (waiting.cursor > this.#head) continue
      this.#waiting.delete(waiting)
      waiting.wake()
    }
  }

  /** Returns how much of a block the channels with readers need (H5). */
  #needed(commit: BlockCommit): BlockExtent {
    // The first block is read from the store (H3).
    if (this.#isDoubtful || this.#channels.size === 0) return 'slot'
    return neededForChannels(this.#channels, extentOf(commit) === 'slot' ? null : digestOf(commit))
  }

  #publish(commit: BlockCommit): void {
    const before = (this.#before ??= this.#head)
    this.#head = endOf(commit.slot)
    if (this.#isDoubtful) {
      this.#isDoubtful = false
      this.#recentAfter = this.#head
      this.#miss(before)
      this.#wake()
      return
    }
    if (extentOf(commit) !== 'rows') {
      this.#forgetRecent()
      // Readers that joined since the block was read have its events from the store.
      if (extentOf(commit) !== this.#needed(commit)) this.#miss(before)
      this.#wake()
      return
    }
    const digest = digestOf(commit)
    const block = new BlockEvents(commit, this.#cash, digest)
    this.#remember(block, digest.events)
    const failed = new Set<Reader>()
    for (const [live, events] of this.#eventsOf(block, before)) {
      try {
        const frames = eventFrames(live.channel.name, events, false)
        this.#eventsPublished += events.length
        for (const reader of live.readers) if (reader.owe(frames)) this.#owed.push(reader)
      } catch (fault) {
        this.#report(fault)
        for (const reader of live.readers) failed.add(reader)
      }
    }
    // Earlier blocks of this publication are read again too: the reader discards their events.
    for (const reader of failed) reader.missed(before)
    this.#wake()
  }

  /** Ends the blocks that were published together. */
  #end(): void {
    const owed = this.#owed
    this.#owed = []
    this.#before = null
    for (const reader of owed) reader.endBlock()
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

  #forgetRecent(): void {
    this.#recent = []
    this.#recentRows = 0
    this.#recentAfter = this.#head
  }

  #remember(block: BlockEvents, rows: number): void {
    this.#recent.push({ block, rows })
    this.#recentRows += rows
    while (this.#recent.length > RECENT_BLOCKS || this.#recentRows > RECENT_ROWS) {
      const oldest = this.#recent.shift()!
      this.#recentRows -= oldest.rows
      this.#recentAfter = endOf(oldest.block.slot)
    }
  }

  #jump(): void {
    const before = this.#head
    const head = endOf(this.#feed.head)
    // After a fork was removed, the next block is above everything published.
    this.#head = Math.max(head, before)
    this.#forgetRecent()
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

/** Returns the last cursor that an event of a slot can have; -1 if `slot` is null. */
export const endOf = (slot: SlotRow | null): number => (slot === null ? -1 : endOfEvents(slot.slot))
