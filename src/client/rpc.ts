import { ApiError } from './api-error.ts'
import { readAnswer, type Requester } from './requester.ts'
import type { RequestOptions } from './request-options.ts'

/** JSON-RPC of a Solana node. */
export interface Rpc {
  /** The URL for `new Connection(url)` of `@solana/web3.js` and `createSolanaRpc(url)` of `@solana/kit`. It has the key. */
  readonly url: string
  /** The URL for `createSolanaRpcSubscriptions(socketUrl)`, and for `wsEndpoint` of a `Connection`. It has the key. */
  readonly socketUrl: string
  /** Calls a method without a library. Rejects with RpcError if the node refuses the call. */
  call<Result = unknown>(
    method: string,
    params?: readonly unknown[],
    options?: RequestOptions
  ): Promise<Result>
}

/** An error of JSON-RPC. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(method: string, { code, message, data }: ErrorObject) {
    super(`${method}: ${code}: ${message}`)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

interface RpcAnswer {
  readonly result?: unknown
  readonly error?: ErrorObject
}

const PATH = '/v1/rpc'
/** Methods that may be sent twice: reads, simulations, and a signed transaction, which lands once. */
const REPEATABLE = /^(get|is|minimum|simulate)|^sendTransaction$/

/** Makes the access to JSON-RPC. */
export function rpcOf(requester: Requester): Rpc {
  const { url, key } = requester.settings
  const rpcUrl = `${url}${PATH}?${new URLSearchParams({ 'api-key': key }).toString()}`
  return {
    url: rpcUrl,
    socketUrl: rpcUrl.replace(/^http/, 'ws'),
    async call(method, params = [], options = {}) {
      const body = { jsonrpc: '2.0', id: 1, method, params }
      const request = { method: 'POST', path: PATH, body, isRepeatable: REPEATABLE.test(method) }
      const answer = await requester.send(request, options, readAnswer).catch((error: unknown) => {
        if (error instanceof ApiError && isRefusal(error.body)) return error.body
        throw error
      })
      const { error, result } = answer as RpcAnswer
      if (error !== undefined) throw new RpcError(method, error)
      return result as never
    }
  }
}

function isRefusal(body: unknown): body is RpcAnswer {
  return typeof body === 'object' && body !== null && 'jsonrpc' in body && 'error' in body
}
