import { READING_CLAIM_MS, type SharedReadings, type StoredReading } from '../../storage/port/readings.ts'
import { sleep, type Clock } from '../ports.ts'
import { writeSourceAccounts, type SourceAccount } from './source-accounts.ts'
import {
  pausesBetweenReadings,
  StoredReadings,
  type FleetReading,
  type StoredReadingsOptions
} from './stored-readings.ts'

/**
 * Milliseconds after which a claim of another process is looked at again, with notifications and without. With them, it
 * matters only if one was lost.
 */
const RETRY_MS = { notified: 500, polled: 100 }
/** Maximum milliseconds that an answer waits for stored readings it has no copy of: far above a round trip. */
const RECALL_MS = 100
/** Largest text of a shared reading, in characters: ten times that of any venue's pool. Each gateway reads larger ones. */
const TEXT_MAX = 64 * 1024

/** A reading as the node gives it; `sources` is null if it cannot be shared. */
export interface NodeReading<Reading> {
  readonly reading: Reading
  readonly slot: number
  readonly sources: readonly SourceAccount[] | null
}

/** How the readings of a kind of subject are shared. */
export interface FleetReadingsOptions<Subject, Reading> extends StoredReadingsOptions<Subject, Reading> {
  readonly clock: Clock
  /** Milliseconds for which a stored reading is not read again. */
  readonly freshMs: number
  readonly keyOf: (subject: Subject) => string
  /** Reads subjects from the node, in their order. */
  readonly read: (
    subjects: readonly Subject[],
    signal: AbortSignal
  ) => Promise<readonly NodeReading<Reading>[]>
  /** Returns the subjects of which a cached reading would be replaced. */
  readonly cached: () => Iterable<Subject>
  readonly isCached: (subject: Subject) => boolean
  /** Whether a reading of another process is taken although none is cached. */
  readonly isWanted?: (subject: Subject) => boolean
}

/** Called with the place of a subject in its batch, once its reading is known. */
export type OnFound<Reading> = (at: number, reading: FleetReading<Reading>) => void

/** A subject of a batch. */
interface Open<Subject> {
  readonly subject: Subject
  readonly key: string
  readonly at: number
}

/** A batch of subjects that are read together. */
interface Batch<Subject, Reading> {
  readonly signal: AbortSignal
  /** Subjects without a reading. */
  readonly open: Set<Open<Subject>>
  readonly onFound: OnFound<Reading>
}

/**
 * Readings that the processes of a fleet share: one reads, all serve the same.
 *
 * G1. A subject is read from the node by the process that claims it. Others wait for its reading. If that process dies, its
 *     claim ends after READING_CLAIM_MS, and another one reads.
 * G2. A reading replaces none of a newer slot, in no process. A node that lags changes nothing.
 * G3. While the readings cannot be shared, each process reads for itself.
 */
export class FleetReadings<Subject, Reading> {
  readonly #options: FleetReadingsOptions<Subject, Reading>
  readonly #stored: StoredReadings<Subject, Reading>
  readonly #unsubscribe: () => void
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #closed = new AbortController()
  /** Readings of other processes that were used. */
  taken = 0
  /** Subjects that this process read for all. */
  shared = 0
  /** Subjects that this process read for itself, because they could not be shared. */
  alone = 0

  constructor(options: FleetReadingsOptions<Subject, Reading>) {
    this.#options = options
    const take = (subject: Subject, reading: FleetReading<Reading>): void => {
      this.taken++
      options.take(subject, reading)
    }
    this.#stored = new StoredReadings({ ...options, take })
    this.#unsubscribe = options.shared.subscribe((keys) => void this.#hear(keys))
  }

  /** Whether changes by other processes are heard at once. */
  get notifies(): boolean {
    return this.#options.shared.available && this.#options.shared.notifies
  }

  get available(): boolean {
    return this.#options.shared.available
  }

  close(): void {
    this.#unsubscribe()
    this.#closed.abort()
  }

