import { UrlGuard } from '../../src/webhooks/url-guard.ts'
import type { Run } from '../supervision/process.ts'
import { fetching } from './fetch-cache.ts'
import type { OffChainOptions } from './off-chain.ts'
import { TokenImageCache } from './token-image-cache.ts'
import { tokenImageFetch } from './token-image-fetch.ts'

/** Owns the cache of the images of tokens, and its fetches. */
export function tokenImages({
  clock,
  bytesMax,
  allowPrivate,
  ipfsGateway
}: OffChainOptions): Run<unknown, TokenImageCache> {
  return fetching('images', () => {
    const guard = new UrlGuard({ allowPrivate })
    return new TokenImageCache({ fetch: tokenImageFetch({ guard, clock, ipfsGateway }), clock, bytesMax })
  })
}
