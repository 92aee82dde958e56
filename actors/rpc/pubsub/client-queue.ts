import {
  UNREAD_BYTES_MAX,
  UNREAD_BYTES_OF_ALL_MAX,
  UNREAD_NOTIFICATION_BYTES_MAX
} from '../../../src/rpc/pubsub/socket-limits.ts'
import type { ClientFrame } from '../../../src/rpc/pubsub/client-frame.ts'
import { CHUNK_BYTES } from '../../../src/stream/outbox.ts'
import type { Pipe } from '../../stream/pipe.ts'

/** The queues of all clients of a process: flushes those with new messages together, and bounds the bytes of all. */
export class ClientQueues {
  readonly #bytesMax: number
  readonly #waiting = new Set<ClientQueue>()
  #news: ClientQueue[] = []
  /** Bytes in the queues, without those in the sockets' buffers. */
  bytes = 0

  constructor(bytesMax = UNREAD_BYTES_OF_ALL_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Flushes a queue when everything of this turn is in it, so that it is one write. */
  hasNews(queue: ClientQueue): void {
    if (this.#news.push(queue) > 1) return
    queueMicrotask(() => {
      const news = this.#news
      this.#news = []
      for (const each of news) each.flush()
      if (this.bytes > this.#bytesMax) this.#closeLargest()
    })
  }

  changed(queue: ClientQueue, bytes: number): void {
    this.bytes += bytes
    if (queue.bytes > 0) this.#waiting.add(queue)
    else this.#waiting.delete(queue)
  }

  #closeLargest(): void {
    const bySize = [...this.#waiting].sort((a, b) => b.bytes - a.bytes)
    for (const queue of bySize) {
      if (this.bytes <= this.#bytesMax) return
      queue.overflow()
    }
  }
}

/**
 * The queue of answers and notifications for one client, in order. No message is ever dropped: a client that reads too
 * slowly is closed.
 */
export class ClientQueue {
  readonly #pipe: Pipe
  readonly #all: ClientQueues
  readonly #overflowed: () => void
  /** The first frame of this turn, and those after it: a list for each client would cost a tenth of a notification. */
  #first: ClientFrame | null = null
  #others: ClientFrame[] | null = null
  #queued: ClientFrame[] = []
  #next = 0
  #bytes = 0
  #notificationBytes = 0
  #isBlocked = false
  #isOver = false

  /** `overflowed` is called once, when the client has not read for too long; the queue is empty then. */
  constructor(pipe: Pipe, all: ClientQueues, overflowed: () => void) {
    this.#pipe = pipe
    this.#all = all
    this.#overflowed = overflowed
  }

  /** Queued bytes, without those in the socket's buffer. */
  get bytes(): number {
    return this.#bytes
  }

  push(frame: ClientFrame): void {
    if (this.#isOver) return
    if (this.#first === null) {
      this.#first = frame
      this.#all.hasNews(this)
    } else if (this.#others === null) this.#others = [frame]
    else this.#others.push(frame)
  }

  /** Writes what came in this turn as far as the socket takes it. */
  flush(): void {
    const first = this.#first
    const others = this.#others
    if (first === null) return
    this.#first = null
    const isIdle = !this.#isBlocked && this.#bytes === 0
    // The usual case: a notification to a client that reads.
    if (others === null && isIdle && first.size <= CHUNK_BYTES) {
      this.#isBlocked = !this.#pipe.write(first.pieces)
      return
    }
    this.#others = null
    const turn = others === null ? [first] : [first, ...others]
    if (isIdle && sizeOf(turn) <= CHUNK_BYTES) {
      this.#isBlocked = !this.#pipe.write(turn.flatMap(({ pieces }) => pieces))
      return
    }
    for (const each of turn) this.#add(each)
    this.#pump()
    if (this.#notificationBytes > UNREAD_NOTIFICATION_BYTES_MAX || this.#bytes > UNREAD_BYTES_MAX)
      this.overflow()
  }

  /** Continues the writes. To be called when the socket has sent everything that it was given. */
  drained(): void {
    this.#isBlocked = false
    this.#pump()
  }

  overflow(): void {
    if (this.#isOver) return
    this.end()
    this.#overflowed()
  }

  /** Drops everything; nothing is sent any more. */
  end(): void {
    this.#isOver = true
    this.#first = null
    this.#others = null
    this.#queued = []
    this.#next = 0
    this.#count(-this.#bytes)
  }

  #add(queued: ClientFrame): void {
    this.#queued.push(queued)
    if (queued.isNotification) this.#notificationBytes += queued.size
    this.#count(queued.size)
  }

  #pump(): void {
    while (!this.#isBlocked && this.#next < this.#queued.length) {
      const chunk: Buffer[] = []
      let size = 0
      while (this.#next < this.#queued.length && size < CHUNK_BYTES) {
        const queued = this.#queued[this.#next++]!
        chunk.push(...queued.pieces)
        size += queued.size
        if (queued.isNotification) this.#notificationBytes -= queued.size
      }
      this.#count(-size)
      this.#isBlocked = !this.#pipe.write(chunk)
    }
    if (this.#next > 0 && this.#next >= this.#queued.length / 2) {
      this.#queued = this.#queued.slice(this.#next)
      this.#next = 0
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#all.changed(this, bytes)
  }
}

const sizeOf = (list: readonly ClientFrame[]): number => list.reduce((sum, { size }) => sum + size, 0)
