import type { Clock } from '../../../src/ports.ts'
import { FairQueue, OWN_TURN, type SendTurn } from '../../../src/transactions/fair-queue.ts'
import type { LeaderAddress } from '../../../src/transactions/tpu/leader-node.ts'
import type { CountOutcome, LeaderOutcome } from '../../../src/transactions/tpu/outcome.ts'
import { QuicError, type QuicConnection, type QuicTransport } from '../../../src/transactions/tpu/quic.ts'

/** Writes of one connection. The library fails for good at 128 to 148; a replacement opens well before. */
export const STREAMS_MAX = 96
const REPLACE_AT = 64
/** Writes in flight on one connection. With 8 all landed on Agave 4.2.1, with 64 none did, although each was written. */
export const IN_FLIGHT_MAX = 8
/**
 * Maximum transactions that wait for one leader: those of half a second at the rate of the busiest leaders. Beyond them a
 * repeat is dropped.
 */
export const WAITING_MAX = 256
/** Milliseconds from `send` to the end of the write; a leader has four slots, which are 1.6 s. */
export const WRITE_WITHIN_MS = 1_000
/** Milliseconds for a handshake. It took up to 320 ms on a busy machine; over the sea, another 300. */
export const CONNECT_WITHIN_MS = 2_000
/** Pause after a failed connection, in milliseconds. Agave takes eight new connections a minute from one address. */
export const RETRY_MS = 10_000
/** Milliseconds from the last write to the close: the library does not report when its bytes have arrived. */
export const LINGER_MS = 2_000

interface Opened {
  readonly connection: QuicConnection
  streams: number
  inFlight: number
}

interface Queued {
  readonly wire: Uint8Array
  /** The connection that it is being written to; null while it waits. */
  opened: Opened | null
  readonly done: (outcome: LeaderOutcome) => void
}

/**
 * The connection to one leader, and its successors. Nothing that waits here is lost: the operator's node has each
 * transaction too.
 */
export class LeaderLink {
  readonly address: LeaderAddress
  readonly #transport: QuicTransport
  readonly #clock: Clock
  readonly #count: CountOutcome
  #current: Opened | null = null
  #opening: QuicConnection | null = null
  readonly #waiting = new FairQueue<Queued>()
  /** Connections that get no more writes, and their timers. */
  readonly #lingering = new Map<QuicConnection, unknown>()
  #retryAtMs = -Infinity
  #isEnded = false

  constructor(address: LeaderAddress, transport: QuicTransport, clock: Clock, count: CountOutcome) {
    this.address = address
    this.#transport = transport
    this.#clock = clock
    this.#count = count
  }

  /** Number of connections, including those that are being opened or closed. */
  get connections(): number {
    return Number(this.#current !== null) + Number(this.#opening !== null) + this.#lingering.size
  }

  get isOpen(): boolean {
    return this.#current !== null
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Opens a connection unless the link has one. */
  open(): void {
    if (this.#isEnded || this.#opening !== null || this.#clock.now() < this.#retryAtMs) return
    if (this.#current === null || this.#current.streams >= REPLACE_AT) void this.#open()
  }

  /** Returns whether the transaction was written. Never rejects. */
  send(wire: Uint8Array, turn: SendTurn = OWN_TURN): Promise<boolean> {
    return new Promise((resolve) => {
      let isDone = false
      const timer = this.#clock.setTimeout(() => {
        done('late')
        // A write that does not end holds its place in flight, and so would those after it.
        if (queued.opened !== null) this.#replace(queued.opened)
      }, WRITE_WITHIN_MS)
      const done = (outcome: LeaderOutcome): void => {
        if (isDone) return
        isDone = true
        this.#clock.clearTimeout(timer)
        this.#waiting.delete(queued)
        this.#count(outcome)
        resolve(outcome === 'written')
      }
      const queued: Queued = { wire, opened: null, done }
      this.open()
      if (this.#isEnded) done('closed')
      else if (this.#current === null && this.#opening === null) done('unreachable')
      else {
        this.#waiting.push(queued, turn)
        this.#writeWaiting()
        if (this.#waiting.size > WAITING_MAX) this.#waiting.evict()?.done('queue_full')
      }
    })
  }

  /** Takes no further transaction, and closes its connections after their last bytes had time to arrive. */
  end(): void {
    this.#isEnded = true
    this.#opening?.close()
    this.#retire()
    this.#fail('late')
  }

  /** Closes all connections at once. */
  close(): void {
    this.end()
    for (const connection of [...this.#lingering.keys()]) this.#drop(connection)
  }

  async #open(): Promise<void> {
    const connection = this.#transport.connect(this.address)
    this.#opening = connection
    let isLate = false
    const timer = this.#clock.setTimeout(() => {
      isLate = true
      connection.close()
      failed('timeout')
    }, CONNECT_WITHIN_MS)
    const failed = (reason: LeaderOutcome): void => {
      if (this.#opening !== connection) return
      this.#opening = null
      if (this.#isEnded) return
      this.#retryAtMs = this.#clock.now() + RETRY_MS
      if (this.#current === null || this.#current.streams >= STREAMS_MAX) this.#fail(reason)
    }
    try {
      await connection.opened
    } catch (error) {
      return failed(isLate ? 'timeout' : reasonOf(error))
    } finally {
      this.#clock.clearTimeout(timer)
    }
    if (this.#opening !== connection) return connection.close()
    this.#opening = null
    this.#retire()
    const opened: Opened = { connection, streams: 0, inFlight: 0 }
    this.#current = opened
    void connection.closed.then(() => {
      this.#drop(connection)
      if (this.#current !== opened) return
      this.#current = null
      this.#next()
    })
    this.#writeWaiting()
  }

  #writeWaiting(): void {
    for (;;) {
      const current = this.#current
      if (current === null || current.inFlight >= IN_FLIGHT_MAX || current.streams >= STREAMS_MAX) break
      const queued = this.#waiting.take()
      if (queued === undefined) break
      void this.#write(current, queued)
    }
    if ((this.#current?.streams ?? 0) >= REPLACE_AT) this.#next()
  }

  async #write(opened: Opened, queued: Queued): Promise<void> {
    queued.opened = opened
    opened.streams++
    opened.inFlight++
    try {
      await opened.connection.write(queued.wire)
      queued.done('written')
    } catch (error) {
      queued.done(reasonOf(error))
      // A connection that has refused a stream refuses the next one too.
      this.#replace(opened)
    }
    opened.inFlight--
    this.#writeWaiting()
  }

  #replace(opened: Opened): void {
    if (this.#current !== opened) return
    this.#retire()
    this.#next()
  }

  /** Opens the next connection. Fails the waiting transactions if no connection is usable or may be opened yet. */
  #next(): void {
    this.open()
    const isUsed = this.#current === null || this.#current.streams >= STREAMS_MAX
    if (isUsed && this.#opening === null) this.#fail('unreachable')
  }

  #fail(reason: LeaderOutcome): void {
    for (let queued = this.#waiting.take(); queued !== undefined; queued = this.#waiting.take())
      queued.done(reason)
  }

  /** Ends the use of the current connection. */
  #retire(): void {
    if (this.#current === null) return
    const { connection } = this.#current
    this.#current = null
    this.#lingering.set(
      connection,
      this.#clock.setTimeout(() => this.#drop(connection), LINGER_MS)
    )
  }

  #drop(connection: QuicConnection): void {
    this.#clock.clearTimeout(this.#lingering.get(connection))
    this.#lingering.delete(connection)
    connection.close()
  }
}

const reasonOf = (error: unknown): LeaderOutcome => (error instanceof QuicError ? error.reason : 'failed')
