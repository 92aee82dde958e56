import { SecondChanceCache } from '../kernel/memory/second-chance-cache.ts'
import type { FleetReading } from './stored-readings.ts'

/** A reading with its slot and time. */
export interface Known<Reading> {
  readonly reading: Reading
  /** The slot of the accounts, at confirmed. */
  readonly slot: number
  /** When the accounts were read, by the clock of the process that read them. */
  readonly readAtMs: number
}

/** A cached reading, with times by the clock of this process. */
export interface CachedReading<Subject, Reading> {
  readonly subject: Subject
  readonly known: Known<Reading>
  /** When the accounts were read. It differs from `readAtMs` if the clock of the process that read them does. */
  readonly readMs: number
  /** When it was last known to be the newest reading of all processes. */
  confirmedMs: number
}

/** Limits and listener of a cache. */
interface ReadingCacheOptions<Reading> {
  readonly bytesMax: number
  /** Estimated bytes of a reading. */
  readonly bytesOf: (reading: Reading) => number
  /** Called with each reading that is cached. It must not throw. */
  readonly onReading: (reading: Reading) => void
}

/** Cached readings by key. The slot of a reading never falls, whichever process made it. */
export class ReadingCache<Subject, Reading> {
  readonly #options: ReadingCacheOptions<Reading>
  readonly #entries: SecondChanceCache<CachedReading<Subject, Reading>>
  /** Readings that were cached. */
  #changes = 0

  constructor(options: ReadingCacheOptions<Reading>) {
    this.#options = options
    this.#entries = new SecondChanceCache(options.bytesMax)
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#entries.bytes
  }

  get(key: string): CachedReading<Subject, Reading> | undefined {
    return this.#entries.get(key)
  }

  /** Tells whether a subject is cached, without marking it as used. */
  has(key: string): boolean {
    return this.#entries.peek(key) !== undefined
  }

  /** The subjects that are cached when the iteration begins. */
  *subjects(): Generator<Subject> {
    for (const key of [...this.#entries.keys()]) {
      const cached = this.#entries.peek(key)
      if (cached !== undefined) yield cached.subject
    }
  }

  /** Caches a reading, and returns the newest: a node that lags behind the previous one has nothing newer. */
  accept(
    key: string,
    subject: Subject,
    { reading, slot, readAtMs, ageMs }: FleetReading<Reading>,
    nowMs: number
  ): Known<Reading> {
    const cached = this.#entries.get(key)
    if (cached !== undefined && !isNewer({ slot, readAtMs }, cached.known)) {
      cached.confirmedMs = nowMs
      return cached.known
    }
    this.#changes++
    const known = { reading, slot, readAtMs }
    const entry = { subject, known, readMs: nowMs - ageMs, confirmedMs: nowMs }
    this.#entries.set(key, entry, this.#options.bytesOf(reading))
    this.#options.onReading(reading)
    return known
  }

  /**
   * Returns whether a reading is still the cached one. Costs next to nothing while no reading changes. Null stands for none.
   */
  untilReplaced(key: string, known: Known<Reading> | null): () => boolean {
    let changes = -1
    return () => {
      if (changes === this.#changes) return true
      if ((this.#entries.get(key)?.known ?? null) !== known) return false
      changes = this.#changes
      return true
    }
  }
}

/** Tells whether one reading replaces another: at one slot, that of another time does. */
const isNewer = (one: Omit<Known<unknown>, 'reading'>, other: Known<unknown>): boolean =>
  one.slot > other.slot || (one.slot === other.slot && one.readAtMs !== other.readAtMs)
