import type { FastifyReply } from 'fastify'
import type { Caller } from '../../access/caller.ts'
import type { RateCounter, RateUse } from '../../../storage/coordination.ts'
import { WINDOW_SECONDS } from '../../access/rate-window.ts'
import { ServiceError } from '../../errors.ts'
import { setFields, type Fields } from '../fields.ts'

const POLICY = 'per-minute'
/** What draft-ietf-httpapi-ratelimit-headers calls a refusal. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded'

/** Headers that only this file sets; pages of other origins are shown them. */
export const RATE_HEADERS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset'
] as const

/** What is left of a quota of calls a minute, in the words of RATE_HEADERS. */
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
 * Takes each call out of its key's quota for the minute, says what is left on every response, and refuses what is too
 * much (spec choices, section 4). A call costs 1; one that is refused here costs nothing.
 */
export function chargeCall(limits: RateCounter) {
  return (
    { keyId, ratePerMinute: quota }: Caller,
    reply: FastifyReply,
    nowMs: number,
    done: (refusal?: Error) => void
  ): void => {
    const charged = (use: RateUse): void => {
      setFields(reply, rateFields(quota, use))
      if (use.allowed) return done()
      const detail = `this key may make ${quota} requests a minute; the next minute begins in ${use.resetIn} s`
      done(rateLimited(reply, { detail, policy: POLICY, quota, use }))
    }
    const use = limits.take(keyId, quota, nowMs)
    if (use instanceof Promise) use.then(charged, done)
    else charged(use)
  }
}

/** The refusal of a request that is one too many; it says when to come back. */
export function rateLimited(
  reply: FastifyReply,
  { detail, policy, quota, use }: { detail: string; policy: string; quota: number; use: RateUse }
): ServiceError {
  void reply.header('retry-after', use.resetIn)
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
