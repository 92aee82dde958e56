import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { SecondChanceCache } from '../kernel/memory/second-chance-cache.ts'
import { NodeError } from '../node/node-fault.ts'
import { withinNodeTime } from '../node/node-time.ts'
import type { Clock } from '../ports.ts'
import { ACCOUNTS_READ_MS, ACCOUNTS_WAIT_MS } from '../kernel/time-limits.ts'
import { ACCOUNTS_AT_ONCE } from './node-client.ts'

/** Timeout for reading a batch, in milliseconds, including a second node if the first one fails. */
export const READ_MS = ACCOUNTS_READ_MS
/** Pause of background reads after a failed read, in milliseconds, so that an unreachable node is not polled constantly. */
export const PAUSE_MS = 1_000
/** Maximum concurrent batches: half of the client's requests in flight, which leaves room for other reads. */
const BATCHES_MAX = 4
/** Maximum subjects queued for clients, above which a read fails as busy: 50 requests with 100 subjects each. */
const URGENT_MAX = 5_000
/** Maximum subjects queued for background reads. Further ones are dropped, and requested again at their next use. */
const BACKGROUND_MAX = 1_000

/** A reading with its slot and time. */
export interface Known<Reading> {
  readonly reading: Reading
  /** The slot of the accounts, at confirmed. */
  readonly slot: number
  /** When the accounts were read, by the clock of the service. */
  readonly readAtMs: number
}

/** A reading as a node returns it. */
export type ReadAt<Reading> = Omit<Known<Reading>, 'readAtMs'>

/** The subjects of a directory, and how they are read. */
export interface DirectoryOptions<Subject, Reading> {
  readonly clock: Clock
  /** Limit of the cache. */
  readonly bytesMax: number
  /** Milliseconds for which a reading answers without a request. */
  readonly freshMs: number
  /** Milliseconds after which a peek at a reading starts a refresh. */
  readonly refreshMs: number
  /** The account under which a subject is cached. */
  readonly addressOf: (subject: Subject) => Pubkey
  /** Accounts needed to read a subject; a batch has at most 100. */
  readonly accountsOf: (subject: Subject, cached: Reading | null) => number
  /** Estimated bytes of a reading. */
  readonly bytesOf: (reading: Reading) => number
  /** Called with each reading that is cached. It must not throw. */
  readonly onReading?: (reading: Reading) => void
  /** Reads subjects in the order given. Rejects like the node. */
  readonly read: (subjects: readonly Subject[], signal: AbortSignal) => Promise<readonly ReadAt<Reading>[]>
}

interface Ask<Subject, Reading> {
  readonly subject: Subject
  readonly key: string
  readonly known: Promise<Known<Reading>>
  readonly resolve: (known: Known<Reading>) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Caches readings of subjects (mints, pools), and reads their accounts in batches.
 *
 * D1. A subject has at most one request in flight; further readers wait for its answer.
 * D2. Subjects that clients wait for are read before those of the background.
 * D3. A failed read leaves the cache unchanged. `read` then returns the cached reading with its age, and rejects if
 *     nothing is cached.
 */
export class AccountDirectory<Subject, Reading> {
  readonly #options: DirectoryOptions<Subject, Reading>
  readonly #clock: Clock
  readonly #cache: SecondChanceCache<Known<Reading>>
  /** Subjects that are queued or being read. */
  readonly #asks = new Map<string, Ask<Subject, Reading>>()
  readonly #urgent = new Map<string, Ask<Subject, Reading>>()
  readonly #background = new Map<string, Ask<Subject, Reading>>()
  readonly #closing = new AbortController()
  #batches = 0
  #isScheduled = false
  #pausedUntilMs = -Infinity
  /** Background reads that were dropped because the queue was full. */
  dropped = 0
  /** Batches that failed. */
  failed = 0
  /** Why the newest batch failed; null if it succeeded. */
  protected lastFault: NodeError | null = null

  constructor(options: DirectoryOptions<Subject, Reading>) {
    this.#options = options
    this.#clock = options.clock
    this.#cache = new SecondChanceCache(options.bytesMax)
  }

  get size(): number {
    return this.#cache.size
  }

  get bytes(): number {
    return this.#cache.bytes
  }

  /** Subjects that wait for a request. */
  get waiting(): number {
    return this.#urgent.size + this.#background.size
  }

  /** Whether a batch failed less than `PAUSE_MS` ago. */
  get isPaused(): boolean {
    return this.#clock.now() < this.#pausedUntilMs
  }

  /** Returns the cached reading of a subject at any age, without a request; null if it is not cached. */
  peek(subject: Subject): Known<Reading> | null {
    return this.#cache.get(this.#keyOf(subject)) ?? null
  }

