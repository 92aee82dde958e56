import type { ImageReading, TokenImageSource } from '../../src/accounts/ports.ts'
import type { Timed } from '../../src/kernel/memory/timed-cache.ts'
import { sleep } from '../../src/ports.ts'
import { FetchCache, type FetchCacheOptions, type Pending } from './fetch-cache.ts'

/** Milliseconds for which an image is cached: its URL nearly always names its content. */
export const IMAGE_FRESH_MS = 24 * 3_600_000
/** Pause after a failed fetch before the URL is retried, in milliseconds. */
export const IMAGE_RETRY_MS = 600_000
/** Milliseconds that an answer waits for an image that is fetched for the first time. */
export const IMAGE_WAIT_MS = 3_000
/** Maximum URLs that wait or are being fetched. */
export const IMAGES_WAITING_MAX = 100
/** Each fetch may hold a megabyte. */
const LIMITS = { concurrency: 8, hostConcurrency: 4, waitingMax: IMAGES_WAITING_MAX } as const

const PENDING: Pending = { kind: 'pending' }

/** Images of tokens by URL, cached, and fetched when they are requested. */
export class TokenImageCache extends FetchCache<ImageReading, ImageReading> implements TokenImageSource {
  constructor(options: FetchCacheOptions<ImageReading>) {
    super(options, LIMITS)
  }

  async read(url: string): Promise<ImageReading | Pending> {
    const known = this.fresh(url)
    if (known !== undefined) return known
    const flight = this.refresh(url)
    if (flight === null) return PENDING
    const end = new AbortController()
    const reading = await Promise.race([
      flight,
      sleep(this.clock, IMAGE_WAIT_MS, end.signal).then(() => PENDING)
    ])
    end.abort()
    return reading
  }

  protected timed(url: string, reading: ImageReading): Timed<ImageReading> {
    const isRead = reading.kind === 'read'
    return {
      value: reading,
      endsAtMs: this.clock.now() + (isRead ? IMAGE_FRESH_MS : IMAGE_RETRY_MS),
      bytes: 2 * url.length + (isRead ? reading.image.bytes.length : 100)
    }
  }
}
