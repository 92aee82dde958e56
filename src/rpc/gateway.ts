import type { Caller } from '../access/caller.ts'
import type { ParsedRequest } from './requests.ts'
import type { RpcWork } from './rpc-work.ts'

/** A complete answer's body, or a stream of its pieces. */
export type ReplyBody = Buffer | AsyncIterable<Buffer>

/** The answer to a request body: HTTP status, and bytes; null if no answer is due (all notifications). */
export interface RpcReply {
  readonly status: number
  /** If a body that is still arriving throws, the client's connection must be broken off too. */
  readonly body: ReplyBody | null
  /** The values of the HTTP header fields. */
  readonly facts: ReplyFacts
  /** Seconds after which a refused request may be repeated; absent if unknown. */
  readonly retryAfter?: number
}

/** Facts of an answer that HTTP clients see in header fields. Null if they do not apply, as for most batches. */
export interface ReplyFacts {
  /**
   * `hit`: from the cache; `joined`: shared with an equal request in flight; `miss`: from a node; `local`: answered
   * by this process.
   */
  readonly cache: 'hit' | 'joined' | 'miss' | 'local' | null
  /** Age of a cached answer in milliseconds, since the node gave it. */
  readonly ageMs: number | null
  /** The slot of the answer. */
  readonly slot: number | null
}

/** The caller of a request, and the rules of its transport. */
export interface RpcRequestContext {
  readonly caller: Caller
  /** Elements that a batch may have: 100 over HTTP, 20 over a socket (src/docs/rpc.md). */
  readonly batchMax: number
  /** Whether sent transactions are tracked like those of /v1/tx/send. */
  readonly tracks: boolean
  readonly signal: AbortSignal
  /** Where the work of the request is charged; absent if it is free. */
  readonly work?: RpcWork
}

/** Answers JSON-RPC bodies, single requests and batches. HTTP and sockets share it, with its cache and its floors. */
export interface RpcGateway {
  /**
   * Answers a body that `parseRequest` has read. Every fault becomes an answer; the promise rejects only with the
   * signal's reason or a store error. The caller charges the quota (`costOf`) first. An answer that needs no wait is
   * returned without a promise.
   */
  answer(request: ParsedRequest, context: RpcRequestContext): RpcReply | Promise<RpcReply>
}