  /** Queues a background read of a subject if it is not cached, or not fresh. Never waits, never throws. */
  refresh(subject: Subject): void {
    const key = this.#keyOf(subject)
    const known = this.#cache.get(key)
    const now = this.#clock.now()
    if (known !== undefined && now - known.readAtMs < this.#options.refreshMs) return
    if (now < this.#pausedUntilMs || this.#asks.has(key) || this.#closing.signal.aborted) return
    if (this.#background.size >= BACKGROUND_MAX) {
      this.dropped++
      return
    }
    this.#background.set(key, this.#ask(subject, key))
    this.#schedule()
  }

  /**
   * Returns the readings of subjects in the given order, each at most `freshMs` old. While the node fails, returns
   * cached readings of any age. Rejects with NodeError if nothing is cached. `limitMs` includes
   * the time in the queue.
   */
  async read(subjects: readonly Subject[], limitMs = ACCOUNTS_WAIT_MS): Promise<readonly Known<Reading>[]> {
    const readings = subjects.map((subject) => this.#freshOrRequested(subject, limitMs))
    return Promise.all(readings)
  }

  /** Returns the cached reading of a subject if it is fresh. */
  protected fresh(subject: Subject): Known<Reading> | null {
    const known = this.peek(subject)
    return known !== null && this.#clock.now() - known.readAtMs < this.#options.freshMs ? known : null
  }

  /** Ends the reads; pending ones reject with NodeError. */
  close(): void {
    this.#closing.abort(new NodeError('node', { kind: 'unreachable', detail: 'the process ends' }))
    const waiting = [...this.#urgent.values(), ...this.#background.values()]
    this.#urgent.clear()
    this.#background.clear()
    for (const ask of waiting) this.#reject(ask, this.#closing.signal.reason)
  }

  /** Reads a subject before those of the background. Rejects with NodeError. */
  protected async urgently(subject: Subject): Promise<Known<Reading>> {
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason
    const key = this.#keyOf(subject)
    const running = this.#asks.get(key)
    if (running !== undefined && !this.#background.has(key)) return running.known
    if (this.#urgent.size >= URGENT_MAX)
      throw new NodeError('node', { kind: 'busy', waiting: this.#urgent.size })
    const ask = running ?? this.#ask(subject, key)
    this.#background.delete(key)
    this.#urgent.set(key, ask)
    this.#schedule()
    return ask.known
  }

  async #freshOrRequested(subject: Subject, limitMs: number): Promise<Known<Reading>> {
    const fresh = this.fresh(subject)
    if (fresh !== null) return fresh
    const known = this.peek(subject)
    try {
      return await withinNodeTime(this.#clock, limitMs, () => this.urgently(subject))
    } catch (error) {
      if (known === null || !(error instanceof NodeError)) throw error
      return known
    }
  }

  #keyOf(subject: Subject): string {
    return pubkeyMapKey(this.#options.addressOf(subject))
  }

  #ask(subject: Subject, key: string): Ask<Subject, Reading> {
    const { promise: known, resolve, reject } = Promise.withResolvers<Known<Reading>>()
    // Nobody waits for a background read.
    known.catch(() => undefined)
    const ask = { subject, key, known, resolve, reject }
    this.#asks.set(key, ask)
    return ask
  }

  /** Starts batches after the requests of this turn of the event loop have added their subjects. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#batches < BATCHES_MAX && this.waiting > 0) void this.#run(this.#take())
    })
  }

  /** Takes the subjects of the next request, those of clients first; at least one. */
  #take(): Ask<Subject, Reading>[] {
    const { accountsOf } = this.#options
    const taken: Ask<Subject, Reading>[] = []
    let accounts = 0
    for (const queue of [this.#urgent, this.#background])
      for (const [key, ask] of queue) {
        accounts += accountsOf(ask.subject, this.#cache.get(key)?.reading ?? null)
        if (taken.length > 0 && accounts > ACCOUNTS_AT_ONCE) return taken
        queue.delete(key)
        taken.push(ask)
      }
    return taken
  }

  async #run(asks: readonly Ask<Subject, Reading>[]): Promise<void> {
    this.#batches++
    const end = new AbortController()
    const late = new NodeError('node', { kind: 'timeout', afterMs: READ_MS })
    const timer = this.#clock.setTimeout(() => end.abort(late), READ_MS)
    try {
      const signal = AbortSignal.any([end.signal, this.#closing.signal])
      const readings = await this.#options.read(
        asks.map(({ subject }) => subject),
        signal
      )
      this.lastFault = null
      const readAtMs = this.#clock.now()
      for (const [at, ask] of asks.entries()) this.#resolve(ask, { ...readings[at]!, readAtMs })
    } catch (error) {
      this.failed++
      this.lastFault = error instanceof NodeError ? error : null
      this.#pausedUntilMs = this.#clock.now() + PAUSE_MS
      for (const ask of asks) this.#reject(ask, error)
    } finally {
      this.#clock.clearTimeout(timer)
      this.#batches--
      if (this.waiting > 0) this.#schedule()
    }
  }

  #resolve(ask: Ask<Subject, Reading>, known: Known<Reading>): void {
    this.#asks.delete(ask.key)
    const cached = this.#cache.get(ask.key)
    // A node that lags behind the previous one has nothing newer.
    const newest = cached !== undefined && cached.slot > known.slot ? cached : known
    if (newest === known) {
      this.#cache.set(ask.key, known, this.#options.bytesOf(known.reading))
      this.#options.onReading?.(known.reading)
    }
    ask.resolve(newest)
  }

  #reject(ask: Ask<Subject, Reading>, reason: unknown): void {
    this.#asks.delete(ask.key)
    ask.reject(reason)
  }
}
