import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { NodeError } from '../node/node-fault.ts'
import { withinNodeTime } from '../node/node-time.ts'
import type { Clock } from '../ports.ts'
import { ACCOUNTS_READ_MS, ACCOUNTS_WAIT_MS } from '../kernel/time-limits.ts'
import { FleetReadings, type FleetReadingsOptions, type OnFound } from './fleet-readings.ts'
import { ACCOUNTS_AT_ONCE } from './node-client.ts'
import { ReadingCache, type CachedReading, type Known } from './reading-cache.ts'
import { ReadingQueue, type ReadingRequest } from './reading-queue.ts'
import type { FleetReading } from './stored-readings.ts'

/** Timeout for reading a batch, in milliseconds, including a second node if the first one fails. */
export const READ_MS = ACCOUNTS_READ_MS
/** Pause of background reads after a failed read, in milliseconds, so that an unreachable node is not polled constantly. */
export const PAUSE_MS = 1_000
/** Maximum concurrent batches: half of the client's requests in flight, which leaves room for other reads. */
const BATCHES_MAX = 4

/**
 * Milliseconds after which a cached reading is compared with the stored one, if changes of other processes are not heard:
 * the time for which an answer is cached.
 */
export const CONFIRM_MS = 1_000

/** How the readings of a directory are shared with other processes. */
export type DirectorySharing<Subject, Reading> = Pick<
  FleetReadingsOptions<Subject, Reading>,
  'shared' | 'keyOf' | 'subjectOf' | 'readingOf' | 'isWanted'
>

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
  readonly read: FleetReadingsOptions<Subject, Reading>['read']
  /** Null if this process shares its readings with no other. */
  readonly sharing: DirectorySharing<Subject, Reading> | null
}

/**
 * Caches readings of subjects (mints, pools), and reads their accounts in batches.
 *
 * D1. A subject has at most one request in flight; further readers wait for its answer.
 * D2. Subjects that clients wait for are read before those of the background.
 * D3. A failed read leaves the cache unchanged. `read` then returns the cached reading with its age, and rejects if
 *     nothing is cached.
 * D4. The slot of a cached reading never falls, whichever process made the reading.
 */
export class AccountDirectory<Subject, Reading> {
  readonly #options: DirectoryOptions<Subject, Reading>
  readonly #clock: Clock
  readonly #cache: ReadingCache<Subject, Reading>
  readonly #fleet: FleetReadings<Subject, Reading> | null
  readonly #queue = new ReadingQueue<Subject, Reading>()
  readonly #closing = new AbortController()
  #batches = 0
  #isScheduled = false
  #pausedUntilMs = -Infinity
  /** Batches that failed. */
  failed = 0
  /** Why the newest batch failed; null if it succeeded. */
  protected lastFault: NodeError | null = null

  constructor(options: DirectoryOptions<Subject, Reading>) {
    this.#options = options
    this.#clock = options.clock
    const { clock, freshMs, read, sharing, bytesMax, bytesOf, onReading = () => undefined } = options
    this.#cache = new ReadingCache({ bytesMax, bytesOf, onReading })
    this.#fleet =
      sharing === null
        ? null
        : new FleetReadings({
            ...{ ...sharing, clock, freshMs, read },
            cached: () => this.#cache.subjects(),
            isCached: (subject) => this.#cache.has(this.#keyOf(subject)),
            take: (subject, reading) => void this.#accept(subject, reading)
          })
  }

  /** Readings that other processes made, that this one made for all, and that it made for itself alone. */
  get counts(): { readonly taken: number; readonly shared: number; readonly alone: number } {
    const { taken = 0, shared = 0, alone = 0 } = this.#fleet ?? {}
    return { taken, shared, alone }
  }

  get size(): number {
    return this.#cache.size
  }

  get bytes(): number {
    return this.#cache.bytes
  }

  /** Subjects that wait for a request. */
  get waiting(): number {
    return this.#queue.waiting
  }

  /** Background reads that were dropped because the queue was full. */
  get dropped(): number {
    return this.#queue.dropped
  }

  /** Whether a batch failed less than `PAUSE_MS` ago. */
  get isPaused(): boolean {
    return this.#clock.now() < this.#pausedUntilMs
  }

  /** Returns the cached reading of a subject at any age, without a request; null if it is not cached. */
  peek(subject: Subject): Known<Reading> | null {
    return this.#cache.get(this.#keyOf(subject))?.known ?? null
  }

