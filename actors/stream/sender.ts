import { mergedFrames, messageFrame, sliceOf, type Frames } from '../../src/stream/frames.ts'
import { eventsDropped } from '../../src/stream/messages.ts'
import { CHUNK_BYTES, Outbox, type Room } from '../../src/stream/outbox.ts'
import type { Pipe } from './pipe.ts'

/** A large block is given to the outbox in so many parts of its room, and what the socket takes of them does not wait there. */
const PARTS_OF_ROOM = 8
/** Messages that a client may leave unread. Chosen. */
const MESSAGES_MAX = 1_000

/** Hears what becomes of what is owed. */
export interface SenderEvents {
  /** Events are dropped from now on. */
  readonly overflowed: () => void
  /** Nothing is owed any more, after some were. */
  readonly emptied: () => void
  /** More messages are owed than may be: the client does not read its answers. */
  readonly unread: () => void
}

/**
 * Writes what a connection is owed to its socket as the socket takes it; the rest waits in the outbox.
 */
export class Sender {
  readonly #pipe: Pipe
  readonly #room: Room
  readonly #outbox = new Outbox((hole) => messageFrame(eventsDropped(hole)))
  readonly #heard: SenderEvents
  #isBlocked = false
  #isOverflowing = false
  #waiting: (() => void)[] = []
  #events = 0

  constructor(pipe: Pipe, room: Room, heard: SenderEvents) {
    this.#pipe = pipe
    this.#room = room
    this.#heard = heard
  }

  /** Events that are owed, that were dropped, and all that were given since it was made. */
  get owed(): number {
    return this.#outbox.events
  }

  get dropped(): number {
    return this.#outbox.dropped
  }

  get events(): number {
    return this.#events
  }

  /** Whether nothing is owed, and all that the socket was given has been sent. */
  get isSent(): boolean {
    return this.#isIdle && this.#pipe.isSent
  }

  /** Sends events of several channels, in one order, in one write where the socket takes it. */
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
    else if (this.#outbox.message(frame) > MESSAGES_MAX) this.#heard.unread()
  }

  /** The socket has sent all that it was given. */
  drained(): void {
    this.#isBlocked = false
    this.#pump()
  }

  /** Resolves when nothing is owed and the socket takes more, or at the end. */
  room(): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Whoever waits for room need not wait any longer. */
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
      this.#heard.emptied()
    }
    if (this.#isIdle) this.end()
  }

  /** A full queue drops events at each block: it is said once. */
  #overflow(): void {
    if (this.#isOverflowing) return
    this.#isOverflowing = true
    this.#heard.overflowed()
  }
}
