import type { Clock } from '../../ports.ts'
import { SingleFlight } from '../work/single-flight.ts'
import { ENTRY_BYTES, SecondChanceCache } from './second-chance-cache.ts'

/** A value, and how it is cached. */
export interface Timed<T> {
  readonly value: T
  /** By the cache's clock; from this time on the value is not served. Default: never. A passed time: not cached. */
  readonly endsAtMs?: number
  /** Estimated bytes of the value and its key. Default: none, for a cache that is limited by entries. */
  readonly bytes?: number
}

/** The limit of a cache: entries, or estimated bytes. */
export type CacheLimit = { readonly entriesMax: number } | { readonly bytesMax: number }

interface Entry<T> {
  readonly value: T
  /** Null for no end, which is compared faster than a number. */
  readonly endsAtMs: number | null
}

/**
 * A second-chance cache whose values end at a time, and are loaded once at a time.
 *
 * T1. `get` and `load` return a value only before its end. It stays in memory after its end, for `atAnyAge`.
 * T2. A key has at most one load in flight; its callers share the outcome.
 * T3. A load that rejects changes nothing. A failure is cached if the loader returns it as a value with an end.
 */
export class TimedCache<T extends NonNullable<unknown> | null> {
  readonly #clock: Pick<Clock, 'now'>
  readonly #entries: SecondChanceCache<Entry<T>>
  readonly #flights = new SingleFlight<T>()

  /** `onEvict` is called with each value that is evicted for another one. It must not use the cache. */
  constructor(clock: Pick<Clock, 'now'>, limit: CacheLimit, onEvict: (value: T) => void = () => undefined) {
    this.#clock = clock
    this.#entries = new SecondChanceCache(
      'bytesMax' in limit ? limit.bytesMax : limit.entriesMax * ENTRY_BYTES,
      (_key, { value }) => onEvict(value)
    )
  }

  /** Entries, including those that have ended. */
  get size(): number {
    return this.#entries.size
  }

  /** Estimated bytes in use; never above the limit. */
  get bytes(): number {
    return this.#entries.bytes
  }

  /** Loads in flight. */
  get inFlight(): number {
    return this.#flights.size
  }

  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** Returns the value of a key and marks it as used; undefined if it is not cached, or has ended. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || !this.#isBefore(entry.endsAtMs)) return undefined
    return entry.value
  }

  /** Returns the value of a key, even after its end, and marks it as used; undefined if it is not cached. */
  atAnyAge(key: string): T | undefined {
    return this.#entries.get(key)?.value
  }

  /** Caches a value and evicts others until the cache is within its limit. */
  set(key: string, { value, endsAtMs: endMs = Infinity, bytes = 0 }: Timed<T>): void {
    const endsAtMs = endMs === Infinity ? null : endMs
    if (this.#isBefore(endsAtMs)) this.#entries.set(key, { value, endsAtMs }, bytes)
  }

  /** Updates the bytes of a value that has grown, and evicts like `set`. */
  weigh(key: string, bytes: number): void {
    this.#entries.weigh(key, bytes)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Returns the value of a key. If it is not cached, joins its load in flight, or starts one. Rejects like `load`. */
  load(key: string, load: () => Promise<Timed<T>>): Promise<T> {
    const cached = this.get(key)
    if (cached !== undefined) return Promise.resolve(cached)
    return this.#flights.run(key, async () => {
      const loaded = await load()
      this.set(key, loaded)
      return loaded.value
    })
  }

  /** Returns the load of a key in flight; undefined if the key is not being loaded. */
  loading(key: string): Promise<T> | undefined {
    return this.#flights.get(key)
  }

  /** Resolves once the loads that are in flight now have ended. */
  loaded(): Promise<void> {
    return this.#flights.ended()
  }

  #isBefore(endsAtMs: number | null): boolean {
    return endsAtMs === null || this.#clock.now() < endsAtMs
  }
}
