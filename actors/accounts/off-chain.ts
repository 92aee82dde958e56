import type { Clock } from '../../src/ports.ts'
import { UrlGuard } from '../../src/webhooks/url-guard.ts'
import type { Run } from '../supervision/process.ts'
import { fetching } from './fetch-cache.ts'
import { OffChainCache } from './off-chain-cache.ts'
import { offChainFetch } from './off-chain-fetch.ts'

export interface OffChainOptions {
  readonly clock: Clock
  readonly bytesMax: number
  /** Whether private and loopback addresses pass, for development. */
  readonly allowPrivate: boolean
  /** URL of the gateway for `ipfs:`. */
  readonly ipfsGateway: string
}

/** Owns the cache of the JSON behind the URIs of mints, and its fetches. */
export function offChain({
  clock,
  bytesMax,
  allowPrivate,
  ipfsGateway
}: OffChainOptions): Run<unknown, OffChainCache> {
  return fetching('uris', () => {
    const guard = new UrlGuard({ allowPrivate })
    return new OffChainCache({ fetch: offChainFetch({ guard, clock, ipfsGateway }), clock, bytesMax })
  })
}
