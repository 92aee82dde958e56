import type { Dispatcher } from 'undici'
import type { FetchError } from '../../src/accounts/ports.ts'
import { Client, errors } from '../../src/node/undici.ts'
import { collectedBytes } from '../../src/kernel/collected-bytes.ts'
import type { Clock } from '../../src/ports.ts'
import { AddressRefused, type UrlGuard } from '../../src/webhooks/url-guard.ts'
import { readWebhookUrl } from '../../src/webhooks/webhook-url.ts'
import { guardedConnector } from '../webhooks/guarded-connector.ts'

/** Maximum redirects of a fetch. Gateways redirect once or twice. */
export const REDIRECTS_MAX = 3

export interface PublicFetchOptions {
  readonly guard: UrlGuard
  readonly clock: Clock
  /** Headers of each request, beside `accept-encoding: identity`: a small compressed body can expand to any size. */
  readonly headers: Readonly<Record<string, string>>
  readonly bytesMax: number
  /** Maximum milliseconds of a fetch, redirects included. */
  readonly limitMs: number
}

/** The outcome of a fetch. */
export type FetchedBytes =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'failed'; readonly error: FetchError }

/** Fetches one URL. Rejects only with the reason of the signal. */
export type PublicFetch = (url: string, signal: AbortSignal) => Promise<FetchedBytes>

class Refused extends Error {
  readonly error: FetchError

  constructor(error: FetchError) {
    super(error)
    this.error = error
  }
}

/**
 * Returns a function that fetches the bytes behind URLs that strangers chose. Every URL, also of a redirect, must pass the rules
 * for URLs of webhooks. Connections open only to addresses that the guard allows.
 */
export function publicFetch({ guard, clock, headers, bytesMax, limitMs }: PublicFetchOptions): PublicFetch {
  const connect = guardedConnector(guard, { timeoutMs: limitMs })
  const sent = { ...headers, 'accept-encoding': 'identity' }

  async function fetchUrl(url: string, signal: AbortSignal): Promise<Redirect | Buffer> {
    const reading = readWebhookUrl(url)
    if (reading.kind === 'refused') throw new Refused('url_not_allowed')
    const { origin, path } = reading.target
    const client = new Client(origin, { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 })
    try {
      const answer = await client.request({ method: 'GET', path, headers: sent, signal })
      return await read(answer, url, bytesMax)
    } finally {
      void client.destroy().catch(() => undefined)
    }
  }

  return async (first, signal) => {
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(), limitMs)
    const end = AbortSignal.any([signal, late.signal])
    try {
      let url = first
      for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
        const answer = await fetchUrl(url, end)
        if (answer instanceof Uint8Array) return { kind: 'read', bytes: answer }
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
  url: string,
  bytesMax: number
): Promise<Redirect | Buffer> {
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
  const bytes = await collectedBytes(body as AsyncIterable<Uint8Array>, bytesMax)
  if (bytes === null) throw new Refused('too_large')
  return bytes
}

function errorOf(error: unknown): FetchError {
  if (error instanceof Refused) return error.error
  if (error instanceof AddressRefused) return 'url_not_allowed'
  if (error instanceof errors.ConnectTimeoutError) return 'timeout'
  return 'unreachable'
}
