import { NodeError } from '../node/node-fault.ts'
import type { Known } from './reading-cache.ts'

/** Maximum subjects queued for clients, above which a read fails as busy: 50 requests with 100 subjects each. */
const URGENT_MAX = 5_000
/** Maximum subjects queued for background reads. Further ones are dropped, and requested again at their next use. */
const BACKGROUND_MAX = 1_000

/** A request for the reading of a subject, queued or in flight. */
export interface ReadingRequest<Subject, Reading> {
  readonly subject: Subject
  readonly key: string
  readonly known: Promise<Known<Reading>>
  readonly resolve: (known: Known<Reading>) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Requests for readings by key: those in flight, and those that wait for a batch (D1 and D2 in `account-directory.ts`).
 */
export class ReadingQueue<Subject, Reading> {
  /** Queued or in flight. */
  readonly #requests = new Map<string, ReadingRequest<Subject, Reading>>()
  readonly #urgent = new Map<string, ReadingRequest<Subject, Reading>>()
  readonly #background = new Map<string, ReadingRequest<Subject, Reading>>()
  /** Background requests that were dropped because the queue was full. */
  dropped = 0

  /** Number of queued requests. */
  get waiting(): number {
    return this.#urgent.size + this.#background.size
  }

  /** Returns whether a subject is queued or in flight. */
  has(key: string): boolean {
    return this.#requests.has(key)
  }

  /** Queues a subject, which `has` does not, for a background read; false if the queue is full. */
  addToBackground(subject: Subject, key: string): boolean {
    if (this.#background.size >= BACKGROUND_MAX) {
      this.dropped++
      return false
    }
    this.#background.set(key, this.#request(subject, key))
    return true
  }

  /** Queues a subject before those of the background, unless it is in flight or queued so. Throws NodeError if it is full. */
  addUrgent(subject: Subject, key: string): Promise<Known<Reading>> {
    const running = this.#requests.get(key)
    if (running !== undefined && !this.#background.has(key)) return running.known
    if (this.#urgent.size >= URGENT_MAX)
      throw new NodeError('node', { kind: 'busy', waiting: this.#urgent.size })
    const request = running ?? this.#request(subject, key)
    this.#background.delete(key)
    this.#urgent.set(key, request)
    return request.known
  }

  /**
   * Takes queued requests in their order, those of clients first: up to `accountsMax` accounts in all, and at least one request.
   * `accountsOf` returns the number of accounts of a request.
   */
  take(
    accountsOf: (request: ReadingRequest<Subject, Reading>) => number,
    accountsMax: number
  ): ReadingRequest<Subject, Reading>[] {
    const taken: ReadingRequest<Subject, Reading>[] = []
    let accounts = 0
    for (const queue of [this.#urgent, this.#background])
      for (const [key, request] of queue) {
        accounts += accountsOf(request)
        if (taken.length > 0 && accounts > accountsMax) return taken
        queue.delete(key)
        taken.push(request)
      }
    return taken
  }

  /** Takes all queued requests. */
  takeAll(): ReadingRequest<Subject, Reading>[] {
    const waiting = [...this.#urgent.values(), ...this.#background.values()]
    this.#urgent.clear()
    this.#background.clear()
    return waiting
  }

  /** Ends a request. Another one for the subject may have begun since its answer came. */
  end(request: ReadingRequest<Subject, Reading>): void {
    if (this.#requests.get(request.key) === request) this.#requests.delete(request.key)
  }

  #request(subject: Subject, key: string): ReadingRequest<Subject, Reading> {
    const { promise: known, resolve, reject } = Promise.withResolvers<Known<Reading>>()
    // Nobody waits for a background read.
    known.catch(() => undefined)
    const request = { subject, key, known, resolve, reject }
    this.#requests.set(key, request)
    return request
  }
}
