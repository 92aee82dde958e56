import { startOf, type Frames } from './frames.ts'

/** What a connection may be owed. */
export interface Room {
  /** Events, those in its socket's queue included. */
  readonly events: number
  /** Bytes of those that are not. */
  readonly bytes: number
}

/** 2,000 events (spec, Streaming, rule 4), and for events that are large so many bytes. The latter chosen. */
export const BUFFER: Room = { events: 2_000, bytes: 16 * 2 ** 20 }
/** Bytes that are given to a socket at once; what it has not sent of them is not given back. Chosen. */
export const CHUNK_BYTES = 256 * 1024

/** Events that were dropped in one place. */
export interface Hole {
  dropped: number
  /** Below the first of them, and the last of them: a subscription `since` it is sent them. */
  from: number
  to: number
  readonly channels: Set<string>
}

type Owed =
  | { readonly kind: 'frames'; readonly frames: Frames; at: number }
  | { readonly kind: 'message'; readonly bytes: Buffer }
  | { readonly kind: 'hole'; readonly hole: Hole }

/**
 * What a connection is owed, in order: a plain queue of events that others are owed, too, and of messages.
 *
 * Q1. When more is owed than there is room for, the oldest events go that are not with the socket, and a message in their
 *     place says so. Messages are never dropped.
 */
export class Outbox {
  readonly #holeFrame: (hole: Hole) => Buffer
  #owed: Owed[] = []
  /** Of `#owed`, before which all is taken. */
  #next = 0
  #events = 0
  #messages = 0
  #bytes = 0
  /** Events that the socket has taken and not sent. */
  #withSocket = 0
  #dropped = 0

  constructor(holeFrame: (hole: Hole) => Buffer) {
    this.#holeFrame = holeFrame
  }

  get isEmpty(): boolean {
    return this.#next === this.#owed.length
  }

  /** Events that are owed, those with the socket included. */
  get events(): number {
    return this.#events + this.#withSocket
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Events dropped since it was made. */
  get dropped(): number {
    return this.#dropped
  }

  /** Adds a message; gives how many are owed with it. */
  message(bytes: Buffer): number {
    this.#owed.push({ kind: 'message', bytes })
    return ++this.#messages
  }

  /** Adds events to what there is room for; gives how many were dropped for them. */
  add(frames: Frames, room: Room): number {
    this.#owed.push({ kind: 'frames', frames, at: 0 })
    this.#events += frames.cursors.length
    this.#bytes += frames.bytes.length
    const before = this.#dropped
    this.#dropOldest(room)
    return this.#dropped - before
  }

  /** The next bytes to write, in order, `CHUNK_BYTES` together or one event that is larger; empty when nothing is owed. */
  take(): Buffer[] {
    const chunk: Buffer[] = []
    let size = 0
    while (this.#next < this.#owed.length) {
      const bytes = this.#takeNext(CHUNK_BYTES - size, chunk.length === 0)
      if (bytes === null) break
      chunk.push(bytes)
      size += bytes.length
    }
    this.#forgetTaken()
    return chunk
  }

  /** Says that the socket has sent all that it was given. */
  sent(): void {
    this.#withSocket = 0
  }

  /** Says that events went to the socket past this queue, as they may while nothing is owed. */
  passed(events: number): void {
    this.#withSocket += events
  }

  /** A message, or as many events as there is room for; null when that is none and it need not be one. */
  #takeNext(room: number, isFirst: boolean): Buffer | null {
    const owed = this.#owed[this.#next]!
    if (owed.kind !== 'frames') {
      this.#next++
      if (owed.kind === 'hole') return this.#holeFrame(owed.hole)
      this.#messages--
      return owed.bytes
    }
    const { frames, at } = owed
    const start = startOf(frames, at)
    let end = isFirst ? at + 1 : at
    while (end < frames.ends.length && frames.ends[end]! - start <= room) end++
    if (end === at) return null
    this.#leave(owed, end)
    return frames.bytes.subarray(start, frames.ends[end - 1])
  }

  #leave(owed: Extract<Owed, { kind: 'frames' }>, end: number): void {
    const { frames } = owed
    const count = end - owed.at
    this.#events -= count
    this.#withSocket += count
    this.#bytes -= frames.ends[end - 1]! - startOf(frames, owed.at)
    owed.at = end
    if (end === frames.ends.length) this.#next++
  }

  #dropOldest({ events, bytes }: Room): void {
    const isOver = (): boolean =>
      this.#events > 0 && (this.#events + this.#withSocket > events || this.#bytes > bytes)
    for (let index = this.#next; isOver(); index++) {
      const owed = this.#owed[index]!
      if (owed.kind !== 'frames') continue
      const hole = this.#holeBefore(index)
      if (hole.isNew) index++
      while (owed.at < owed.frames.cursors.length && isOver()) this.#drop(owed, hole.hole)
      if (owed.at === owed.frames.cursors.length) this.#owed.splice(index--, 1)
    }
  }

  #holeBefore(index: number): { readonly hole: Hole; readonly isNew: boolean } {
    const before = this.#owed[index - 1]
    if (before?.kind === 'hole') return { hole: before.hole, isNew: false }
    const hole: Hole = { dropped: 0, from: Infinity, to: 0, channels: new Set() }
    this.#owed.splice(index, 0, { kind: 'hole', hole })
    return { hole, isNew: true }
  }

  #drop(owed: Extract<Owed, { kind: 'frames' }>, hole: Hole): void {
    const { frames, at } = owed
    const cursor = frames.cursors[at]!
    hole.dropped++
    hole.from = Math.min(hole.from, cursor - 1)
    hole.to = Math.max(hole.to, cursor)
    for (const channel of frames.channels) hole.channels.add(channel)
    this.#events--
    this.#dropped++
    this.#bytes -= frames.ends[at]! - startOf(frames, at)
    owed.at++
  }

  #forgetTaken(): void {
    if (this.#next === 0 || this.#next < this.#owed.length / 2) return
    this.#owed = this.#owed.slice(this.#next)
    this.#next = 0
  }
}
