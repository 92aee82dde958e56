import { mergedFrames, messageFrame, sliceOf, type Frames } from '../../src/stream/frames.ts'
import { eventsDropped } from '../../src/stream/messages.ts'
import { CHUNK_BYTES, Outbox, type Room } from '../../src/stream/outbox.ts'
import type { Pipe } from './pipe.ts'

/**
 * A large block is added to the outbox in this many slices of its room. Bytes that the socket accepts at once do not wait
 * there.
 */
const PARTS_OF_ROOM = 8
/** Maximum unread answers. A client that reads none of a thousand answers has stopped reading. */
const MESSAGES_MAX = 1_000

/** Callbacks on the state of the queue. */
export interface SenderEvents {
  /** The outbox has begun to drop events. */
  readonly overflowed: () => void
  /** The outbox is empty again after an overflow. */
  readonly emptied: () => void
  /** More than `MESSAGES_MAX` answers wait: the client does not read them. */
  readonly unread: () => void
}

/** Writes a connection's events and messages to its socket as the socket takes them; the rest waits in the outbox. */
export class Sender {
  readonly #pipe: Pipe
  readonly #room: Room
  readonly #outbox = new Outbox((hole) => messageFrame(eventsDropped(hole)))
  readonly #callbacks: SenderEvents
  #isBlocked = false
  #isOverflowing = false
  #waiting: (() => void)[] = []
  #events = 0

  constructor(pipe: Pipe, room: Room, callbacks: SenderEvents) {
    this.#pipe = pipe
    this.#room = room
    this.#callbacks = callbacks
  }

  /** Events queued now. `dropped` and `events` count since the sender was made. */
  get owed(): number {
    return this.#outbox.events
  }

  get dropped(): number {
    return this.#outbox.dropped
  }

  get events(): number {
    return this.#events
  }

  /** Whether nothing is queued and the socket has sent everything. */
  get isSent(): boolean {
    return this.#isIdle && this.#pipe.isSent
  }

  /** Sends the events of several channels, merged in cursor order, in one write where the socket takes it. */
  give(parts: readonly Frames[]): void {
    const frames = mergedFrames(parts)
    const { length } = frames.cursors
    this.#events += length
    if (this.#pipe.isSent) this.#outbox.sent()
    if (this.#isIdle && frames.bytes.length <= CHUNK_BYTES) {
      this.#outbox.passed(length)
      this.#isBlocked = !this.#pipe.write([frames.bytes])
      return
    }
    const part = Math.ceil(this.#room.events / PARTS_OF_ROOM)
    for (let from = 0; from < length; from += part) {
      if (this.#outbox.add(sliceOf(frames, from, from + part), this.#room) > 0) this.#overflow()
      this.#pump()
    }
  }

  message(message: object): void {
    const frame = messageFrame(message)
    if (this.#isIdle) this.#isBlocked = !this.#pipe.write([frame])
    else if (this.#outbox.message(frame) > MESSAGES_MAX) this.#callbacks.unread()
  }

  /** To be called when the socket has sent everything that it was given. */
  drained(): void {
    this.#isBlocked = false
    this.#pump()
  }

  /** Resolves when nothing is queued and the socket takes more, or when the connection ends. */
  room(): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Wakes all callers that wait for room. */
  end(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  get #isIdle(): boolean {
    return !this.#isBlocked && this.#outbox.isEmpty
  }

  #pump(): void {
    if (this.#pipe.isSent) this.#outbox.sent()
    while (!this.#isBlocked && !this.#outbox.isEmpty) this.#isBlocked = !this.#pipe.write(this.#outbox.take())
    if (this.#isOverflowing && this.#outbox.isEmpty) {
      this.#isOverflowing = false
      this.#callbacks.emptied()
    }
    if (this.#isIdle) this.end()
  }

  /** Reports an overflow once; a full queue drops events at each block. */
  #overflow(): void {
    if (this.#isOverflowing) return
    this.#isOverflowing = true
    this.#callbacks.overflowed()
  }
}
