import { fetchedUrl, readOffChainFields } from '../../src/accounts/off-chain-fields.ts'
import type { OffChainReading } from '../../src/accounts/ports.ts'
import type { Clock } from '../../src/ports.ts'
import { version } from '../../src/version.ts'
import type { UrlGuard } from '../../src/webhooks/url-guard.ts'
import { publicFetch } from './public-fetch.ts'

/** Maximum bytes of a JSON document. Usual ones have 1 to 3 KB; larger ones carry the image itself. */
export const OFF_CHAIN_BYTES_MAX = 64 * 1024
/** Maximum milliseconds of a fetch, redirects included. */
export const OFF_CHAIN_MS = 5_000

const HEADERS = { accept: 'application/json', 'user-agent': `Millrace-Metadata/${version}` } as const

export interface OffChainFetchOptions {
  readonly guard: UrlGuard
  readonly clock: Clock
  /** URL of the gateway for `ipfs:`. */
  readonly ipfsGateway: string
}

/** Fetches one URI. Rejects only with the reason of the signal. */
export type OffChainFetch = (uri: string, signal: AbortSignal) => Promise<OffChainReading>

/** Returns a function that fetches the JSON behind URIs. */
export function offChainFetch({ guard, clock, ipfsGateway }: OffChainFetchOptions): OffChainFetch {
  const limits = { bytesMax: OFF_CHAIN_BYTES_MAX, limitMs: OFF_CHAIN_MS }
  const fetch = publicFetch({ guard, clock, headers: HEADERS, ...limits })
  return async (uri, signal) => {
    const answer = await fetch(fetchedUrl(uri, ipfsGateway), signal)
    if (answer.kind === 'failed') return answer
    return readOffChainFields(answer.bytes.toString('utf8').replace(/^\uFEFF/, ''))
  }
}
