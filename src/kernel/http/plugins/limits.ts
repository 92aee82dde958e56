import type { FastifyReply } from 'fastify'
import type { WorkBudget } from '../../../access/work-budget.ts'
import type { WorkMeter } from '../../../access/work-meter.ts'
import type { Caller } from '../../../access/caller.ts'
import type { RateCounter, RateUse } from '../../../../storage/cluster/coordination.ts'
import { WINDOW_SECONDS } from '../../../access/rate-seconds.ts'
import { workUsedUp } from '../../work/work-units.ts'
import { ERRORS, ServiceError } from '../../errors.ts'
import { setFields, type Fields } from '../fields.ts'

const POLICY = 'per-minute'
const WORK_POLICY = 'work'
/** The problem type of an exceeded quota (draft-ietf-httpapi-ratelimit-headers). */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded'

/** Header names set only in this file; pages of other origins may read them. */
export const RATE_HEADERS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Work-Units'
] as const

/** The state of both quotas of a key, and the units of work that the answer cost; null while they are unknown. */
export interface QuotaUse {
  readonly calls: RateUse
  readonly work: RateUse
  readonly units: number | null
}

/** Returns the rate limit headers of an answer. */
// prettier-ignore
export function rateFields({ ratePerMinute: quota, workPerMinute }: Caller, { calls, work, units }: QuotaUse): Fields {
  const { left, resetIn, resetAt } = calls
  const fields = [
    'ratelimit-policy', `"${POLICY}";q=${quota};w=${WINDOW_SECONDS}, "${WORK_POLICY}";q=${workPerMinute};w=${WINDOW_SECONDS}`,
    'ratelimit', `"${POLICY}";r=${left};t=${resetIn}, "${WORK_POLICY}";r=${work.left};t=${work.resetIn}`,
    'x-ratelimit-limit', String(quota),
    'x-ratelimit-remaining', String(left),
    'x-ratelimit-reset', String(resetAt)
  ]
  if (units !== null) fields.push('x-work-units', String(units))
  return fields
}

/**
 * Charges the work of an answer, and its later work, and sets its headers. Called before the head of the answer is
 * sent.
 */
export function chargeWork(
  budget: WorkBudget,
  { caller, calls, meter }: ChargedCall,
  reply: FastifyReply,
  now: () => number
): void {
  const { units } = meter
  meter.chargeTo((more) => budget.charge(caller, more, now()))
  setFields(reply, rateFields(caller, { calls, work: budget.look(caller, now()), units }))
}

/** A call that was admitted, and its work so far. */
export interface ChargedCall {
  readonly caller: Caller
  readonly calls: RateUse
  readonly meter: WorkMeter
}

/**
 * Returns a function that charges each call to its key's quota of the minute. It also sets the rate limit headers. It
 * refuses excess calls (src/docs/endpoints.md), and calls of a key without work left. A call costs 1, or the given
 * number of units; a call refused by the quota costs nothing. `done` gets the refusal, or the remaining calls.
 */
export function chargeCall(limits: RateCounter, budget: WorkBudget) {
  return (
    caller: Caller,
    reply: FastifyReply,
    nowMs: number,
    done: (refusal: Error | undefined, calls?: RateUse) => void,
    units = 1
  ): void => {
    const { keyId, ratePerMinute: quota } = caller
    const charged = (calls: RateUse): void => {
      const work = calls.allowed ? budget.admit(caller, nowMs) : budget.look(caller, nowMs)
      // An admitted call gets its headers with its work, before the head of its answer is sent.
      if (calls.allowed && work.allowed) return done(undefined, calls)
      setFields(reply, rateFields(caller, { calls, work, units: null }))
      void reply.header('retry-after', (calls.allowed ? work : calls).resetIn)
      done(calls.allowed ? workExceeded(caller, work) : quotaExceeded(quota, calls))
    }
    const use = limits.take(keyId, quota, nowMs, units)
    if (use instanceof Promise) use.then(charged, (error: Error) => done(error))
    else charged(use)
  }
}

/** Returns the refusal of a call of a key, or of a tenant, without work left. */
export function workExceeded({ workPerMinute: quota }: Caller, use: RateUse): ServiceError {
  return excess({ detail: workUsedUp(quota, use.resetIn), policy: WORK_POLICY, quota, use })
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
  return new ServiceError(ERRORS.RATE_LIMITED, detail, {
    members: {
      type: QUOTA_EXCEEDED,
      'violated-policies': [policy],
      limit: quota,
      window_seconds: WINDOW_SECONDS,
      retry_after: use.resetIn
    }
  })
}
