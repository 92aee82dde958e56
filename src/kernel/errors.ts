import { errorKinds, final, retryable, type ErrorKind } from './error-kind.ts'

/** Errors that the kernel, the store, the nodes, or several products raise. */
export const ERRORS = errorKinds({
  PARAMETER_INVALID: final(400, 'invalid_parameter', 'Invalid parameter', {
    meaning:
      'A parameter of the path, the query or the body is missing, unknown, given twice or out of range.',
    remedy: 'Correct the parameter that `detail` names. If several are wrong, `errors` lists them all.',
    example: 'limit must be a whole number between 1 and 1000'
  }),
  ADDRESS_INVALID: final(400, 'invalid_address', 'Invalid address', {
    meaning: 'A mint, pool or wallet is not an address: base58 text of 32 bytes.',
    remedy: 'Copy the address anew. Letters are case-sensitive; base58 has no 0, O, I or l.',
    example: 'mint must be a base58 address of 32 bytes'
  }),
  CURSOR_INVALID: final(400, 'invalid_cursor', 'Invalid cursor', {
    meaning: 'The `after` was altered, or belongs to another list or to other filters.',
    remedy:
      'Send `nextCursor` of the previous page unchanged, with the same path and filters. Or begin anew without `after`.',
    example: 'after is not a cursor of this list'
  }),
  JSON_INVALID: final(400, 'malformed_json', 'Malformed JSON', {
    meaning: 'The body is not JSON.',
    remedy: 'Send one JSON value in UTF-8.',
    example: 'the body is not valid JSON'
  }),
  KEY_MISSING: final(401, 'missing_api_key', 'Missing API key', {
    meaning: 'The request carries no API key.',
    remedy:
      'Send it in `X-API-Key`, or in `Authorization: Bearer`. Only the RPC URL (`api-key`) and the stream (`key`) also read it from the query.',
    example: 'send an API key in X-API-Key or Authorization: Bearer'
  }),
  KEY_INVALID: final(401, 'invalid_api_key', 'Invalid API key', {
    meaning: 'The API key is not known, or the request carries two different keys.',
    remedy: 'Check that the key was copied in full, or ask the operator for another key.',
    example: 'this API key is not known'
  }),
  SCOPE_MISSING: final(403, 'insufficient_scope', 'Insufficient scope', {
    meaning: 'The API key is valid but lacks the scope that this endpoint needs.',
    remedy: 'Use a key with the scope that `detail` names. `GET /v1/me` shows the scopes of a key.',
    example: 'this key lacks the scope data:read'
  }),
  ROUTE_NOT_FOUND: final(404, 'unknown_route', 'Unknown route', {
    meaning: 'There is nothing at this path.',
    remedy: 'Compare the path with the documentation; a trailing slash makes a difference.',
    example: 'no such route'
  }),
  METHOD_INVALID: final(405, 'method_not_allowed', 'Method not allowed', {
    meaning: 'The path exists, but does not accept this method.',
    remedy: 'Use a method that the header `Allow` lists.',
    example: 'this route answers GET, HEAD'
  }),
  BODY_EXCEEDED: final(413, 'body_too_large', 'Body too large', {
    meaning: 'The body has more than 64 KiB.',
    remedy: 'Send less.',
    example: 'the body is too large'
  }),
  MEDIA_TYPE_INVALID: final(415, 'unsupported_media_type', 'Unsupported media type', {
    meaning: 'The body is in a format that this endpoint does not accept.',
    remedy: 'Send JSON, with `Content-Type: application/json`.',
    example: 'the body must be application/json'
  }),
  HEADERS_EXCEEDED: final(431, 'headers_too_large', 'Headers too large', {
    meaning: 'The request line and headers have more than 16 KiB.',
    remedy: 'Shorten them; split a long list of addresses into several requests.',
    example: 'the request line and headers have more than 16 KiB'
  }),
  REQUEST_TIMEOUT: final(408, 'request_timeout', 'Request timeout', {
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Resend it on a new connection.',
    example: 'the request took too long to arrive'
  }),
  SERVICE_FAILED: final(500, 'internal', 'Internal error', {
    meaning: 'The service failed. Its log has the fault under the `request_id`.',
    remedy: 'Report the `request_id` to the operator.',
    example: 'the request failed on our side'
  }),
  SERVICE_DRAINING: retryable(503, 'draining', 'Draining', {
    meaning: 'The service is about to stop and accepts no new requests.',
    remedy: 'Retry in a moment, on a new connection.',
    example: 'the service is draining; retry on a new connection'
  }),
  STORAGE_UNAVAILABLE: retryable(503, 'storage_unavailable', 'Storage unavailable', {
    meaning: 'The store cannot answer right now.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the store does not answer; retry'
  }),
  DEADLINE_EXCEEDED: retryable(503, 'deadline_exceeded', 'Deadline exceeded', {
    meaning:
      'The answer was abandoned. Its computation took longer than two seconds, or than the time that the endpoint states, or other requests of the tenant used its time. Nothing was changed.',
    remedy:
      'For a read, request less data: a shorter list, filters that match more rows, or fewer requests at once. Repeat a request that changes something.',
    example: 'the answer took too long to compute; request less data'
  }),
  KEY_EXPIRED: final(401, 'key_expired', 'API key expired', {
    meaning: 'The API key has expired, by its own expiry or after a rotation.',
    remedy: 'Use its successor, or ask the operator for another key.',
    example: 'this API key has expired'
  }),
  KEY_REVOKED: final(401, 'key_revoked', 'API key revoked', {
    meaning: 'The API key was revoked.',
    remedy: 'Ask the operator for another key.',
    example: 'this API key was revoked'
  }),
  IP_REFUSED: final(403, 'ip_not_allowed', 'IP address not allowed', {
    meaning: 'The API key is restricted to certain IP addresses, and the request comes from another address.',
    remedy: 'Call from an allowed address, or ask the operator to add yours.',
    example: 'this API key may not be used from this address'
  }),
  RATE_LIMITED: retryable(429, 'rate_limited', 'Rate limited', {
    meaning:
      'The API key has used up its calls or its work of this minute, or the keys of its tenant have used up their work. Or too many requests came without a valid key.',
    remedy:
      'Wait the seconds in `Retry-After`. `violated-policies` names the quota. `RateLimit` on every answer shows what is left of calls and work.',
    example: 'this key may make 600 requests a minute; the next minute begins in 12 s'
  }),
  EXPORT_REFUSED: final(403, 'export_not_allowed', 'Export not allowed', {
    meaning: 'The API key may export no rows: its limit `export_rows_per_day` is 0.',
    remedy: 'Give `limit` to read the rows page by page, or use a key with the limit.',
    example: 'this key may export no rows; give limit to read them page by page'
  }),
  EXPORT_ROWS_EXCEEDED: retryable(429, 'export_rows_exceeded', 'Export rows exceeded', {
    meaning: 'The API key has exported all the rows that it may export on a day of UTC.',
    remedy:
      'Continue after the seconds in `Retry-After`, from the last row that you have. Or give `limit` to read page by page.',
    example: 'this key may export 1000000 rows a day; the next day begins in 3600 s'
  }),
  INDEX_LOADING: retryable(503, 'index_loading', 'Index loading', {
    meaning:
      'The data for this answer is still being loaded from the store, or no gateway that holds it has answered.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the ranking is still being loaded'
  }),
  STREAM_KEY_REFUSED: final(403, 'stream_key_refused', 'Stream key refused', {
    meaning: 'The handshake of the stream carries no valid API key.',
    remedy: 'Send the key in `X-API-Key`. If the client cannot set headers, send it as the parameter `key`.',
    example: 'this API key is not known'
  }),
  CONNECTIONS_EXCEEDED: retryable(429, 'too_many_connections', 'Too many connections', {
    meaning:
      'The key has reached its maximum number of streams, or the address or the service has reached its maximum number of connections.',
    remedy: 'Close a connection. Put more channels on one stream, and reuse connections for requests.',
    example: 'this key has 20 connections, the most a key can have'
  }),
  UPGRADE_MISSING: final(426, 'upgrade_required', 'Upgrade required', {
    meaning: 'This path accepts only WebSocket, and the request has no upgrade.',
    remedy: 'Connect with a WebSocket client: the scheme is `ws` or `wss`.',
    example: 'connect with a WebSocket client'
  }),
  ORIGIN_REFUSED: final(403, 'origin_not_allowed', 'Origin not allowed', {
    meaning:
      'A web page or browser extension used an API key that does not list its origin, over HTTP or for a socket.',
    remedy:
      'Use a key that lists the origin (`cors_origins`, for the product if the entry names one), or ask the operator for such a key.',
    example:
      'this API key does not list the origin https://app.example.org: use a key whose cors_origins have https://app.example.org, or rpc:https://app.example.org for this product (millrace keys create --origin)'
  }),
  IDEMPOTENCY_KEY_REUSED: final(422, 'idempotency_key_reused', 'Idempotency key reused', {
    meaning: 'The `Idempotency-Key` was used in the last 24 hours for a request with another body.',
    remedy: 'Send the same body to repeat that request, or another key for a new one.',
    example: 'this Idempotency-Key was used for a request with another body'
  }),
  UPSTREAM_ERROR: retryable(502, 'upstream_error', 'Upstream error', {
    meaning:
      'A node or the block engine that the answer depends on cannot be reached, or does not answer this request.',
    remedy:
      'Retry after the seconds in `Retry-After`. If the error persists, the operator has to check the upstream.',
    example: 'the node does not answer this request now'
  }),
  UPSTREAM_TIMEOUT: retryable(504, 'upstream_timeout', 'Upstream timeout', {
    meaning: 'A node that the answer depends on did not answer in time.',
    remedy:
      'Retry after the seconds in `Retry-After`. If the error persists, the operator has to check the upstream.',
    example: 'the node did not answer in time'
  }),
  CURSOR_EXPIRED: final(410, 'cursor_expired', 'Cursor expired', {
    meaning: 'The pages of this paging run show a slot that is no longer stored.',
    remedy: 'Begin with the first page. A run lasts five minutes, or less for a program with many changes.',
    example: 'after is of slot 300000000, which can no longer be read'
  }),
  NOT_CONFIGURED: final(501, 'not_configured', 'Not configured', {
    meaning: 'The answer needs a node, a block engine or a feed that this service is not configured with.',
    remedy:
      'Do not retry. The operator has to set the URL that the request needs, such as `MILLRACE_RPC_URL`.',
    example: 'no block engine is configured'
  }),
  OUTCOME_UNKNOWN: retryable(503, 'outcome_unknown', 'Outcome unknown', {
    meaning:
      'It is unknown whether the request took effect: the store has not answered within 30 seconds, its answer was lost, or the service failed after a write. Every other 503 means that nothing was changed.',
    remedy:
      'Check the resource that `detail` names. Repeat the request with the same `Idempotency-Key`: it takes effect once, and the repeat gets the first answer.',
    example:
      'the store has not confirmed it, so it is unknown whether this request took effect; GET /v1/webhooks shows it; repeating it with the same Idempotency-Key is safe'
  }),
  /** Shares the code of DEADLINE_EXCEEDED: the checks of a change took too long, so the change was not made. */
  CHANGE_NOT_BEGUN: retryable(503, 'deadline_exceeded', 'Deadline exceeded', {
    meaning: 'The checks of the request took too long. Nothing was changed.',
    remedy: 'Repeat the request after the seconds in `Retry-After`.',
    example: 'nothing was changed: the checks of the request took too long; repeat it'
  }),
  RESTARTING: retryable(503, 'restarting', 'Restarting', {
    meaning:
      'A component of the service that the request needs has failed, and is restarting. Nothing was changed.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the connections to nodes restart; retry'
  }),
  ROLE_MISSING: retryable(503, 'role_missing', 'Role missing', {
    meaning:
      'The request leaves work to processes of the role in `role`, and none has been seen for 5 s. Nothing was changed.',
    remedy:
      'Retry after the seconds in `Retry-After`. If the error persists, the operator has to start a process of the role.',
    example:
      'no process has had the role delivery for 5 s, so nobody would do this; start one with --role delivery'
  }),
  NOT_SERVED_HERE: retryable(503, 'not_served_here', 'Not served here', {
    meaning:
      'The service has this route, but the process that got the request does not serve it: it lacks the role or the product, or a node that the answer needs.',
    remedy:
      'Retry: behind a balancer another process may answer. If the error persists, the operator has to start a process that serves it.',
    example: 'this process does not serve GET /v1/launches; it has the role ingest'
  })
})

