/**
 * Every intended error: its code, HTTP status, code and title on the wire, and whether a retry can help. Append-only.
 */
export const ERRORS = {
  PARAMETER_INVALID: { status: 400, code: 'invalid_parameter', title: 'Invalid parameter', retryable: false },
  ADDRESS_INVALID: { status: 400, code: 'invalid_address', title: 'Invalid address', retryable: false },
  CURSOR_INVALID: { status: 400, code: 'invalid_cursor', title: 'Invalid cursor', retryable: false },
  JSON_INVALID: { status: 400, code: 'malformed_json', title: 'Malformed JSON', retryable: false },
  KEY_MISSING: { status: 401, code: 'missing_api_key', title: 'Missing API key', retryable: false },
  KEY_INVALID: { status: 401, code: 'invalid_api_key', title: 'Invalid API key', retryable: false },
  SCOPE_MISSING: { status: 403, code: 'insufficient_scope', title: 'Insufficient scope', retryable: false },
  ROUTE_NOT_FOUND: { status: 404, code: 'unknown_route', title: 'Unknown route', retryable: false },
  TOKEN_NOT_FOUND: { status: 404, code: 'token_not_found', title: 'Token not found', retryable: false },
  POOL_NOT_FOUND: { status: 404, code: 'pool_not_found', title: 'Pool not found', retryable: false },
  METHOD_INVALID: { status: 405, code: 'method_not_allowed', title: 'Method not allowed', retryable: false },
  BODY_EXCEEDED: { status: 413, code: 'body_too_large', title: 'Body too large', retryable: false },
  MEDIA_TYPE_INVALID: {
    status: 415,
    code: 'unsupported_media_type',
    title: 'Unsupported media type',
    retryable: false
  },
  HEADERS_EXCEEDED: { status: 431, code: 'headers_too_large', title: 'Headers too large', retryable: false },
  REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', title: 'Request timeout', retryable: false },
  SERVICE_FAILED: { status: 500, code: 'internal', title: 'Internal error', retryable: false },
  SERVICE_DRAINING: { status: 503, code: 'draining', title: 'Draining', retryable: true },
  STORAGE_UNAVAILABLE: {
    status: 503,
    code: 'storage_unavailable',
    title: 'Storage unavailable',
    retryable: true
  },
  DEADLINE_EXCEEDED: {
    status: 503,
    code: 'deadline_exceeded',
    title: 'Deadline exceeded',
    retryable: true
  },
  KEY_EXPIRED: { status: 401, code: 'key_expired', title: 'API key expired', retryable: false },
  KEY_REVOKED: { status: 401, code: 'key_revoked', title: 'API key revoked', retryable: false },
  IP_REFUSED: { status: 403, code: 'ip_not_allowed', title: 'IP address not allowed', retryable: false },
  TENANT_NOT_FOUND: { status: 404, code: 'tenant_not_found', title: 'Tenant not found', retryable: false },
  KEY_NOT_FOUND: { status: 404, code: 'key_not_found', title: 'API key not found', retryable: false },
  TENANT_EXISTS: { status: 409, code: 'tenant_exists', title: 'Tenant exists', retryable: false },
  TENANT_LIMIT_REACHED: {
    status: 409,
    code: 'tenant_limit_reached',
    title: 'Tenant limit reached',
    retryable: false
  },
  KEY_LIMIT_REACHED: {
    status: 409,
    code: 'key_limit_reached',
    title: 'API key limit reached',
    retryable: false
  },
  KEY_INACTIVE: { status: 409, code: 'key_inactive', title: 'API key inactive', retryable: false },
  KEY_LAST: { status: 409, code: 'last_admin_key', title: 'Last admin key', retryable: false },
  RATE_LIMITED: { status: 429, code: 'rate_limited', title: 'Rate limited', retryable: true },
  CURVE_NOT_FOUND: { status: 404, code: 'no_bonding_curve', title: 'No bonding curve', retryable: false },
  INDEX_LOADING: { status: 503, code: 'index_loading', title: 'Index loading', retryable: true },
  STREAM_KEY_REFUSED: {
    status: 403,
    code: 'stream_key_refused',
    title: 'Stream key refused',
    retryable: false
  },
  CONNECTIONS_EXCEEDED: {
    status: 429,
    code: 'too_many_connections',
    title: 'Too many connections',
    retryable: true
  },
  UPGRADE_MISSING: { status: 426, code: 'upgrade_required', title: 'Upgrade required', retryable: false },
  ORIGIN_REFUSED: { status: 403, code: 'origin_not_allowed', title: 'Origin not allowed', retryable: false },
  URL_REFUSED: { status: 422, code: 'url_not_allowed', title: 'URL not allowed', retryable: false },
  CHANNEL_UNKNOWN: { status: 400, code: 'unknown_channel', title: 'Unknown channel', retryable: false },
  WEBHOOK_NOT_FOUND: { status: 404, code: 'webhook_not_found', title: 'Webhook not found', retryable: false },
  WEBHOOK_LIMIT_REACHED: {
    status: 409,
    code: 'webhook_limit_reached',
    title: 'Webhook limit reached',
    retryable: false
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    code: 'idempotency_key_reused',
    title: 'Idempotency key reused',
    retryable: false
  },
  UPSTREAM_ERROR: { status: 502, code: 'upstream_error', title: 'Upstream error', retryable: true },
  TIP_MISSING: { status: 422, code: 'tip_missing', title: 'Tip missing', retryable: false },
  UPSTREAM_TIMEOUT: { status: 504, code: 'upstream_timeout', title: 'Upstream timeout', retryable: true },
  TRANSACTION_INVALID: {
    status: 400,
    code: 'transaction_invalid',
    title: 'Transaction invalid',
    retryable: false
  },
  /** With the code of TRANSACTION_INVALID: the bytes are understood, and refused. */
  TRANSACTION_UNSIGNED: {
    status: 422,
    code: 'transaction_invalid',
    title: 'Transaction invalid',
    retryable: false
  },
  PREFLIGHT_FAILED: { status: 422, code: 'preflight_failed', title: 'Preflight failed', retryable: false },
  PROGRAM_NOT_WHITELISTED: {
    status: 403,
    code: 'program_not_whitelisted',
    title: 'Program not whitelisted',
    retryable: false
  },
  PROGRAM_NOT_FOUND: { status: 404, code: 'program_not_found', title: 'Program not found', retryable: false },
  PROGRAM_LIMIT_REACHED: {
    status: 409,
    code: 'program_limit_reached',
    title: 'Program limit reached',
    retryable: false
  },
  CURSOR_EXPIRED: { status: 410, code: 'cursor_expired', title: 'Cursor expired', retryable: false },
  TRANSACTION_LIMIT_REACHED: {
    status: 429,
    code: 'transaction_limit_reached',
    title: 'Transaction limit reached',
    retryable: true
  }
} as const

export type ErrorCode = keyof typeof ERRORS

/**
 * The class of all intended errors. Clients may see `detail`, except that of SERVICE_FAILED and STORAGE_UNAVAILABLE,
 * which is for the log (`http/problem.ts`).
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
