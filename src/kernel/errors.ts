interface ErrorKind {
  /** HTTP status. */
  readonly status: number
  /** Code on the wire, which never changes its meaning. */
  readonly code: string
  readonly title: string
  /** Whether a retry of the request can succeed. */
  readonly retryable: boolean
}

/** An error that every retry of the request meets too. */
const final = (status: number, code: string, title: string): ErrorKind => ({
  status,
  code,
  title,
  retryable: false
})
/** A temporary error. */
const retryable = (status: number, code: string, title: string): ErrorKind => ({
  status,
  code,
  title,
  retryable: true
})

/** Every intended error. Append-only. */
export const ERRORS = {
  PARAMETER_INVALID: final(400, 'invalid_parameter', 'Invalid parameter'),
  ADDRESS_INVALID: final(400, 'invalid_address', 'Invalid address'),
  CURSOR_INVALID: final(400, 'invalid_cursor', 'Invalid cursor'),
  JSON_INVALID: final(400, 'malformed_json', 'Malformed JSON'),
  KEY_MISSING: final(401, 'missing_api_key', 'Missing API key'),
  KEY_INVALID: final(401, 'invalid_api_key', 'Invalid API key'),
  SCOPE_MISSING: final(403, 'insufficient_scope', 'Insufficient scope'),
  ROUTE_NOT_FOUND: final(404, 'unknown_route', 'Unknown route'),
  TOKEN_NOT_FOUND: final(404, 'token_not_found', 'Token not found'),
  POOL_NOT_FOUND: final(404, 'pool_not_found', 'Pool not found'),
  METHOD_INVALID: final(405, 'method_not_allowed', 'Method not allowed'),
  BODY_EXCEEDED: final(413, 'body_too_large', 'Body too large'),
  MEDIA_TYPE_INVALID: final(415, 'unsupported_media_type', 'Unsupported media type'),
  HEADERS_EXCEEDED: final(431, 'headers_too_large', 'Headers too large'),
  REQUEST_TIMEOUT: final(408, 'request_timeout', 'Request timeout'),
  SERVICE_FAILED: final(500, 'internal', 'Internal error'),
  SERVICE_DRAINING: retryable(503, 'draining', 'Draining'),
  STORAGE_UNAVAILABLE: retryable(503, 'storage_unavailable', 'Storage unavailable'),
  DEADLINE_EXCEEDED: retryable(503, 'deadline_exceeded', 'Deadline exceeded'),
  KEY_EXPIRED: final(401, 'key_expired', 'API key expired'),
  KEY_REVOKED: final(401, 'key_revoked', 'API key revoked'),
  IP_REFUSED: final(403, 'ip_not_allowed', 'IP address not allowed'),
  TENANT_NOT_FOUND: final(404, 'tenant_not_found', 'Tenant not found'),
  KEY_NOT_FOUND: final(404, 'key_not_found', 'API key not found'),
  TENANT_EXISTS: final(409, 'tenant_exists', 'Tenant exists'),
  TENANT_LIMIT_REACHED: final(409, 'tenant_limit_reached', 'Tenant limit reached'),
  KEY_LIMIT_REACHED: final(409, 'key_limit_reached', 'API key limit reached'),
  KEY_INACTIVE: final(409, 'key_inactive', 'API key inactive'),
  KEY_LAST: final(409, 'last_admin_key', 'Last admin key'),
  RATE_LIMITED: retryable(429, 'rate_limited', 'Rate limited'),
  CURVE_NOT_FOUND: final(404, 'no_bonding_curve', 'No bonding curve'),
  INDEX_LOADING: retryable(503, 'index_loading', 'Index loading'),
  STREAM_KEY_REFUSED: final(403, 'stream_key_refused', 'Stream key refused'),
  CONNECTIONS_EXCEEDED: retryable(429, 'too_many_connections', 'Too many connections'),
  UPGRADE_MISSING: final(426, 'upgrade_required', 'Upgrade required'),
  ORIGIN_REFUSED: final(403, 'origin_not_allowed', 'Origin not allowed'),
  URL_REFUSED: final(422, 'url_not_allowed', 'URL not allowed'),
  CHANNEL_UNKNOWN: final(400, 'unknown_channel', 'Unknown channel'),
  WEBHOOK_NOT_FOUND: final(404, 'webhook_not_found', 'Webhook not found'),
  WEBHOOK_LIMIT_REACHED: final(409, 'webhook_limit_reached', 'Webhook limit reached'),
  IDEMPOTENCY_KEY_REUSED: final(422, 'idempotency_key_reused', 'Idempotency key reused'),
  UPSTREAM_ERROR: retryable(502, 'upstream_error', 'Upstream error'),
  TIP_MISSING: final(422, 'tip_missing', 'Tip missing'),
  UPSTREAM_TIMEOUT: retryable(504, 'upstream_timeout', 'Upstream timeout'),
  TRANSACTION_INVALID: final(400, 'transaction_invalid', 'Transaction invalid'),
  /** Shares the code of TRANSACTION_INVALID: the bytes were parsed, but are refused. */
  TRANSACTION_UNSIGNED: final(422, 'transaction_invalid', 'Transaction invalid'),
  PREFLIGHT_FAILED: final(422, 'preflight_failed', 'Preflight failed'),
  PROGRAM_NOT_WHITELISTED: final(403, 'program_not_whitelisted', 'Program not whitelisted'),
  PROGRAM_NOT_FOUND: final(404, 'program_not_found', 'Program not found'),
  PROGRAM_LIMIT_REACHED: final(409, 'program_limit_reached', 'Program limit reached'),
  CURSOR_EXPIRED: final(410, 'cursor_expired', 'Cursor expired'),
  TRANSACTION_LIMIT_REACHED: retryable(429, 'transaction_limit_reached', 'Transaction limit reached'),
  WATCH_NOT_FOUND: final(404, 'watch_not_found', 'Watch not found'),
  WATCH_LIMIT_REACHED: final(409, 'watch_limit_reached', 'Watch limit reached'),
  NOT_CONFIGURED: final(501, 'not_configured', 'Not configured'),
  OUTCOME_UNKNOWN: retryable(503, 'outcome_unknown', 'Outcome unknown'),
  /** Shares the code of DEADLINE_EXCEEDED: the checks of a change took too long, so the change was not made. */
  CHANGE_NOT_BEGUN: retryable(503, 'deadline_exceeded', 'Deadline exceeded'),
  SECRET_LIMIT_REACHED: final(409, 'secret_limit_reached', 'Secret limit reached'),
  NODE_NOT_FOUND: final(404, 'node_not_found', 'Node not found'),
  RESTARTING: retryable(503, 'restarting', 'Restarting')
} satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERRORS

