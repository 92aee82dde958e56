import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { SharedReadings, StoredReading } from '../../storage/port/readings.ts'
import { readSourceAccounts, type SourceAccount } from './source-accounts.ts'

/** Stored readings that are read at once: 6 MB if all are of the largest size. */
const KEYS_AT_ONCE = 100
/** Characters of stored readings that are decoded without a pause: less than a millisecond. */
const SLICE_CHARACTERS = 64 * 1024

/** A reading that this process or another one made. */
export interface FleetReading<Reading> {
  readonly reading: Reading
  readonly slot: number
  /** By the clock of the process that made it, in Unix milliseconds. */
  readonly readAtMs: number
  /** Milliseconds since it was stored. */
  readonly ageMs: number
}

/** How stored readings are read and used. */
export interface StoredReadingsOptions<Subject, Reading> {
  readonly shared: SharedReadings
  /** Returns the subject of a key; null for a key of another kind. */
  readonly subjectOf: (key: string) => Subject | null
  /** Returns the reading of a subject from its accounts; null if it needs others. */
  readonly readingOf: (subject: Subject, sources: readonly SourceAccount[]) => Reading | null
  /** Takes a reading of another process. */
  readonly take: (subject: Subject, reading: FleetReading<Reading>) => void
}

/** Readings that the processes of a fleet have stored. */
export class StoredReadings<Subject, Reading> {
  readonly #options: StoredReadingsOptions<Subject, Reading>
  /** Keys that are to be read with the next request. */
  #recalled: { readonly keys: Set<string>; readonly done: Promise<void> } | null = null

  constructor(options: StoredReadingsOptions<Subject, Reading>) {
    this.#options = options
  }

  /** Returns a stored reading of a subject; null if it needs other accounts. */
  decoded(subject: Subject, { text, slot, readAtMs, ageMs }: StoredReading): FleetReading<Reading> | null {
    const sources = readSourceAccounts(text)
    const reading = sources === null ? null : this.#options.readingOf(subject, sources)
    return reading === null ? null : { reading, slot, readAtMs, ageMs }
  }

  /** Reads the readings of keys, and hands each over (`take`). Never rejects: the accounts are then read when they are needed. */
  async takeAll(keys: readonly string[], end: AbortSignal | null = null): Promise<void> {
    for (let at = 0; at < keys.length && end?.aborted !== true; at += KEYS_AT_ONCE)
      await this.#take(keys.slice(at, at + KEYS_AT_ONCE))
  }

  /** As `takeAll` for one key, which is read with those of the same turn of the event loop. */
  recall(key: string): Promise<void> {
    if (this.#recalled === null) {
      const keys = new Set<string>()
      const done = Promise.resolve().then(async () => {
        this.#recalled = null
        await this.takeAll([...keys])
      })
      this.#recalled = { keys, done }
    }
    this.#recalled.keys.add(key)
    return this.#recalled.done
  }

  async #take(keys: readonly string[]): Promise<void> {
    const { shared, subjectOf, take } = this.#options
    if (!shared.available) return
    const stored = await shared.read(keys).catch(() => [])
    const rest = pausesBetweenReadings()
    for (const [at, each] of stored.entries()) {
      await rest(each)
      const subject = subjectOf(keys[at]!)
      const found = each === null || subject === null ? null : this.decoded(subject, each)
      if (subject !== null && found !== null) take(subject, found)
    }
  }
}

/** Returns a function that is called before each reading is decoded, and pauses after SLICE_CHARACTERS. */
export function pausesBetweenReadings(): (next: StoredReading | null) => Promise<void> | void {
  let characters = 0
  return (next) => {
    characters += next?.text.length ?? 0
    if (characters <= SLICE_CHARACTERS) return
    characters = 0
    return yieldToEventLoop()
  }
}
