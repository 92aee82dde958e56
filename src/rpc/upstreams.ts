import type { RunPiece } from '../kernel/work/turns.ts'
import type { Commitment } from './commitment.ts'
import type { RpcMethod } from './methods.ts'

/** A node, with the facts that the choice among nodes needs. */
export interface RpcUpstream {
  /** Host and port; sections of the URL that may be secret are left out. */
  readonly name: string
  /** Index in MILLRACE_RPC_URL (or in the list of archives), also of the node's pubsub URL. */
  readonly index: number
  readonly isArchive: boolean
  /** Only `healthy` and `lagging` nodes get requests, `healthy` ones first. */
  readonly state: 'probing' | 'healthy' | 'lagging' | 'down' | 'refused'
  /** The newest slot that the node has proven at a commitment; null before the first. */
  slot(commitment: Commitment): number | null
  /** Average latency of recent requests in milliseconds; null before the first. */
  readonly latencyMs: number | null
}

/** A request to a node: the method, and the bytes of its params as the client wrote them. */
export interface UpstreamCall {
  readonly method: RpcMethod
  /** JSON of the params; null if the client sent none. */
  readonly params: string | null
  readonly commitment: Commitment
  /** The lowest slot that the answer may have: the greater of `minContextSlot` and the key's floor. */
  readonly minSlot: number
  /** The client's `minContextSlot`; 0 if the params name none. Unlike the key's floor it is never abandoned. */
  readonly minContextSlot: number
}

/**
 * A node's answer. `bytes` is the raw value of `result` or `error`, unchanged. For a long answer still arriving,
 * `rest` yields the bytes after `bytes`. `rest` throws if the node breaks off; the client's answer must then be
 * broken off too.
 */
export interface UpstreamAnswer {
  readonly kind: 'result' | 'error'
  readonly bytes: Buffer
  /** Null if `bytes` holds the whole answer. */
  readonly rest: AsyncIterable<Buffer> | null
  /** The code of an error; null for a result. */
  readonly code: number | null
  /** The slot of the answer; null if the answer does not state it. */
  readonly slot: number | null
  readonly node: string
}

/** No node answers: the client gets −32603 with `retryable`. The message contains no section of a URL. */
export class NoUpstream extends Error {
  override readonly name = 'NoUpstream'
  /** Milliseconds after which a node has budget again; null for any other reason. */
  readonly retryAfterMs: number | null

  constructor(message: string, options: { readonly cause?: unknown; readonly retryAfterMs?: number } = {}) {
    super(message, { cause: options.cause })
    this.retryAfterMs = options.retryAfterMs ?? null
  }
}

/** The answers to a request are longer than ANSWER_BYTES_MAX. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** The nodes refuse the request itself, with an HTTP status (`refusesRequest`). */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly status: number

  constructor(status: number) {
    super(`the node refuses the request with HTTP ${status}`)
    this.status = status
  }
}

/** Reasons why no node has answered a request. */
export type Unanswered = NoUpstream | AnswerTooLarge | RequestRefused

export const isUnanswered = (error: unknown): error is Unanswered =>
  error instanceof NoUpstream || error instanceof AnswerTooLarge || error instanceof RequestRefused

/** The operator's nodes behind the RPC URL: chosen by health and slot, with failover and hedging. */
export interface RpcUpstreams {
  /** The nodes, the preferred one first for answers of at least a slot. Archives are last. */
  inOrder(commitment: Commitment, minSlot: number): readonly RpcUpstream[]
  /** The newest slot of any node at a commitment; null before the first. */
  newest(commitment: Commitment): number | null
  /** The newest slot that a node is at, or was at in the last five seconds; Infinity before the first. */
  reached(commitment: Commitment): number
  /** Records a slot learned elsewhere, such as from a notification. */
  sawSlot(node: string, commitment: Commitment, slot: number): void
  /** Returns whether an operator has cordoned the node at an index of MILLRACE_RPC_URL. */
  isCordoned(index: number): boolean
  /** Calls `listener` whenever a node's state changes, until the returned function is called. */
  onChange(listener: () => void): () => void
  /**
   * Sends a request to the best node, and to other nodes as the method allows. Rejects with `Unanswered` or the
   * signal's reason; without a signal the request is never aborted. A JSON-RPC error of a node counts as an answer.
   */
  request(call: UpstreamCall, signal: AbortSignal | null): Promise<UpstreamAnswer>
  /**
   * Like `request` for several reads: one batch to one node if that node accepts batches. The node is selected by the
   * first call's commitment and the highest `minSlot`. A long answer is read in pieces.
   */
  requestAll(
    calls: readonly UpstreamCall[],
    signal: AbortSignal | null,
    runPiece?: RunPiece
  ): Promise<readonly (UpstreamAnswer | Unanswered)[]>
}
