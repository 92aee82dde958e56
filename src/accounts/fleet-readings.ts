import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { READING_CLAIM_MS, type SharedReadings, type StoredReading } from '../../storage/port/readings.ts'
import { sleep, type Clock } from '../ports.ts'
import { readSourceAccounts, writeSourceAccounts, type SourceAccount } from './source-accounts.ts'

/**
 * Milliseconds after which a claim of another process is looked at again, with notifications and without. With them, it
 * matters only if one was lost.
 */
const RETRY_MS = { notified: 500, polled: 100 }
/** Maximum milliseconds that an answer waits for stored readings it has no copy of: far above a round trip. */
const RECALL_MS = 100
/** Largest text of a shared reading, in characters: ten times that of any venue's pool. Each gateway reads larger ones. */
const TEXT_MAX = 64 * 1024
/** Stored readings that are read at once: 6 MB if all are of the largest size. */
const KEYS_AT_ONCE = 100
/** Characters of stored readings that are decoded without a pause: less than a millisecond. */
const SLICE_CHARACTERS = 64 * 1024

/** A reading as the node gives it; `sources` is null if it cannot be shared. */
export interface NodeReading<Reading> {
  readonly reading: Reading
  readonly slot: number
  readonly sources: readonly SourceAccount[] | null
}

/** A reading that this process or another one made. */
export interface FleetReading<Reading> {
  readonly reading: Reading
  readonly slot: number
  /** By the clock of the process that made it, in Unix milliseconds. */
  readonly readAtMs: number
  /** Milliseconds since it was stored. */
  readonly ageMs: number
}

/** How the readings of a kind of subject are shared. */
export interface FleetReadingsOptions<Subject, Reading> {
  readonly clock: Clock
  readonly shared: SharedReadings
  /** Milliseconds for which a stored reading is not read again. */
  readonly freshMs: number
  readonly keyOf: (subject: Subject) => string
  /** Returns the subject of a key; null for a key of another kind. */
  readonly subjectOf: (key: string) => Subject | null
  /** Returns the reading of a subject from its accounts; null if it needs others. */
  readonly readingOf: (subject: Subject, sources: readonly SourceAccount[]) => Reading | null
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
  /** Takes a reading of another process. */
  readonly take: (subject: Subject, reading: FleetReading<Reading>) => void
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
  readonly #unsubscribe: () => void
  readonly #waiting = new Map<string, Set<() => void>>()
  /** Keys of stored readings that are to be read with the next request. */
  #recalled: { readonly keys: Set<string>; readonly done: Promise<void> } | null = null
  readonly #closed = new AbortController()
  /** Readings of other processes that were used. */
  taken = 0
  /** Subjects that this process read for all. */
  shared = 0
  /** Subjects that this process read for itself, because they could not be shared. */
  alone = 0

  constructor(options: FleetReadingsOptions<Subject, Reading>) {
    this.#options = options
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
      Promise.all(subjects.map((subject) => this.#gathered(this.#options.keyOf(subject)))),
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
    const rest = sliced()
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
    const found = stored === null ? null : this.#decoded(each.subject, stored)
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
    for (let at = 0; at < used.length && !this.#closed.signal.aborted; at += KEYS_AT_ONCE)
      await this.#takeStored(used.slice(at, at + KEYS_AT_ONCE))
  }

  /** Has a key read with those of the same turn of the event loop. */
  #gathered(key: string): Promise<void> {
    if (this.#recalled === null) {
      const keys = new Set<string>()
      const done = Promise.resolve().then(async () => {
        this.#recalled = null
        const all = [...keys]
        for (let at = 0; at < all.length; at += KEYS_AT_ONCE)
          await this.#takeStored(all.slice(at, at + KEYS_AT_ONCE))
      })
      this.#recalled = { keys, done }
    }
    this.#recalled.keys.add(key)
    return this.#recalled.done
  }

  /** Takes stored readings. Never rejects: the accounts are then read when they are needed. */
  async #takeStored(keys: readonly string[]): Promise<void> {
    const { shared, subjectOf, take } = this.#options
    if (!shared.available) return
    const stored = await shared.read(keys).catch(() => [])
    const rest = sliced()
    for (const [at, each] of stored.entries()) {
      await rest(each)
      const subject = subjectOf(keys[at]!)
      const found = each === null || subject === null ? null : this.#decoded(subject, each)
      if (subject === null || found === null) continue
      this.taken++
      take(subject, found)
    }
  }

  #decoded(subject: Subject, { text, slot, readAtMs, ageMs }: StoredReading): FleetReading<Reading> | null {
    const sources = readSourceAccounts(text)
    const reading = sources === null ? null : this.#options.readingOf(subject, sources)
    return reading === null ? null : { reading, slot, readAtMs, ageMs }
  }
}

/** Returns a function that is called before each reading is decoded, and pauses after SLICE_CHARACTERS. */
function sliced(): (next: StoredReading | null) => Promise<void> | void {
  let characters = 0
  return (next) => {
    characters += next?.text.length ?? 0
    if (characters <= SLICE_CHARACTERS) return
    characters = 0
    return yieldToEventLoop()
  }
}
