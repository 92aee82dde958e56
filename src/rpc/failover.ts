import { RPC_CODE } from '../node/node-fault.ts'
import type { UpstreamCall } from './upstreams.ts'
import type { RawAnswer } from './raw-answer.ts'

/** The handling of a node's answer. */
export type Verdict =
  /** The client gets it. */
  | 'deliver'
  /** Another node may have the data. If no node has it, the client gets this answer. */
  | 'elsewhere'
  /** An archive may have the data. If no archive has it, the client gets this answer. */
  | 'archive'
  /** The node failed to answer. Another node is queried. If all fail, the client gets this answer. */
  | 'failed'
  /** The answer is older than the call's `minSlot`. The client never gets it. */
  | 'behind'

/** The node lacks the data, or no longer has it. Another node or an archive may have it (src/docs/rpc.md). */
const ABSENT_CODES: ReadonlySet<number> = new Set([
  RPC_CODE.blockCleanedUp,
  RPC_CODE.blockNotAvailable,
  RPC_CODE.slotSkipped,
  RPC_CODE.longTermSlotSkipped,
  RPC_CODE.transactionHistoryNotAvailable,
  RPC_CODE.blockStatusNotAvailableYet,
  RPC_CODE.longTermStorageUnreachable
])
/** The node is behind or unhealthy. */
const BEHIND_CODES: ReadonlySet<number | null> = new Set([
  RPC_CODE.nodeUnhealthy,
  RPC_CODE.minContextSlotNotReached
])

/** Server errors that are equal at every node: they depend on the request, or on the state that all nodes share. */
const SHARED_CODES: ReadonlySet<number> = new Set([
  RPC_CODE.sendTransactionPreflightFailure,
  RPC_CODE.signatureVerificationFailure,
  RPC_CODE.precompileVerificationFailure,
  RPC_CODE.noSnapshot,
  RPC_CODE.keyExcludedFromSecondaryIndex,
  RPC_CODE.scanError,
  RPC_CODE.signatureLengthMismatch,
  RPC_CODE.unsupportedTransactionVersion,
  RPC_CODE.epochRewardsPeriodActive,
  RPC_CODE.slotNotEpochBoundary,
  ...ABSENT_CODES
])

/**
 * Returns whether an error code is a failure of the node. Failures are internal errors, server codes that Solana does
 * not define (-32000 to -32099, JSON-RPC 2.0), and the code by which providers limit the rate.
 */
const isFailure = (code: number | null): boolean =>
  code === null ||
  code === RPC_CODE.internalError ||
  code === RPC_CODE.rateLimited ||
  (code <= -32_000 && code >= -32_099 && !SHARED_CODES.has(code))

/** Judges an answer to a read. `newest` is the newest slot known; null before the first. */
export function verdictOf(
  call: UpstreamCall,
  answer: Pick<RawAnswer, 'kind' | 'code' | 'slot' | 'isNull'>,
  newest: number | null
): Verdict {
  if (answer.kind === 'result') {
    if (answer.slot !== null && answer.slot < call.minSlot) return 'behind'
    return answer.isNull && call.method.nullIsAbsent && !isAhead(call, newest) ? 'archive' : 'deliver'
  }
  if (BEHIND_CODES.has(answer.code)) return 'elsewhere'
  if (call.method.isIdempotent && isFailure(answer.code)) return 'failed'
  const isAbsent = answer.code !== null && ABSENT_CODES.has(answer.code) && call.method.hasArchive
  return isAbsent && !isAhead(call, newest) ? 'elsewhere' : 'deliver'
}

/**
 * Returns whether a call requests a slot that no node has reached. Clients poll for it, and other nodes do not have
 * it either.
 */
function isAhead({ params }: UpstreamCall, newest: number | null): boolean {
  const slot = /^\[\s*(\d+)\s*[,\]]/.exec(params ?? '')?.[1]
  return slot !== undefined && newest !== null && Number(slot) > newest
}
