import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { momentText } from '../../access/bodies/api-key.ts'
import {
  attemptList,
  enabledWebhookAnswer,
  rotatedSecretAnswer,
  testAnswer,
  type EnableWarning
} from '../bodies/webhook.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { WEBHOOK_ERRORS } from '../errors.ts'
import { readCursor } from '../../market/cursor.ts'
import { startOfSubscription } from '../../stream/future-cursor.ts'
import { ATTEMPTS_MAX } from '../attempts.ts'
import type { WebhookRegistry } from '../registry.ts'
import { sendTestEvent } from '../test-event.ts'
import type { WebhookNeeds } from './needs.ts'
import type { WebhookServices } from '../services.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_WEBHOOK_ID } from '../../edge/routes/example-values.ts'
import { wholeNumber } from '../../kernel/http/parameters.ts'
import { rateLimited } from '../../kernel/http/plugins/limits.ts'
import { attemptBody, webhookBody } from './webhook-bodies.ts'
import { webhookParams } from './webhook-parameters.ts'

/** As for keys: a replaced secret does not sign for more than a month. */
const GRACE_SECONDS_MAX = 30 * 86_400
const GRACE_MESSAGE = `must be a whole number between 0 and ${GRACE_SECONDS_MAX}`
/** Maximum calls per minute (src/docs/webhooks.md). */
const ENABLES_PER_MINUTE = 6

/** The `nextCursor` of a list of attempts: the id of the webhook, and the place of the last attempt. */
const CURSOR = /^(\d{1,15})_([\w-]{1,128})$/

const example = { name: 'a webhook', params: { id: EXAMPLE_WEBHOOK_ID } }

export const enableWebhook = endpoint({
  method: 'POST',
  path: '/v1/webhooks/{id}/enable',
  tag: 'Webhooks',
  summary: 'Enable a webhook',
  description: `Activates a deactivated webhook. Deliveries start with the next event, or after \`since\`. For an active webhook, the call has an effect only with \`since\`: its deliveries restart there. At most ${ENABLES_PER_MINUTE} calls a minute for each webhook.`,
  scope: 'webhooks',
  params: webhookParams,
  body: z
    .object({
      since: z
        .union(
          [z.number().meta({ type: 'integer' }), z.string()],
          'must be a cursor: a whole number or its decimal text'
        )
        .optional()
        .describe('Cursor of the last processed event: the events after it are delivered')
    })
    .optional(),
  answer: enabledWebhookAnswer,
  leavesWork: true,
  isIdempotent: true,
  shownBy: 'GET /v1/webhooks/{id}',
  errors: [WEBHOOK_ERRORS.WEBHOOK_NOT_FOUND, ERRORS.CURSOR_INVALID],
  examples: [
    { ...example, name: 'from now' },
    { ...example, name: 'from the last processed event', body: { since: 314_460_000_000_000 } }
  ]
})

export const testWebhook = endpoint({
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  tag: 'Webhooks',
  summary: 'Send a test event',
  description:
    'Posts one signed test event, without retries, even if the webhook is deactivated. The outcome does not count as a delivery. A receiver that does not answer gives `delivered: false` after 10 seconds. If other POSTs of the tenant take all places for 15 seconds, the event is not sent (`too_many_posts`).',
  scope: 'webhooks',
  params: webhookParams,
  answer: testAnswer,
  shownBy: 'GET /v1/webhooks/{id}/deliveries',
  errors: [WEBHOOK_ERRORS.WEBHOOK_NOT_FOUND],
  examples: [example]
})

export const rotateWebhookSecret = endpoint({
  method: 'POST',
  path: '/v1/webhooks/{id}/rotate-secret',
  tag: 'Webhooks',
  summary: 'Rotate the secret of a webhook',
  description:
    'Makes a new secret, which is shown only in this answer. During the grace period, batches carry a signature for each secret. Secrets of earlier rotations sign until their own grace periods end; without a grace period all of them end at once. At most 10 secrets sign.',
  scope: 'webhooks',
  params: webhookParams,
  body: z
    .object({
      grace_seconds: z
        .int(GRACE_MESSAGE)
        .min(0, GRACE_MESSAGE)
        .max(GRACE_SECONDS_MAX, GRACE_MESSAGE)
        .default(86_400)
        .describe('Grace period: seconds in which batches are signed with earlier secrets too; 0: none')
    })
    .optional(),
  answer: rotatedSecretAnswer,
  isIdempotent: true,
  shownBy: 'GET /v1/webhooks/{id}',
  errors: [WEBHOOK_ERRORS.WEBHOOK_NOT_FOUND, WEBHOOK_ERRORS.SECRET_LIMIT_REACHED],
  examples: [{ ...example, name: 'with an hour of grace', body: { grace_seconds: 3_600 } }]
})

