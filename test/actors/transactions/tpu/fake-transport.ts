import type { LeaderAddress } from '../../../../src/transactions/tpu/leader-node.ts'
import { QuicError, type QuicConnection, type QuicTransport } from '../../../../src/transactions/tpu/quic.ts'

interface FakeWrite {
  readonly bytes: Uint8Array
  readonly resolve: () => void
  readonly reject: (error: QuicError) => void
}

/** A connection that opens, writes and ends as a test says. */
export class FakeConnection implements QuicConnection {
  readonly address: LeaderAddress
  readonly writes: FakeWrite[] = []
  /** Number of writes that were answered. */
  answered = 0
  isClosed = false
  /** Whether writes resolve at once. */
  isPrompt = false
  readonly #opened = Promise.withResolvers<void>()
  readonly #closed = Promise.withResolvers<void>()

  constructor(address: LeaderAddress) {
    this.address = address
    this.#opened.promise.catch(() => undefined)
  }

  get opened(): Promise<void> {
    return this.#opened.promise
  }

  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Number of writes without an answer. */
  get inFlight(): number {
    return this.writes.length - this.answered
  }

  open(): void {
    this.#opened.resolve()
  }

  fail(error: QuicError): void {
    this.#opened.reject(error)
    this.close()
  }

  /** Answers the oldest write that has no answer. */
  answer(error: QuicError | null = null): void {
    const write = this.writes[this.answered++]!
    if (error === null) write.resolve()
    else write.reject(error)
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.isClosed) return Promise.reject(new QuicError('closed', 'closed'))
    return new Promise((resolve, reject) => {
      this.writes.push({ bytes, resolve, reject })
      if (this.isPrompt) this.answer()
    })
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#opened.reject(new QuicError('closed', 'closed'))
    while (this.inFlight > 0) this.answer(new QuicError('closed', 'closed'))
    this.#closed.resolve()
  }
}

export class FakeTransport implements QuicTransport {
  readonly connections: FakeConnection[] = []
  /** Whether connections open and write at once. */
  isPrompt = false
  readonly #ended = Promise.withResolvers<Error | null>()
  isClosed = false

  get ended(): Promise<Error | null> {
    return this.#ended.promise
  }

  /** Connections that are not closed. */
  get open(): readonly FakeConnection[] {
    return this.connections.filter(({ isClosed }) => !isClosed)
  }

  connect(address: LeaderAddress): QuicConnection {
    const connection = new FakeConnection(address)
    connection.isPrompt = this.isPrompt
    if (this.isPrompt) connection.open()
    this.connections.push(connection)
    return connection
  }

  /** Ends as the QUIC thread does with an uncaught error. */
  crash(error: Error): void {
    for (const connection of this.open) connection.close()
    this.#ended.resolve(error)
  }

  close(): Promise<void> {
    this.isClosed = true
    for (const connection of this.open) connection.close()
    this.#ended.resolve(null)
    return Promise.resolve()
  }
}
