import type { ImageReading, TokenImageSource } from '../../src/accounts/ports.ts'
import { TimedCache, type Timed } from '../../src/kernel/memory/timed-cache.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { FetchPlaces } from './fetch-places.ts'
import type { TokenImageFetch } from './token-image-fetch.ts'

/** Milliseconds for which an image is cached: its URL nearly always names its content. */
export const IMAGE_FRESH_MS = 24 * 3_600_000
/** Pause after a failed fetch before the URL is retried, in milliseconds. */
export const IMAGE_RETRY_MS = 600_000
/** Milliseconds that an answer waits for an image that is fetched for the first time. */
export const IMAGE_WAIT_MS = 3_000
/** Maximum URLs that wait or are being fetched. Further ones stay pending until their next use. */
export const IMAGES_WAITING_MAX = 100
/** Each fetch may hold a megabyte. */
const LIMITS = { concurrency: 8, hostConcurrency: 4 } as const

type KnownReading = ImageReading | { readonly kind: 'pending' }

/** The outcome of a fetch that was not made, or was aborted; it is not cached. */
const ENDED: Timed<KnownReading> = { value: { kind: 'pending' }, endsAtMs: -Infinity }

export interface TokenImageCacheOptions {
  readonly fetch: TokenImageFetch
  readonly clock: Clock
  readonly bytesMax: number
}

/** Images of tokens by URL, cached, and fetched when they are requested. */
export class TokenImageCache implements TokenImageSource {
  readonly #fetch: TokenImageFetch
  readonly #clock: Clock
  readonly #cache: TimedCache<KnownReading>
  readonly #places = new FetchPlaces(LIMITS)
  readonly #closing = new AbortController()
  /** Fetches that failed. */
  failed = 0
  /** Images that were not fetched because too many waited. */
  dropped = 0

  constructor({ fetch, clock, bytesMax }: TokenImageCacheOptions) {
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

  get inFlight(): number {
    return this.#cache.inFlight
  }

  async read(url: string): Promise<KnownReading> {
    const known = this.#cache.get(url)
    if (known !== undefined) return known
    if (this.#closing.signal.aborted) return ENDED.value
    if (this.#cache.loading(url) === undefined && this.#cache.inFlight >= IMAGES_WAITING_MAX) {
      this.dropped++
      return ENDED.value
    }
    const end = new AbortController()
    const late = sleep(this.#clock, IMAGE_WAIT_MS, end.signal).then(() => ENDED.value)
    const loaded = this.#cache.load(url, () => this.#places.run(url, () => this.#take(url)))
    const reading = await Promise.race([loaded, late])
    end.abort()
    return reading
  }

  /** Ends the fetches. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#cache.loaded()
  }

  async #take(url: string): Promise<Timed<KnownReading>> {
    const { signal } = this.#closing
    const reading = signal.aborted ? null : await this.#fetch(url, signal).catch((): null => null)
    if (reading === null) return ENDED
    const isRead = reading.kind === 'read'
    if (!isRead) this.failed++
    return {
      value: reading,
      endsAtMs: this.#clock.now() + (isRead ? IMAGE_FRESH_MS : IMAGE_RETRY_MS),
      bytes: 2 * url.length + (isRead ? reading.image.bytes.length : 100)
    }
  }
}