  /** Reads subjects, and gives each reading as soon as it is known; none is older than `freshMs`. Rejects like the node. */
  async read(subjects: readonly Subject[], signal: AbortSignal, onFound: OnFound<Reading>): Promise<void> {
    const { keyOf } = this.#options
    const open = new Set(subjects.map((subject, at) => ({ subject, key: keyOf(subject), at })))
    const batch = { signal, open, onFound }
    while (open.size > 0) {
      signal.throwIfAborted()
      const { claimed, elsewhere } = await this.#claim(batch)
      const [own] = await Promise.allSettled([this.#readOwn(claimed, batch), this.#await(elsewhere, signal)])
      if (own.status === 'rejected') throw own.reason
    }
  }

  /** Reads stored readings of subjects, of any age, from other processes. Waits a short time, never rejects. */
  async recall(subjects: readonly Subject[]): Promise<void> {
    if (!this.available || subjects.length === 0) return
    const end = new AbortController()
    await Promise.race([
      Promise.all(subjects.map((subject) => this.#stored.recall(this.#options.keyOf(subject)))),
      sleep(this.#options.clock, RECALL_MS, end.signal)
    ])
    end.abort()
  }

  /** Claims subjects. Those that are stored are found; without an answer, this process reads all of them. */
  async #claim(batch: Batch<Subject, Reading>) {
    const { shared, freshMs } = this.#options
    const open = [...batch.open]
    const elsewhere: Open<Subject>[] = []
    const claimed: Open<Subject>[] = []
    const claims = shared.available
      ? await shared.claim(open.map(({ key }) => ({ key, freshMs }))).catch(() => null)
      : null
    if (claims === null) return { claimed: open, elsewhere }
    const rest = pausesBetweenReadings()
    for (const [at, each] of open.entries()) {
      const { state, stored } = claims[at]!
      await rest(stored)
      if (state === 'elsewhere') elsewhere.push(each)
      else if (state === 'claimed' || !this.#takeFor(each, stored, batch)) claimed.push(each)
    }
    return { claimed, elsewhere }
  }

  /** Gives a stored reading; false if it cannot be used. */
  #takeFor(each: Open<Subject>, stored: StoredReading | null, batch: Batch<Subject, Reading>): boolean {
    const found = stored === null ? null : this.#stored.decoded(each.subject, stored)
    if (found === null) return false
    this.taken++
    batch.open.delete(each)
    batch.onFound(each.at, found)
    return true
  }

  /** Reads subjects from the node, and stores their readings. */
  async #readOwn(open: readonly Open<Subject>[], batch: Batch<Subject, Reading>): Promise<void> {
    if (open.length === 0) return
    const { clock, read } = this.#options
    let readings: readonly NodeReading<Reading>[]
    try {
      readings = await read(
        open.map(({ subject }) => subject),
        batch.signal
      )
    } catch (error) {
      this.#release(open)
      throw error
    }
    const readAtMs = Math.floor(clock.now())
    const newer = await this.#store(open, readings, readAtMs)
    for (const [at, each] of open.entries()) {
      if (this.#takeFor(each, newer.get(each) ?? null, batch)) continue
      const { reading, slot } = readings[at]!
      batch.open.delete(each)
      batch.onFound(each.at, { reading, slot, readAtMs, ageMs: 0 })
    }
  }

  /** Stores readings, and returns the stored ones that are of newer slots. Never rejects. */
  async #store(
    open: readonly Open<Subject>[],
    readings: readonly NodeReading<Reading>[],
    readAtMs: number
  ): Promise<ReadonlyMap<Open<Subject>, StoredReading | null>> {
    const { shared } = this.#options
    const written = open.flatMap((each, at) => {
      const { slot, sources } = readings[at]!
      const text = sources === null ? '' : writeSourceAccounts(sources)
      return text === '' || text.length > TEXT_MAX
        ? []
        : [{ each, row: { key: each.key, slot, readAtMs, text } }]
    })
    const lacking = open.filter((each) => !written.some((one) => one.each === each))
    if (lacking.length > 0) this.#release(lacking)
    const newer = shared.available ? await this.#put(written.map(({ row }) => row)) : null
    this.alone += newer === null ? open.length : lacking.length
    if (newer === null) return new Map()
    this.shared += written.length
    return new Map(written.map(({ each }, at) => [each, newer[at] ?? null]))
  }

  async #put(rows: Parameters<SharedReadings['put']>[0]): Promise<readonly (StoredReading | null)[] | null> {
    if (rows.length === 0) return []
    return this.#options.shared.put(rows).catch(() => null)
  }

  #release(open: readonly Open<Subject>[]): void {
    const { shared } = this.#options
    if (shared.available) shared.release(open.map(({ key }) => key)).catch(() => undefined)
  }

  /** Waits until another process has read subjects, or until their claims are to be looked at again. */
  async #await(open: readonly Open<Subject>[], signal: AbortSignal): Promise<void> {
    if (open.length === 0) return
    const end = new AbortController()
    const over = AbortSignal.any([signal, end.signal, this.#closed.signal])
    const heard = open.map(({ key }) => this.#heard(key, over))
    const waitMs = Math.min(this.notifies ? RETRY_MS.notified : RETRY_MS.polled, READING_CLAIM_MS)
    await Promise.race([Promise.all(heard), sleep(this.#options.clock, waitMs, over)])
    end.abort()
  }

  /** Resolves once a reading of the key is stored, or the signal aborts. */
  #heard(key: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(key) ?? new Set()
    this.#waiting.set(key, waiting.add(resolve))
    const leave = (): void => {
      waiting.delete(resolve)
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key)
      resolve()
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    return promise
  }

  /** Reads the readings that another process has stored, as far as they are used here. After a loss, all of them. */
  async #hear(keys: readonly string[] | null): Promise<void> {
    const { keyOf, subjectOf, cached, isCached, isWanted = () => false } = this.#options
    const used: string[] = []
    if (keys === null) for (const subject of cached()) used.push(keyOf(subject))
    for (const key of keys ?? []) {
      for (const resolve of this.#waiting.get(key) ?? []) resolve()
      const subject = subjectOf(key)
      if (subject !== null && (isCached(subject) || isWanted(subject))) used.push(key)
    }
    await this.#stored.takeAll(used, this.#closed.signal)
  }
}
