import { UrlGuard } from '../../src/webhooks/url-guard.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
import type { OffChainOptions } from './off-chain.ts'
import { TokenImageCache } from './token-image-cache.ts'
import { tokenImageFetch } from './token-image-fetch.ts'

/** Owns the cache of the images of tokens, and its fetches. */
export function tokenImages(options: OffChainOptions): Run<unknown, TokenImageCache> {
  const { clock, bytesMax, allowPrivate, ipfsGateway } = options
  return async ({ draining, ready, gauge }) => {
    const guard = new UrlGuard({ allowPrivate })
    const fetch = tokenImageFetch({ guard, clock, ipfsGateway })
    const cache = new TokenImageCache({ fetch, clock, bytesMax })
    gauge('images', () => cache.size)
    gauge('bytes', () => cache.bytes)
    gauge('bytes_max', () => bytesMax)
    gauge('images_in_flight', () => cache.inFlight)
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
