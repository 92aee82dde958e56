/** Why a node gave no result. */
export type NodeFault =
  /** No connection, or one that was dropped. */
  | { readonly kind: 'unreachable'; readonly detail: string }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** 401 or 403: the node does not know us, and asking again does not help. */
  | { readonly kind: 'unauthorized'; readonly status: number }
  /** 429: nothing is sent to the node until then. */
  | { readonly kind: 'throttled'; readonly restMs: number }
  | { readonly kind: 'http'; readonly status: number }
  /** An error in the words of JSON-RPC. */
  | { readonly kind: 'rpc'; readonly code: number; readonly message: string }
  /** Truncated, no JSON, or no answer to what was asked. */
  | { readonly kind: 'garbage'; readonly detail: string }
  | { readonly kind: 'too-large'; readonly bytesMax: number }
  /** More requests wait for this node than may. */
  | { readonly kind: 'busy'; readonly waiting: number }

/** Codes of JSON-RPC errors that Solana's nodes give (agave rpc-client-api, custom_error.rs). */
export const RPC_CODE = {
  blockCleanedUp: -32001,
  blockNotAvailable: -32004,
  nodeUnhealthy: -32005,
  slotSkipped: -32007,
  transactionHistoryNotAvailable: -32011,
  longTermSlotSkipped: -32009,
  blockStatusNotAvailableYet: -32014,
  unsupportedTransactionVersion: -32015,
  longTermStorageUnreachable: -32019,
  methodNotFound: -32601,
  invalidParams: -32602
} as const

/** A request that a node did not answer with a result. The message names the node and no part of its URL. */
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

/** A fault as an operator reads it. */
export function describeFault(fault: NodeFault): string {
  switch (fault.kind) {
    case 'unreachable':
      return `unreachable: ${fault.detail}`
    case 'timeout':
      return `no answer within ${fault.afterMs} ms`
    case 'unauthorized':
      return `refuses us with HTTP ${fault.status}: check the token in its URL`
    case 'throttled':
      return `HTTP 429: it is asked again after ${fault.restMs} ms`
    case 'http':
      return `HTTP ${fault.status}`
    case 'rpc':
      return `JSON-RPC error ${fault.code}: ${fault.message}`
    case 'garbage':
      return `an answer that cannot be read: ${fault.detail}`
    case 'too-large':
      return `an answer of more than ${fault.bytesMax} bytes`
    case 'busy':
      return `${fault.waiting} requests wait for it`
  }
}
