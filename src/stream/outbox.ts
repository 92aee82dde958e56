import { startOf, type Frames } from './frames.ts'

/** Bounds of a connection's queue. */
export interface Room {
  /** Events, including those in the socket's buffer. */
  readonly events: number
  /** Bytes, excluding those in the socket's buffer. */
  readonly bytes: number
}

/**
 * 2,000 events (src/docs/stream.md). The limit in bytes is for large events: 2,000 events of 8 KB, several times
 * the average.
 */
export const BUFFER: Room = { events: 2_000, bytes: 16 * 2 ** 20 }
/**
 * Maximum bytes passed to a socket at once; they can no longer be dropped. Enough for one system call, and small
 * compared with the queue's bounds.
 */
export const CHUNK_BYTES = 256 * 1024

/** Consecutive dropped events. */
export interface Hole {
  dropped: number
  /**
   * The cursor before the first dropped event, and that of the last one. A subscription with `since` = `from` gets
   * them again.
   */
  from: number
  to: number
  readonly channels: Set<string>
}

type QueuedEntry =
  | { readonly kind: 'frames'; readonly frames: Frames; at: number }
  | { readonly kind: 'message'; readonly bytes: Buffer }
  | { readonly kind: 'hole'; readonly hole: Hole }

/**
 * A connection's queue: references to shared event frames, and messages, in order.
 *
 * Q1. If the queue exceeds its bounds, the oldest events not yet passed to the socket are dropped, and a message in
 *     their place reports the loss. Messages are never dropped.
 */
export class Outbox {
  readonly #holeFrame: (hole: Hole) => Buffer
  #queued: QueuedEntry[] = []
  /** Index in `#queued` of the next entry. */
  #next = 0
  #events = 0
  #messages = 0
  #bytes = 0
  /** Events that the socket has accepted and not sent. */
  #withSocket = 0
  #dropped = 0

  constructor(holeFrame: (hole: Hole) => Buffer) {
    this.#holeFrame = holeFrame
  }

  get isEmpty(): boolean {
    return this.#next === this.#queued.length
  }

  /** Events in the queue, including those in the socket's buffer. */
  get events(): number {
    return this.#events + this.#withSocket
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Events dropped since the outbox was created. */
  get dropped(): number {
    return this.#dropped
  }

  /** Queues a message. Returns the number of queued messages. */
  message(bytes: Buffer): number {
    this.#queued.push({ kind: 'message', bytes })
    return ++this.#messages
  }

  /** Queues events within the bounds. Returns the number of events dropped for them. */
  add(frames: Frames, room: Room): number {
    this.#queued.push({ kind: 'frames', frames, at: 0 })
    this.#events += frames.cursors.length
    this.#bytes += frames.bytes.length
    const before = this.#dropped
    this.#dropOldest(room)
    return this.#dropped - before
  }

  /**
   * Returns the next bytes to write, in order: up to `CHUNK_BYTES`, or one larger event. Empty if the queue is empty.
   */
  take(): Buffer[] {
    const chunk: Buffer[] = []
    let size = 0
    while (this.#next < this.#queued.length) {
      const bytes = this.#takeNext(CHUNK_BYTES - size, chunk.length === 0)
      if (bytes === null) break
      chunk.push(bytes)
      size += bytes.length
    }
    this.#forgetTaken()
    return chunk
  }

  /** To be called when the socket has sent all bytes passed to it. */
  sent(): void {
    this.#withSocket = 0
  }

  /** Counts events that went to the socket directly, which is allowed while the queue is empty. */
  passed(events: number): void {
    this.#withSocket += events
  }

  /** Returns a message, or as many events as fit; null if no event fits and `isFirst` is false. */
  #takeNext(room: number, isFirst: boolean): Buffer | null {
    const entry = this.#queued[this.#next]!
    if (entry.kind !== 'frames') {
      this.#next++
      if (entry.kind === 'hole') return this.#holeFrame(entry.hole)
      this.#messages--
      return entry.bytes
    }
    const { frames, at } = entry
    const start = startOf(frames, at)
    let end = isFirst ? at + 1 : at
    while (end < frames.ends.length && frames.ends[end]! - start <= room) end++
    if (end === at) return null
    this.#leave(entry, end)
    return frames.bytes.subarray(start, frames.ends[end - 1])
  }

  #leave(entry: Extract<QueuedEntry, { kind: 'frames' }>, end: number): void {
    const { frames } = entry
    const count = end - entry.at
    this.#events -= count
    this.#withSocket += count
    this.#bytes -= frames.ends[end - 1]! - startOf(frames, entry.at)
    entry.at = end
    if (end === frames.ends.length) this.#next++
  }

  #dropOldest({ events, bytes }: Room): void {
    const isOver = (): boolean =>
      this.#events > 0 && (this.#events + this.#withSocket > events || this.#bytes > bytes)
    for (let index = this.#next; isOver(); index++) {
      const entry = this.#queued[index]!
      if (entry.kind !== 'frames') continue
      const hole = this.#holeBefore(index)
      if (hole.isNew) index++
      while (entry.at < entry.frames.cursors.length && isOver()) this.#drop(entry, hole.hole)
      if (entry.at === entry.frames.cursors.length) this.#queued.splice(index--, 1)
    }
  }

  #holeBefore(index: number): { readonly hole: Hole; readonly isNew: boolean } {
    const before = this.#queued[index - 1]
    if (before?.kind === 'hole') return { hole: before.hole, isNew: false }
    const hole: Hole = { dropped: 0, from: Infinity, to: 0, channels: new Set() }
    this.#queued.splice(index, 0, { kind: 'hole', hole })
    return { hole, isNew: true }
  }

  #drop(entry: Extract<QueuedEntry, { kind: 'frames' }>, hole: Hole): void {
    const { frames, at } = entry
    const cursor = frames.cursors[at]!
    hole.dropped++
    hole.from = Math.min(hole.from, cursor - 1)
    hole.to = Math.max(hole.to, cursor)
    for (const channel of frames.channels) hole.channels.add(channel)
    this.#events--
    this.#dropped++
    this.#bytes -= frames.ends[at]! - startOf(frames, at)
    entry.at++
  }

  #forgetTaken(): void {
    if (this.#next === 0 || this.#next < this.#queued.length / 2) return
    this.#queued = this.#queued.slice(this.#next)
    this.#next = 0
  }
}