/**
 * The class of all intended errors. Clients may see `detail`, except that of SERVICE_FAILED and STORAGE_UNAVAILABLE,
 * which is for the log (`kernel/http/problem.ts`).
 */
export class ServiceError extends Error {
  readonly #kind: ErrorKind
  readonly detail: string
  readonly fields: readonly { readonly field: string; readonly message: string }[]
  /** Additional members of the problem for clients, by their wire names; a `type` among them replaces ours. */
  readonly members: Readonly<Record<string, unknown>>

  constructor(
    kind: ErrorKind,
    detail: string,
    options: {
      cause?: unknown
      fields?: readonly { field: string; message: string }[]
      members?: Readonly<Record<string, unknown>>
    } = {}
  ) {
    super(`${kind.name}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.#kind = kind
    this.detail = detail
    this.fields = options.fields ?? []
    this.members = options.members ?? {}
  }

  /** Its kind. An accessor, so that the log of an error does not repeat the texts of its page. */
  get kind(): ErrorKind {
    return this.#kind
  }
}

/** It is unknown whether the store did a write: its answer was lost. */
export class UnknownOutcome extends ServiceError {
  constructor(detail: string, cause: unknown) {
    super(ERRORS.STORAGE_UNAVAILABLE, detail, { cause })
  }
}

/** The store refused a write, and refuses further ones until this process claims again. */
export class LostClaim extends ServiceError {
  /** Fencing token of the stored claim, if it is greater than this process's; null for another reason. */
  readonly outrankedBy: number | null

  constructor(
    kind: ErrorKind,
    detail: string,
    { outrankedBy = null }: { readonly outrankedBy?: number | null } = {}
  ) {
    super(kind, detail)
    this.outrankedBy = outrankedBy
  }
}
