/** A reason for which a node returned no result. */
export type NodeFault =
  /** No connection, or a dropped one. */
  | { readonly kind: 'unreachable'; readonly detail: string }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** HTTP 401 or 403: the node rejects our credentials; retrying does not help. */
  | { readonly kind: 'unauthorized'; readonly status: number }
  /** HTTP 429: no request is sent to the node for this time. */
  | { readonly kind: 'throttled'; readonly restMs: number }
  | { readonly kind: 'http'; readonly status: number }
  /** A JSON-RPC error. */
  | { readonly kind: 'rpc'; readonly code: number; readonly message: string }
  /** A truncated answer, invalid JSON, or not an answer to the request. */
  | { readonly kind: 'garbage'; readonly detail: string }
  | { readonly kind: 'too-large'; readonly bytesMax: number }
  /** The answers of all nodes together have too many bytes in memory, and this one had the most. */
  | { readonly kind: 'memory-exceeded'; readonly bytesMax: number }
  /** Too many requests are queued for this node. */
  | { readonly kind: 'busy'; readonly waiting: number }

/** JSON-RPC error codes of Solana's nodes (agave rpc-client-api, custom_error.rs). */
export const RPC_CODE = {
  blockCleanedUp: -32001,
  sendTransactionPreflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  nodeUnhealthy: -32005,
  precompileVerificationFailure: -32006,
  slotSkipped: -32007,
  noSnapshot: -32008,
  longTermSlotSkipped: -32009,
  keyExcludedFromSecondaryIndex: -32010,
  transactionHistoryNotAvailable: -32011,
  scanError: -32012,
  signatureLengthMismatch: -32013,
  blockStatusNotAvailableYet: -32014,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
  epochRewardsPeriodActive: -32017,
  slotNotEpochBoundary: -32018,
  longTermStorageUnreachable: -32019,
  /** Not one of Solana's codes: providers answer it with HTTP 200 where they limit the rate. */
  rateLimited: -32429,
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603
} as const

/** A request that failed. The message names the node, and contains no part of its URL. */
export class NodeError extends Error {
  readonly fault: NodeFault
  readonly node: string

  constructor(node: string, fault: NodeFault, cause?: unknown) {
    super(`${node}: ${describeFault(fault)}`, cause === undefined ? undefined : { cause })
    this.name = 'NodeError'
    this.node = node
    this.fault = fault
  }
}

/** Describes a fault for an operator. */
export function describeFault(fault: NodeFault): string {
  switch (fault.kind) {
    case 'unreachable':
      return `unreachable: ${fault.detail}`
    case 'timeout':
      return `no answer within ${fault.afterMs} ms`
    case 'unauthorized':
      return `refuses requests with HTTP ${fault.status}: check the token in its URL`
    case 'throttled':
      return `HTTP 429: the next request is sent after ${fault.restMs} ms`
    case 'http':
      return `HTTP ${fault.status}`
    case 'rpc':
      return `JSON-RPC error ${fault.code}: ${fault.message}`
    case 'garbage':
      return `an answer that cannot be read: ${fault.detail}`
    case 'too-large':
      return `an answer of more than ${fault.bytesMax} bytes`
    case 'memory-exceeded':
      return `the largest of answers that together have more than ${fault.bytesMax} bytes (half of MILLRACE_MEMORY_MB)`
    case 'busy':
      return `${fault.waiting} requests wait for it`
  }
}

/**
 * HTTP statuses by which a node refuses a request for its content: malformed, too large, not processable. Another
 * request to this node may succeed, so these are not faults of the node.
 */
const REFUSING_STATUSES: readonly number[] = [400, 413, 422]
const TOO_LARGE_STATUS = 413

/** Returns whether a node refused the request itself with an HTTP status, without a JSON-RPC error. */
export const refusesRequest = (fault: NodeFault): boolean =>
  fault.kind === 'http' && REFUSING_STATUSES.includes(fault.status)

/** Returns whether a node refused a request for its size, before reading it. */
export const refusesSize = (fault: NodeFault): boolean =>
  fault.kind === 'http' && fault.status === TOO_LARGE_STATUS

/** Codes of errors by which no connection was made. */
const NOT_CONNECTED: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT'
]

/**
 * Returns whether a node cannot have taken a failed request, so that even a send may go to another node: no connection was
 * made, or the node refused the request for its rate or size without reading it.
 */
export function wasNotTaken({ fault, cause }: NodeError): boolean {
  if (fault.kind === 'busy' || fault.kind === 'throttled' || refusesSize(fault)) return true
  const { code = '', syscall } = (cause ?? {}) as NodeJS.ErrnoException
  // EHOSTUNREACH can also end an open connection, after bytes were sent.
  return NOT_CONNECTED.includes(code) && syscall !== 'read' && syscall !== 'write'
}

/** Returns whether the node closed a connection while a request was on it, as it may close an idle one. */
export function isDropped({ cause }: NodeError): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** Returns whether a node refused because it stores no transaction history. */
export const hasNoHistory = (error: unknown): boolean =>
  error instanceof NodeError &&
  error.fault.kind === 'rpc' &&
  error.fault.code === RPC_CODE.transactionHistoryNotAvailable
