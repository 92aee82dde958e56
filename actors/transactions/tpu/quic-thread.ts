import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { TlsIdentity } from '../../../src/transactions/tpu/certificate.ts'
import type { LeaderAddress } from '../../../src/transactions/tpu/leader-node.ts'
import { QuicError, type QuicConnection, type QuicTransport } from '../../../src/transactions/tpu/quic.ts'
import type { QuicReport, QuicRequest } from './quic-messages.ts'

/** The QUIC library cannot be loaded on this machine. A retry does not help. */
export class QuicUnavailable extends Error {}

/** Milliseconds for connections to tell their leaders that they close, which otherwise count them for another minute. */
const CLOSE_MS = 300

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: QuicError) => void
}

interface OpenConnection {
  readonly opened: Waiting
  readonly closed: PromiseWithResolvers<void>
  /** Ids of writes without an answer. */
  readonly writes: Set<number>
}

/** A thread with the QUIC library, and its connections. The end of the thread ends them all, and nothing else. */
export class QuicThread implements QuicTransport {
  readonly #worker: Worker
  readonly #connections = new Map<number, OpenConnection>()
  readonly #writes = new Map<number, Waiting>()
  /** Resolves at the end of the thread, with the error that ended it; never rejects. */
  readonly ended: Promise<Error | null>
  #isOver = false
  #id = 0

  private constructor(worker: Worker) {
    this.#worker = worker
    let failure: Error | null = null
    worker.on('error', (error: Error) => void (failure = error))
    this.ended = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#end(failure)
        resolve(failure)
      })
    })
  }

  /**
   * Starts a thread that presents an identity to leaders.
   *
   * @throws QuicUnavailable if the library cannot be loaded; any other error of the thread's start
   */
  static async start(identity: TlsIdentity): Promise<QuicThread> {
    const worker = new Worker(new URL('./quic-worker.ts', import.meta.url), {
      workerData: identity,
      // Flags of tests and loaders concern the main thread.
      execArgv: []
    })
    const thread = new QuicThread(worker)
    const report = await Promise.race([
      new Promise<QuicReport>((resolve) => worker.once('message', resolve)),
      thread.ended.then((error) => {
        throw error ?? new Error('the QUIC thread ended at its start')
      })
    ])
    if (report.kind === 'unavailable') {
      await thread.close()
      throw new QuicUnavailable(report.detail)
    }
    worker.on('message', (report: QuicReport) => thread.#take(report))
    return thread
  }

  connect({ host, port }: LeaderAddress): QuicConnection {
    const id = ++this.#id
    const opened = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    // Its rejection is an answer, even to a caller that uses only `closed`.
    opened.promise.catch(() => undefined)
    if (this.#isOver) {
      opened.reject(ended())
      closed.resolve()
    } else {
      this.#connections.set(id, { opened, closed, writes: new Set() })
      this.#request({ kind: 'connect', connection: id, host, port })
    }
    return {
      opened: opened.promise,
      closed: closed.promise,
      write: (bytes) => this.#write(id, bytes),
      close: () => this.#close(id)
    }
  }

  /** Closes all connections, and ends the thread. */
  async close(): Promise<void> {
    const open = [...this.#connections]
    for (const [id] of open) this.#close(id)
    if (open.length > 0)
      await Promise.race([Promise.all(open.map(([, { closed }]) => closed.promise)), delay(CLOSE_MS)])
    await this.#worker.terminate()
    await this.ended
  }

  #write(connection: number, bytes: Uint8Array): Promise<void> {
    const open = this.#connections.get(connection)
    if (open === undefined) return Promise.reject(ended())
    const write = ++this.#id
    open.writes.add(write)
    return new Promise<void>((resolve, reject) => {
      this.#writes.set(write, { resolve, reject })
      this.#request({ kind: 'write', connection, write, bytes })
    }).finally(() => open.writes.delete(write))
  }

  #close(connection: number): void {
    if (this.#connections.has(connection)) this.#request({ kind: 'close', connection })
  }

  #take(report: QuicReport): void {
    if (report.kind === 'opened') this.#connections.get(report.connection)?.opened.resolve()
    else if (report.kind === 'closed')
      this.#closed(report.connection, new QuicError(report.reason, report.detail))
    else if (report.kind === 'written') this.#settle(report.write, null)
    else if (report.kind === 'unwritten')
      this.#settle(report.write, new QuicError(report.reason, report.detail))
  }

  #closed(id: number, error: QuicError): void {
    const connection = this.#connections.get(id)
    if (connection === undefined) return
    this.#connections.delete(id)
    connection.opened.reject(error)
    for (const write of connection.writes) this.#settle(write, error)
    connection.closed.resolve()
  }

  #settle(id: number, error: QuicError | null): void {
    const write = this.#writes.get(id)
    this.#writes.delete(id)
    if (error === null) write?.resolve()
    else write?.reject(error)
  }

  #end(failure: Error | null): void {
    this.#isOver = true
    const error = new QuicError('failed', failure?.message ?? 'the QUIC thread has ended')
    for (const id of [...this.#connections.keys()]) this.#closed(id, error)
  }

  #request(request: QuicRequest): void {
    this.#worker.postMessage(request)
  }
}

const ended = (): QuicError => new QuicError('closed', 'the connection has ended')
