/** A JSON-RPC 2.0 error. Codes and messages are those of Agave 4.2. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown
  /** Place of the wrong value inside the value that was read, as `[0].memcmp.offset`. A node's answer does not show it. */
  place = ''

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const parseError = (): RpcError => new RpcError(-32700, 'Parse error')
export const invalidRequest = (message = 'Invalid request'): RpcError => new RpcError(-32600, message)
export const methodNotFound = (): RpcError => new RpcError(-32601, 'Method not found')
export const invalidParams = (message: string, data?: unknown): RpcError =>
  new RpcError(-32602, message, data)
export const internalError = (message = 'Internal error'): RpcError => new RpcError(-32603, message)

/** Errors with custom codes (agave, rpc-client-api/src/custom_error.rs). */
export const blockCleanedUp = (slot: number, first: number): RpcError =>
  new RpcError(-32001, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`)

export const preflightFailure = (reason: string, simulation: unknown): RpcError =>
  new RpcError(-32002, `Transaction simulation failed: ${reason}`, simulation)

export const blockNotAvailable = (slot: number): RpcError =>
  new RpcError(-32004, `Block not available for slot ${slot}`)

export const nodeUnhealthy = (numSlotsBehind: number): RpcError =>
  new RpcError(-32005, `Node is behind by ${numSlotsBehind} slots`, { numSlotsBehind })

export const slotSkipped = (slot: number): RpcError =>
  new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`)

export const noSnapshot = (): RpcError => new RpcError(-32008, 'No snapshot')

export const unsupportedVersion = (version: number): RpcError =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again ` +
      `with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`
  )

export const minContextSlotNotReached = (contextSlot: number): RpcError =>
  new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot })

export const transactionNotFound = (signature: string): RpcError =>
  new RpcError(-32020, `Transaction ${signature} not found`)