/**
 * The class of all intended errors. Clients may see `detail`, except that of SERVICE_FAILED and STORAGE_UNAVAILABLE,
 * which is for the log (`kernel/http/problem.ts`).
 */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly fields: readonly { readonly field: string; readonly message: string }[]
  /** Additional members of the problem for clients, by their wire names; a `type` among them replaces ours. */
  readonly members: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      cause?: unknown
      fields?: readonly { field: string; message: string }[]
      members?: Readonly<Record<string, unknown>>
    } = {}
  ) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.detail = detail
    this.fields = options.fields ?? []
    this.members = options.members ?? {}
  }
}

/** It is unknown whether the store did a write: its answer was lost. */
export class UnknownOutcome extends ServiceError {
  constructor(detail: string, cause: unknown) {
    super('STORAGE_UNAVAILABLE', detail, { cause })
  }
}

/** The store refused a write, and refuses further ones until this process claims again. */
export class LostClaim extends ServiceError {
  /** Fencing token of the stored claim, if it is greater than this process's; null for another reason. */
  readonly outrankedBy: number | null

  constructor(
    code: ErrorCode,
    detail: string,
    { outrankedBy = null }: { readonly outrankedBy?: number | null } = {}
  ) {
    super(code, detail)
    this.outrankedBy = outrankedBy
  }
}
