import type { Clock } from '../../src/ports.ts'
import { UrlGuard } from '../../src/webhooks/url-guard.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
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
export function offChain(options: OffChainOptions): Run<unknown, OffChainCache> {
  const { clock, bytesMax, allowPrivate, ipfsGateway } = options
  return async ({ draining, ready, gauge }) => {
    const guard = new UrlGuard({ allowPrivate })
    const cache = new OffChainCache({ fetch: offChainFetch({ guard, clock, ipfsGateway }), clock, bytesMax })
    gauge('uris', () => cache.size)
    gauge('bytes', () => cache.bytes)
    gauge('bytes_max', () => bytesMax)
    gauge('uris_in_flight', () => cache.inFlight)
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
