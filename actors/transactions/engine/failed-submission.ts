import { RPC_CODE, wasNotTaken, type NodeError, type NodeFault } from '../../../src/node/node-fault.ts'
import type { SubmissionOutcome } from '../../../src/transactions/ports.ts'

/** Pause of a region that refuses for its rate without saying for how long. */
const REST_MS = 1_000
/** Pause before a submission that no region can have taken is retried, in milliseconds. */
export const DEFERRED_MS = 1_000
/** Codes by which the engine refuses for its rate limit within an answer: it has taken nothing. */
const RATE_CODES: readonly number[] = [-32097, -32429]
const INTERNAL_ERROR = -32603
const REQUEST_TIMEOUT = 408
/** HTTP statuses by which a region refuses the submission itself. Others concern the region. */
const REFUSING: readonly number[] = [400, 413, 415, 422]

/** Returns how long a region rests that refuses for its rate, in milliseconds; null for another fault. */
export function rateRestMs(fault: NodeFault): number | null {
  if (fault.kind === 'throttled') return fault.restMs
  return fault.kind === 'rpc' && RATE_CODES.includes(fault.code) ? REST_MS : null
}

/** Tells whether a refusal concerns the region, such as a wrong path, so that another region may accept the submission. */
export function isOfRegion({ code }: { readonly code: number }): boolean {
  return code === RPC_CODE.methodNotFound || (code > 0 && !REFUSING.includes(code))
}

/** Returns the outcome of a submission that failed with a fault. */
export function outcomeOf(error: NodeError): SubmissionOutcome {
  const { fault, message: detail } = error
  switch (fault.kind) {
    case 'throttled':
      return { kind: 'deferred', detail, waitMs: fault.restMs }
    case 'busy':
    case 'unauthorized':
      return { kind: 'deferred', detail, waitMs: DEFERRED_MS }
    case 'unreachable':
      return wasNotTaken(error)
        ? { kind: 'deferred', detail, waitMs: DEFERRED_MS }
        : { kind: 'unsure', detail }
    case 'rpc':
      if (RATE_CODES.includes(fault.code)) return { kind: 'deferred', detail, waitMs: REST_MS }
      if (fault.code === INTERNAL_ERROR) return { kind: 'unsure', detail }
      return { kind: 'refused', code: fault.code, message: fault.message }
    case 'http':
      return fault.status < 500 && fault.status !== REQUEST_TIMEOUT
        ? { kind: 'refused', code: fault.status, message: `HTTP ${fault.status}` }
        : { kind: 'unsure', detail }
    default:
      return { kind: 'unsure', detail }
  }
}