  /**
   * Reads the readings of other processes, of any age, for subjects that are not cached. Waits for no node, never rejects.
   */
  async recall(subjects: readonly Subject[]): Promise<void> {
    if (this.#fleet === null) return
    await this.#fleet.recall(
      subjects.filter((subject) => !this.#isConfirmed(this.#cache.get(this.#keyOf(subject))))
    )
  }

  /**
   * Returns whether a reading that was peeked is still the newest of its subject. Costs next to nothing while no reading
   * changes.
   */
  untilReplaced(subject: Subject, known: Known<Reading> | null): () => boolean {
    return this.#cache.untilReplaced(this.#keyOf(subject), known)
  }

  /** Milliseconds for which an answer with cached readings may be repeated. A changed reading ends that time at once. */
  get repeatMs(): number {
    return this.#fleet === null || this.#fleet.notifies ? this.#options.refreshMs : CONFIRM_MS
  }

  /** Queues a background read of a subject if it is not cached, or not fresh. Never waits, never throws. */
  refresh(subject: Subject): void {
    const key = this.#keyOf(subject)
    const known = this.#cache.get(key)
    const now = this.#clock.now()
    if (known !== undefined && now - known.readMs < this.#options.refreshMs) return
    if (now < this.#pausedUntilMs || this.#queue.has(key) || this.#closing.signal.aborted) return
    if (this.#queue.addToBackground(subject, key)) this.#schedule()
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
    const cached = this.#cache.get(this.#keyOf(subject))
    if (cached === undefined || this.#clock.now() - cached.readMs >= this.#options.freshMs) return null
    return this.#isConfirmed(cached) ? cached.known : null
  }

  /** Tells whether no other process can have a newer reading that is not about to be heard. */
  #isConfirmed(cached: CachedReading<Subject, Reading> | undefined): boolean {
    if (cached === undefined) return false
    return this.#fleet === null || this.#fleet.notifies || this.#clock.now() - cached.confirmedMs < CONFIRM_MS
  }

  /** Ends the reads; pending ones reject with NodeError. */
  close(): void {
    this.#fleet?.close()
    this.#closing.abort(new NodeError('node', { kind: 'unreachable', detail: 'the process ends' }))
    for (const request of this.#queue.takeAll()) this.#reject(request, this.#closing.signal.reason)
  }

  /** Reads a subject before those of the background. Rejects with NodeError. */
  protected async urgently(subject: Subject): Promise<Known<Reading>> {
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason
    const known = this.#queue.addUrgent(subject, this.#keyOf(subject))
    this.#schedule()
    return known
  }

  async #freshOrRequested(subject: Subject, limitMs: number): Promise<Known<Reading>> {
    const fresh = this.fresh(subject)
    if (fresh !== null) return fresh
    try {
      return await withinNodeTime(this.#clock, limitMs, () => this.urgently(subject))
    } catch (error) {
      const known = this.peek(subject)
      if (known === null || !(error instanceof NodeError)) throw error
      return known
    }
  }

  #keyOf(subject: Subject): string {
    return pubkeyMapKey(this.#options.addressOf(subject))
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

  /** Takes the requests of the next batch. */
  #take(): ReadingRequest<Subject, Reading>[] {
    const { accountsOf } = this.#options
    return this.#queue.take(
      ({ subject, key }) => accountsOf(subject, this.#cache.get(key)?.known.reading ?? null),
      ACCOUNTS_AT_ONCE
    )
  }

  async #run(requests: readonly ReadingRequest<Subject, Reading>[]): Promise<void> {
    this.#batches++
    const end = new AbortController()
    const late = new NodeError('node', { kind: 'timeout', afterMs: READ_MS })
    const timer = this.#clock.setTimeout(() => end.abort(late), READ_MS)
    try {
      const signal = AbortSignal.any([end.signal, this.#closing.signal])
      const subjects = requests.map(({ subject }) => subject)
      await this.#read(subjects, signal, (at, reading) => this.#resolve(requests[at]!, reading))
      this.lastFault = null
    } catch (error) {
      this.failed++
      this.lastFault = error instanceof NodeError ? error : null
      this.#pausedUntilMs = this.#clock.now() + PAUSE_MS
      for (const request of requests) this.#reject(request, error)
    } finally {
      this.#clock.clearTimeout(timer)
      this.#batches--
      if (this.waiting > 0) this.#schedule()
    }
  }

  /** Reads subjects from other processes or from the node. */
  async #read(subjects: readonly Subject[], signal: AbortSignal, onFound: OnFound<Reading>): Promise<void> {
    if (this.#fleet !== null) return this.#fleet.read(subjects, signal, onFound)
    const readings = await this.#options.read(subjects, signal)
    const readAtMs = this.#clock.now()
    for (const [at, { reading, slot }] of readings.entries())
      onFound(at, { reading, slot, readAtMs, ageMs: 0 })
  }

  #resolve(request: ReadingRequest<Subject, Reading>, reading: FleetReading<Reading>): void {
    this.#queue.end(request)
    request.resolve(this.#accept(request.subject, reading))
  }

  /** Caches a reading, and returns the newest of its subject. */
  #accept(subject: Subject, reading: FleetReading<Reading>): Known<Reading> {
    return this.#cache.accept(this.#keyOf(subject), subject, reading, this.#clock.now())
  }

  #reject(request: ReadingRequest<Subject, Reading>, reason: unknown): void {
    this.#queue.end(request)
    request.reject(reason)
  }
}
