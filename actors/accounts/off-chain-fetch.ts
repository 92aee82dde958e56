import type { Dispatcher } from 'undici'
import { fetchedUrl, readOffChainFields } from '../../src/accounts/off-chain-fields.ts'
import type { OffChainError, OffChainReading } from '../../src/accounts/ports.ts'
import { Client, errors } from '../../src/node/undici.ts'
import { collectedBytes } from '../../src/kernel/collected-bytes.ts'
import type { Clock } from '../../src/ports.ts'
import { version } from '../../src/version.ts'
import { AddressRefused, type UrlGuard } from '../../src/webhooks/url-guard.ts'
import { readWebhookUrl } from '../../src/webhooks/webhook-url.ts'
import { guardedConnector } from '../webhooks/guarded-connector.ts'

/** Maximum bytes of a JSON document. Usual ones have 1 to 3 KB; larger ones carry the image itself. */
export const OFF_CHAIN_BYTES_MAX = 64 * 1024
/** Maximum milliseconds of a fetch, redirects included. */
export const OFF_CHAIN_MS = 5_000
/** Maximum redirects of a fetch. Gateways redirect once or twice. */
export const REDIRECTS_MAX = 3

/** Compressed bodies are not requested: a small one can expand to any size. */
const HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': `Millrace-Metadata/${version}`
} as const

export interface OffChainFetchOptions {
  readonly guard: UrlGuard
  readonly clock: Clock
  /** URL of the gateway for `ipfs:`. */
  readonly ipfsGateway: string
}

/** Fetches one URI. Rejects only with the reason of the signal. */
export type OffChainFetch = (uri: string, signal: AbortSignal) => Promise<OffChainReading>

class Refused extends Error {
  readonly error: OffChainError

  constructor(error: OffChainError) {
    super(error)
    this.error = error
  }
}

/**
 * Returns a function that fetches the JSON behind URIs. Every URL, also of a redirect, must pass the rules for URLs of
 * webhooks. Connections open only to addresses that the guard allows.
 */
export function offChainFetch({ guard, clock, ipfsGateway }: OffChainFetchOptions): OffChainFetch {
  const connect = guardedConnector(guard, { timeoutMs: OFF_CHAIN_MS })

  async function fetchUrl(url: string, signal: AbortSignal): Promise<Redirect | string> {
    const reading = readWebhookUrl(url)
    if (reading.kind === 'refused') throw new Refused('url_not_allowed')
    const { origin, path } = reading.target
    const client = new Client(origin, { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 })
    try {
      const answer = await client.request({ method: 'GET', path, headers: HEADERS, signal })
      return await read(answer, url)
    } finally {
      void client.destroy().catch(() => undefined)
    }
  }

  return async (uri, signal) => {
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(), OFF_CHAIN_MS)
    const end = AbortSignal.any([signal, late.signal])
    try {
      let url = fetchedUrl(uri, ipfsGateway)
      for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
        const answer = await fetchUrl(url, end)
        if (typeof answer === 'string') return readOffChainFields(answer)
        url = answer.location
      }
      return { kind: 'failed', error: 'too_many_redirects' }
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'failed', error: late.signal.aborted ? 'timeout' : errorOf(error) }
    } finally {
      clock.clearTimeout(timer)
    }
  }
}

interface Redirect {
  readonly location: string
}

async function read(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: string
): Promise<Redirect | string> {
  const { location } = headers
  if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
    // The end of the body emits an error, which is ignored.
    body.on('error', () => undefined).destroy()
    if (!URL.canParse(location, url)) throw new Refused('url_not_allowed')
    return { location: new URL(location, url).href }
  }
  if (statusCode !== 200) {
    body.on('error', () => undefined).destroy()
    throw new Refused('status')
  }
  const bytes = await collectedBytes(body as AsyncIterable<Uint8Array>, OFF_CHAIN_BYTES_MAX)
  if (bytes === null) throw new Refused('too_large')
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

function errorOf(error: unknown): OffChainError {
  if (error instanceof Refused) return error.error
  if (error instanceof AddressRefused) return 'url_not_allowed'
  if (error instanceof errors.ConnectTimeoutError) return 'timeout'
  return 'unreachable'
}