export const listAttempts = endpoint({
  path: '/v1/webhooks/{id}/deliveries',
  tag: 'Webhooks',
  summary: 'List the delivery attempts of a webhook',
  description: `The attempts to deliver batches in the last seven days, newest first; at most ${ATTEMPTS_MAX}.`,
  scope: 'webhooks',
  params: webhookParams,
  query: z.object({
    limit: wholeNumber(1, ATTEMPTS_MAX, 100).describe('Maximum number of items'),
    after: z.string().optional().describe('The `nextCursor` of the previous page')
  }),
  answer: attemptList,
  errors: [WEBHOOK_ERRORS.WEBHOOK_NOT_FOUND, ERRORS.CURSOR_INVALID],
  examples: [{ ...example, query: { limit: '10' } }]
})

interface Deps extends Pick<WebhookNeeds, 'stream' | 'limits' | 'clock'> {
  readonly webhooks: WebhookServices
}

/** Serves the endpoints of one webhook beyond reading and deleting it. */
export function webhookActionRoutes(app: FastifyInstance, registry: WebhookRegistry, deps: Deps): void {
  const { webhooks, stream, limits, clock } = deps

  serve(app, enableWebhook, async ({ params: { id }, body, caller, reply, once }) => {
    const tenant = tenantOf(caller)
    const since = body?.since === undefined ? null : readCursor(body.since)
    if (body?.since !== undefined && since === null)
      throw new ServiceError(ERRORS.CURSOR_INVALID, 'since must be the cursor of an event')
    const prepare = async (): Promise<string> => {
      await registry.find(tenant, id)
      const use = await limits.take(`webhook-enable ${tenant} ${id}`, ENABLES_PER_MINUTE, clock.now())
      if (use.allowed) return randomUUID()
      const detail = `a webhook may be enabled ${ENABLES_PER_MINUTE} times a minute; the next minute begins in ${use.resetIn} s`
      throw rateLimited(reply, { detail, policy: 'enable-per-minute', quota: ENABLES_PER_MINUTE, use })
    }
    const { head = -1 } = stream?.health ?? {}
    const start = since === null || head < 0 ? since : startOfSubscription(since, head)
    const state = await once(body ?? {}, prepare, ({ id: operation, isDone }) =>
      isDone ? registry.get(tenant, id) : registry.enable(tenant, id, { since: start, operation })
    )
    return {
      ...webhookBody(state, webhooks.deliveries.buffered(tenant, id)),
      warnings: since === null ? [] : warningsOf(since, stream)
    }
  })

  serve(app, testWebhook, async ({ params: { id }, caller, signal }) => {
    const tenant = tenantOf(caller)
    const { value: webhook } = await registry.find(tenant, id)
    const attempt = await sendTestEvent(webhook, { ...webhooks, clock }, signal)
    await webhooks.attempts.add(tenant, id, [attempt])
    return {
      delivered: attempt.error === null,
      status_code: attempt.statusCode,
      duration_ms: Math.round(attempt.durationMs),
      error: attempt.error
    }
  })

  serve(app, rotateWebhookSecret, async ({ params: { id }, body, caller, reply, once }) => {
    const { grace_seconds: graceSeconds } = body ?? rotateWebhookSecret.body.unwrap().parse({})
    // A repeat states the time of the first request.
    const prepare = async (): Promise<string> => `${clock.now() + graceSeconds * 1000} ${randomUUID()}`
    const { secret, expiresAtMs } = await once(
      { grace_seconds: graceSeconds },
      prepare,
      async ({ id: operation, isDone }) => {
        const expiresAtMs = Number.parseInt(operation, 10)
        const rotation = { operation, previousExpiresAtMs: expiresAtMs, isDone }
        return { secret: await registry.rotate(tenantOf(caller), id, rotation), expiresAtMs }
      }
    )
    void reply.header('cache-control', 'no-store')
    return { secret, previous_secret_expires_at: momentText(expiresAtMs) }
  })

  serve(app, listAttempts, async ({ params: { id }, query: { limit, after = null }, caller }) => {
    const tenant = tenantOf(caller)
    const webhook = await registry.find(tenant, id)
    const [, listed, place = null] = after === null ? [] : (CURSOR.exec(after) ?? [])
    if (after !== null && listed !== String(id))
      throw new ServiceError(ERRORS.CURSOR_INVALID, 'after is not a cursor of this list')
    const page = { limit, after: place, nowMs: clock.now() }
    const { attempts, next } = await webhooks.attempts.list(webhook, page)
    return { data: attempts.map(attemptBody), nextCursor: next === null ? null : `${id}_${next}` }
  })
}

/** Returns the reasons why a webhook does not deliver all events after a cursor. */
function warningsOf(since: number, stream: Deps['stream']): EnableWarning[] {
  const { head = -1, horizon = null } = stream?.health ?? {}
  const warnings: (EnableWarning | null)[] = [
    horizon !== null && since < horizon.cursor
      ? {
          code: 'beyond_replay_horizon',
          message: `events up to the cursor ${horizon.cursor} are no longer available; deliveries start after it`,
          horizon: horizon.cursor
        }
      : null,
    head >= 0 && since > head
      ? {
          code: 'cursor_ahead_of_head',
          message: `the cursor is newer than any event; deliveries start with the first event after ${
            startOfSubscription(since, head) === since ? 'it' : 'the newest block'
          }`
        }
      : null
  ]
  return warnings.filter((warning) => warning !== null)
}
