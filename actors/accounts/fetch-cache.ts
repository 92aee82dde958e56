import { TimedCache, type Timed } from '../../src/kernel/memory/timed-cache.ts'
import type { Clock } from '../../src/ports.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
import { FetchPlaces, type FetchLimits } from './fetch-places.ts'

/** The state of a URL before the first outcome of its fetch. */
export interface Pending {
  readonly kind: 'pending'
}

export interface FetchCacheOptions<Reading> {
  /** Fetches one URL. Rejects only with the reason of the signal. */
  readonly fetch: (url: string, signal: AbortSignal) => Promise<Reading>
  readonly clock: Clock
  readonly bytesMax: number
}

export interface FetchCacheLimits extends FetchLimits {
  /** Maximum URLs that wait or are being fetched. Further ones stay pending until their next use. */
  readonly waitingMax: number
}

/** The outcome of a fetch that was not made, or was aborted; it is not cached. */
const ENDED: Timed<Pending> = { value: { kind: 'pending' }, endsAtMs: -Infinity }

/** Values behind URLs that anybody may have stated, cached, and fetched once at a time. */
export abstract class FetchCache<Reading extends { readonly kind: 'read' | 'failed' }, Known extends object> {
  protected readonly clock: Clock
  readonly bytesMax: number
  readonly #fetch: FetchCacheOptions<Reading>['fetch']
  readonly #limits: FetchCacheLimits
  readonly #cache: TimedCache<Known | Pending>
  readonly #places: FetchPlaces
  readonly #closing = new AbortController()
  /** Fetches that failed. */
  failed = 0
  /** URLs that were not fetched because too many waited. */
  dropped = 0

  constructor({ fetch, clock, bytesMax }: FetchCacheOptions<Reading>, limits: FetchCacheLimits) {
    this.clock = clock
    this.bytesMax = bytesMax
    this.#fetch = fetch
    this.#limits = limits
    this.#cache = new TimedCache(clock, { bytesMax })
    this.#places = new FetchPlaces(limits)
  }

  /** Returns what is cached of a reading, and until when. */
  protected abstract timed(url: string, reading: Reading): Timed<Known>

  get size(): number {
    return this.#cache.size
  }

  get bytes(): number {
    return this.#cache.bytes
  }

  /** URLs that wait or are fetched. */
  get inFlight(): number {
    return this.#cache.inFlight
  }

  /** Ends the fetches. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#cache.loaded()
  }

  /** Returns the value of a URL before its end; undefined if it is not cached, or has ended. */
  protected fresh(url: string): Known | Pending | undefined {
    return this.#cache.get(url)
  }

  /** Returns the value of a URL, even after its end; undefined if it is not cached. */
  protected atAnyAge(url: string): Known | Pending | undefined {
    return this.#cache.atAnyAge(url)
  }

  /** Fetches a URL if it is due. Returns the fetch in flight, or null. */
  protected refresh(url: string): Promise<Known | Pending> | null {
    const running = this.#cache.loading(url)
    if (running !== undefined) return running
    if (this.fresh(url) !== undefined || this.#closing.signal.aborted) return null
    if (this.#cache.inFlight >= this.#limits.waitingMax) {
      this.dropped++
      return null
    }
    return this.#cache.load(url, () => this.#places.run(url, () => this.#take(url)))
  }

  async #take(url: string): Promise<Timed<Known | Pending>> {
    const { signal } = this.#closing
    const reading = signal.aborted ? null : await this.#fetch(url, signal).catch((): null => null)
    if (reading === null) return ENDED
    if (reading.kind === 'failed') this.failed++
    return this.timed(url, reading)
  }
}

/** The use of a cache, which the process tree shows. */
type FetchUse = Pick<
  FetchCache<never, never>,
  'size' | 'bytes' | 'bytesMax' | 'inFlight' | 'failed' | 'dropped' | 'close'
>

/** Owns a cache and its fetches. `noun` names its values in the process tree. */
export function fetching<Cache extends FetchUse>(noun: string, open: () => Cache): Run<unknown, Cache> {
  return async ({ draining, ready, gauge }) => {
    const cache = open()
    gauge(noun, () => cache.size)
    gauge('bytes', () => cache.bytes)
    gauge('bytes_max', () => cache.bytesMax)
    gauge(`${noun}_in_flight`, () => cache.inFlight)
    gauge('fetches_failed', () => cache.failed)
    gauge('fetches_dropped', () => cache.dropped)
    try {
      ready(cache)
      await aborted(draining)
    } finally {
      await cache.close()
    }
  }
}
