import { workUsedUp } from '../../kernel/work/work-units.ts'
import type { RpcError } from '../rpc-error.ts'

/** The refusal of an element beyond the key's quota (src/docs/rpc.md). `resetIn` is in seconds. */
export const rateLimited = (ratePerMinute: number, resetIn: number): RpcError => ({
  code: -32429,
  message: `this key may make ${ratePerMinute} requests a minute; the next minute begins in ${resetIn} s`,
  data: { limit: ratePerMinute, retry_after: resetIn, retryable: true }
})

/** The refusal of an element whose key or tenant has used up its work. `resetIn` is in seconds. */
export const workRateLimited = (workPerMinute: number, resetIn: number): RpcError => ({
  code: -32429,
  message: workUsedUp(workPerMinute, resetIn),
  data: { limit: workPerMinute, violated_policies: ['work'], retry_after: resetIn, retryable: true }
})
