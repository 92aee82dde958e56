import type { FastifyReply } from 'fastify'
import type { Caller } from '../../access/caller.ts'
import type { RateCounter, RateUse } from '../../../storage/cluster/coordination.ts'
import { WINDOW_SECONDS } from '../../access/rate-window.ts'
import { ServiceError } from '../../errors.ts'
import { setFields, type Fields } from '../fields.ts'

const POLICY = 'per-minute'
/** The problem type of an exceeded quota (draft-ietf-httpapi-ratelimit-headers). */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded'

/** Header names set only in this file; pages of other origins may read them. */
export const RATE_HEADERS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset'
] as const

/** Returns the rate limit headers of an answer; `quota` is in calls a minute. */
// prettier-ignore
export function rateFields(quota: number, { left, resetIn, resetAt }: RateUse): Fields {
  return [
    'ratelimit-policy', `"${POLICY}";q=${quota};w=${WINDOW_SECONDS}`,
    'ratelimit', `"${POLICY}";r=${left};t=${resetIn}`,
    'x-ratelimit-limit', String(quota),
    'x-ratelimit-remaining', String(left),
    'x-ratelimit-reset', String(resetAt)
  ]
}

/**
 * Returns a function that charges each call to its key's quota of the minute. It also sets the rate limit headers,
 * and refuses excess calls (spec choices, section 4). A call costs 1, or the given number of units; a refused one
 * costs nothing.
 */
export function chargeCall(limits: RateCounter) {
  return (
    { keyId, ratePerMinute: quota }: Caller,
    reply: FastifyReply,
    nowMs: number,
    done: (refusal?: Error) => void,
    units = 1
  ): void => {
    const charged = (use: RateUse): void => {
      setFields(reply, rateFields(quota, use))
      if (use.allowed) return done()
      void reply.header('retry-after', use.resetIn)
      done(quotaExceeded(quota, use))
    }
    const use = limits.take(keyId, quota, nowMs, units)
    if (use instanceof Promise) use.then(charged, done)
    else charged(use)
  }
}

/** Returns the refusal of a call beyond the quota of its key. */
export function quotaExceeded(quota: number, use: RateUse): ServiceError {
  const detail = `this key may make ${quota} requests a minute; the next minute begins in ${use.resetIn} s`
  return excess({ detail, policy: POLICY, quota, use })
}

interface Excess {
  readonly detail: string
  readonly policy: string
  readonly quota: number
  readonly use: RateUse
}

/** Returns the refusal of an excess request, and sets the header with the time to retry. */
export function rateLimited(reply: FastifyReply, of: Excess): ServiceError {
  void reply.header('retry-after', of.use.resetIn)
  return excess(of)
}

function excess({ detail, policy, quota, use }: Excess): ServiceError {
  return new ServiceError('RATE_LIMITED', detail, {
    members: {
      type: QUOTA_EXCEEDED,
      'violated-policies': [policy],
      limit: quota,
      window_seconds: WINDOW_SECONDS,
      retry_after: use.resetIn
    }
  })
}
