import type { KnownOffChain, OffChainReading, OffChainSource } from '../../src/accounts/ports.ts'
import { TimedCache, type Timed } from '../../src/kernel/memory/timed-cache.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { FetchPlaces } from './fetch-places.ts'
import type { OffChainFetch } from './off-chain-fetch.ts'

/** Milliseconds for which fetched fields count as fresh; then they are served with their age, and refetched. */
export const OFF_CHAIN_FRESH_MS = 3_600_000
/** Pause after a failed fetch before the URI is retried, in milliseconds. */
export const OFF_CHAIN_RETRY_MS = 60_000
/** Milliseconds that an answer waits for URIs that are fetched for the first time. */
export const OFF_CHAIN_WAIT_MS = 500
const LIMITS = { concurrency: 16, hostConcurrency: 4 } as const
/** Maximum URIs that wait or are being fetched. Further ones stay pending until their next use. */
export const OFF_CHAIN_WAITING_MAX = 1_000

/** The outcome of a fetch that was not made, or was aborted; it is not cached. */
const ENDED: Timed<KnownOffChain> = { value: { kind: 'pending' }, endsAtMs: -Infinity }

export interface OffChainCacheOptions {
  readonly fetch: OffChainFetch
  readonly clock: Clock
  readonly bytesMax: number
}

/**
 * Fields behind the URIs of mints, cached and fetched in the background.
 *
 * O1. A URI is fetched once at a time, and not again for `OFF_CHAIN_RETRY_MS` after an attempt.
 * O2. An answer waits `OFF_CHAIN_WAIT_MS` at most, and only for URIs without any outcome.
 */
export class OffChainCache implements OffChainSource {
  readonly #fetch: OffChainFetch
  readonly #clock: Clock
  /** The newest success of a URI, which later failures do not change, until its next fetch is due. */
  readonly #cache: TimedCache<KnownOffChain>
  readonly #places = new FetchPlaces(LIMITS)
  readonly #closing = new AbortController()
  /** Fetches that failed. */
  failed = 0
  /** URIs that were not fetched because too many waited. */
  dropped = 0

  constructor({ fetch, clock, bytesMax }: OffChainCacheOptions) {
    this.#fetch = fetch
    this.#clock = clock
    this.#cache = new TimedCache(clock, { bytesMax })
  }

  get size(): number {
    return this.#cache.size
  }

  get bytes(): number {
    return this.#cache.bytes
  }

  /** URIs that wait or are fetched. */
  get inFlight(): number {
    return this.#cache.inFlight
  }

  async read(uris: readonly string[]): Promise<readonly KnownOffChain[]> {
    const firsts = uris.flatMap((uri) => {
      const flight = this.#refresh(uri)
      return flight !== null && this.#cache.atAnyAge(uri) === undefined ? [flight] : []
    })
    if (firsts.length > 0) {
      const end = new AbortController()
      await Promise.race([Promise.all(firsts), sleep(this.#clock, OFF_CHAIN_WAIT_MS, end.signal)])
      end.abort()
    }
    return uris.map((uri) => this.#cache.atAnyAge(uri) ?? { kind: 'pending' })
  }

  /** Ends the fetches. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#cache.loaded()
  }

  /** Fetches a URI if it is due. Returns the fetch in flight, or null. */
  #refresh(uri: string): Promise<KnownOffChain> | null {
    const running = this.#cache.loading(uri)
    if (running !== undefined) return running
    if (this.#cache.get(uri) !== undefined || this.#closing.signal.aborted) return null
    if (this.#cache.inFlight >= OFF_CHAIN_WAITING_MAX) {
      this.dropped++
      return null
    }
    return this.#cache.load(uri, () => this.#places.run(uri, () => this.#take(uri)))
  }

  async #take(uri: string): Promise<Timed<KnownOffChain>> {
    const { signal } = this.#closing
    const reading = signal.aborted ? null : await this.#fetch(uri, signal).catch((): null => null)
    if (reading === null) return ENDED
    const readAtMs = this.#clock.now()
    const bytes = 2 * uri.length + bytesOf(reading)
    if (reading.kind === 'read')
      return { value: { ...reading, readAtMs }, endsAtMs: readAtMs + OFF_CHAIN_FRESH_MS, bytes }
    this.failed++
    const earlier = this.#cache.atAnyAge(uri)
    const value = earlier?.kind === 'read' ? earlier : { ...reading, readAtMs }
    return { value, endsAtMs: readAtMs + OFF_CHAIN_RETRY_MS, bytes: 2 * uri.length + bytesOf(value) }
  }
}

/** Estimates the bytes of a reading: two for each character, because texts may be non-Latin. */
function bytesOf(reading: OffChainReading): number {
  if (reading.kind === 'failed') return 100
  return Object.values(reading.fields).reduce<number>(
    (sum, text: string | null) => sum + 2 * (text?.length ?? 0),
    300
  )
}
