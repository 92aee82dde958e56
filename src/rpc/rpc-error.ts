import { excessText, JSON_DEPTH_MAX, type JsonExcess } from '../kernel/json-depth.ts'

/** A JSON-RPC error of this service, not of a node. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** A refusal of a request: its error, and the HTTP status if the whole request is refused. */
export interface Refusal {
  readonly status: number
  readonly error: RpcError
  /** Seconds after which the request may be repeated; absent if unknown. */
  readonly retryAfter?: number
}

/** Maximum bytes of a request body (src/docs/rpc.md). */
export const BODY_BYTES_MAX = 256 * 1024
/** Maximum elements of a batch: over HTTP, and over a socket. */
export const HTTP_BATCH_MAX = 100
export const SOCKET_BATCH_MAX = 20
/** Maximum bytes of all answers to one request. */
export const ANSWER_BYTES_MAX = 32 * 1024 * 1024

export const PARSE_ERROR: Refusal = { status: 200, error: { code: -32700, message: 'Parse error' } }
const TOO_DEEP: Refusal = {
  status: 200,
  error: { code: -32700, message: `Parse error: nested deeper than ${JSON_DEPTH_MAX}` }
}
/** Returns the refusal of a body that exceeds a limit of its structure, and is not parsed. */
export const excessive = (excess: JsonExcess): Refusal =>
  excess === 'levels'
    ? TOO_DEEP
    : { status: 200, error: { code: -32600, message: `Invalid request: it ${excessText(excess)}` } }
export const INVALID_REQUEST: Refusal = { status: 200, error: { code: -32600, message: 'Invalid request' } }
export const NO_VERSION: Refusal = {
  status: 200,
  error: { code: -32600, message: 'Unsupported JSON-RPC protocol version' }
}
/**
 * A method that is not served. `setting` names the setting that adds methods of the nodes; no setting adds subscriptions.
 */
export const methodNotFound = (method: string): Refusal => ({
  status: 200,
  error: {
    code: -32601,
    message: 'Method not found',
    ...(!/(?:S|Uns)ubscribe$/.test(method) && { data: { setting: 'MILLRACE_RPC_ALLOW' } })
  }
})
export const NOT_PROCESSED: Refusal = {
  status: 200,
  error: { code: -32602, message: 'Method does not support commitment below `confirmed`' }
}

export const batchTooLarge = (limit: number): Refusal => ({
  status: 413,
  error: { code: -32600, message: 'batch too large', data: { limit } }
})

export const BODY_TOO_LARGE: Refusal = {
  status: 413,
  error: { code: -32600, message: 'request body too large', data: { limit: BODY_BYTES_MAX } }
}

export const methodRejected = (method: string, see: string): Refusal => ({
  status: 403,
  error: { code: -32601, message: 'Method not available: use the Data API', data: { method, see } }
})

export const scopeMissing = (scope: string): Refusal => ({
  status: 403,
  error: { code: -32600, message: `this key lacks the scope ${scope}`, data: { scope } }
})

/** No node answers. The request may be repeated, after `retryAfter` seconds if given. */
export const upstreamDown = (
  message = 'no node can answer this request now',
  retryAfter?: number
): Refusal => ({
  status: 502,
  error: {
    code: -32603,
    message,
    data: { ...(retryAfter !== undefined && { retry_after: retryAfter }), retryable: true }
  },
  ...(retryAfter !== undefined && { retryAfter })
})

/** The accounts of one request, of all elements of a batch, exceeded the computing time of a request. */
export const TOOK_TOO_LONG: Refusal = {
  status: 503,
  error: {
    code: -32603,
    message:
      'the accounts could not be read in time; select fewer by filters, or page with GET /v1/programs/{programId}/accounts',
    data: { retryable: true }
  }
}

/** The process has no node, so a retry does not help. */
export const NO_NODE: Refusal = {
  status: 501,
  error: {
    code: -32603,
    message: 'this service has no node',
    data: { code: 'not_configured', retryable: false }
  }
}

/** Every queried node refuses the request: `status` is the HTTP status of the last one. */
export const refusedByNode = (status: number): Refusal =>
  status === 413
    ? {
        status,
        error: {
          code: -32600,
          message: 'the request is too large for the node; send less at once',
          data: { retryable: false }
        }
      }
    : {
        status: 200,
        error: {
          code: -32600,
          message: `the node refuses this request with HTTP ${status}`,
          data: { retryable: false }
        }
      }

/** The answers of a request are longer than ANSWER_BYTES_MAX. */
export const ANSWER_TOO_LARGE: Refusal = {
  status: 200,
  error: {
    code: -32603,
    message: 'the answer is too large; request less data at once',
    data: { limit: ANSWER_BYTES_MAX, retryable: false }
  }
}

/** Returns the text of a response with an error. `id` is the JSON text of the request's id. */
export function errorText({ code, message, data }: RpcError, id: string): string {
  const error = JSON.stringify({ code, message, ...(data !== undefined && { data }) })
  return `{"jsonrpc":"2.0","error":${error},"id":${id}}`
}
