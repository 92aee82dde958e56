import type { RestApi, WebhooksApi } from './api.ts'
import { connect, type Client } from './stream-client.ts'
import type { Quotas } from './quota.ts'
import { Requester } from './requester.ts'
import { requestSettingsOf, type MillraceOptions, type RequestOptions } from './request-options.ts'
import { restApiOf } from './rest-api.ts'
import { rpcOf, type Rpc } from './rpc.ts'
import { SubmissionChanges } from './submission-changes.ts'
import { transactionsOf, type Transactions } from './transactions.ts'
import { verify } from './webhooks.ts'

/** Webhooks: manages them, and verifies their deliveries. */
export interface Webhooks extends WebhooksApi {
  /** Verifies a delivery with the secret of its webhook, and returns its batch. */
  readonly verify: typeof verify
}

/** A request for `fetch`. */
export interface FetchOptions extends RequestOptions {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Sent as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Everything that a key can do with the service. */
export interface Millrace extends Omit<RestApi, 'tx' | 'webhooks'> {
  /** Live and past events. Connects with the first `subscribe`. */
  readonly stream: Client
  readonly tx: Transactions
  readonly webhooks: Webhooks
  readonly rpc: Rpc
  /** The quotas of the key after the last answer; null before the first one. */
  readonly quotas: Quotas | null
  /**
   * Requests a path with the key, timeouts and retries of the client, for answers that are not JSON. Resolves with the
   * response of a success, whose body is not read yet. A POST is repeated only if it has an `Idempotency-Key` among its
   * `headers`, or was refused before it took effect.
   */
  fetch(path: string, options?: FetchOptions): Promise<Response>
  /** Ends all subscriptions. Calls in flight are not ended: pass them a `signal`. */
  close(): void
}

/**
 * Returns a client of a service. It has no connection until it is used. Throws TypeError if `url` is not one of HTTP.
 *
 * The names are those of the REST API: `millrace.tokens.trades(mint, { venue: 'pumpswap' })`. Parameters of the path come
 * first, then the query or the body, then the options of the call. Fields have the names that they have on the wire.
 */
export function createMillrace(options: MillraceOptions): Millrace {
  const requester = new Requester(requestSettingsOf(options))
  const rest = restApiOf(requester)
  const { clock } = requester.settings
  let stream: Client | null = null
  const openStream = (): Client => (stream ??= connect(streamOptionsOf(options)))
  return {
    ...rest,
    tx: transactionsOf(rest.tx, new SubmissionChanges(openStream), clock),
    webhooks: { ...rest.webhooks, verify },
    rpc: rpcOf(requester),
    get stream() {
      return openStream()
    },
    get quotas() {
      return requester.quotas
    },
    fetch(path, { method = 'GET', body, headers = {}, ...call } = {}) {
      const isRepeatable =
        method !== 'POST' || Object.keys(headers).some((name) => /^idempotency-key$/i.test(name))
      const request = { method, path, headers, isRepeatable, ...(body === undefined ? {} : { body }) }
      return requester.send(request, call, (response) => Promise.resolve(response))
    },
    close: () => stream?.close()
  }
}

/** Returns the options of the stream: those of both, but the clock, which is a platform's there too. */
function streamOptionsOf({
  url,
  key,
  bufferEvents,
  onNotice,
  WebSocket,
  random,
  clock,
  fetch
}: MillraceOptions) {
  return {
    url,
    key,
    ...(bufferEvents === undefined ? {} : { bufferEvents }),
    ...(onNotice === undefined ? {} : { onNotice }),
    ...(WebSocket === undefined ? {} : { WebSocket }),
    ...(random === undefined ? {} : { random }),
    ...(clock === undefined ? {} : { clock }),
    ...(fetch === undefined ? {} : { fetch })
  }
}
