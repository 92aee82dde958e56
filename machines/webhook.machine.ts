import { assign, setup } from 'xstate'

/** Milliseconds from the first event of a batch until it is sent, with however many events there are (src/docs/webhooks.md). */
export const FLUSH_MS = 500
/** Milliseconds before the second and the third attempt of a delivery (src/docs/webhooks.md). */
export const RETRY_MS = [5_000, 30_000] as const
/** Failed deliveries in a row that deactivate a webhook (src/docs/webhooks.md). */
export const FAILED_DELIVERIES_MAX = 20
/** Longest wait that a receiver may request by `Retry-After`: one hour, well within the replay horizon. */
export const RETRY_AFTER_MAX_MS = 3_600_000

/**
 * The life of one webhook. Its events pass through a plain queue; the machine changes state a few times for each batch.
 *
 * W1. A delivery is one batch with up to three attempts. `recording` stores it before its first attempt. So a repeat after a
 *     crash has the same id and bytes.
 * W2. A delivery whose last attempt failed counts as a failure; 20 in a row deactivate the webhook, and status 410 does so
 *     at once.
 * W3. A webhook that drains finishes the POST in flight and begins no other; a closed one stays closed.
 */
export interface WebhookContext {
  /** Attempts of the current delivery that have ended. */
  readonly attempts: number
  /** Deliveries that failed one after another. */
  readonly failures: number
  /** Milliseconds until the next attempt, in `waiting`. */
  readonly waitMs: number
  readonly reason: 'consecutive_failures' | 'gone' | null
}

export type WebhookEvent =
  | { readonly type: 'events.queued' }
  | { readonly type: 'batch.due' }
  | { readonly type: 'batch.recorded' }
  /** A batch of an earlier process, with the attempts that have ended and the rest of the wait before the next. */
  | { readonly type: 'batch.restored'; readonly attempts: number; readonly waitMs: number }
  | { readonly type: 'post.accepted' }
  | { readonly type: 'post.failed'; readonly retryAfterMs: number | null }
  | { readonly type: 'post.gone' }
  | { readonly type: 'wait.elapsed' }
  | { readonly type: 'webhook.enabled'; readonly failures: number }
  | { readonly type: 'webhook.disabled' }
  | { readonly type: 'drain' }
  | { readonly type: 'closed' }

const charts = setup({
  types: { context: {} as WebhookContext, events: {} as WebhookEvent },
  actions: {
    enable: assign({
      attempts: 0,
      failures: ({ event }) => (event.type === 'webhook.enabled' ? event.failures : 0),
      waitMs: 0,
      reason: null
    }),
    beginBatch: assign({ attempts: 0, waitMs: 0 }),
    restoreBatch: assign(({ event }) =>
      event.type === 'batch.restored' ? { attempts: event.attempts, waitMs: event.waitMs } : {}
    ),
    countAttempt: assign(({ context, event }) => ({
      attempts: context.attempts + 1,
      waitMs: waitBefore(context.attempts + 1, event.type === 'post.failed' ? event.retryAfterMs : null)
    })),
    countFailure: assign({ attempts: 0, failures: ({ context }) => context.failures + 1 }),
    forgetFailures: assign({ attempts: 0, failures: 0 }),
    giveUp: assign({ reason: 'consecutive_failures' as const }),
    leave: assign({ attempts: 0, reason: 'gone' as const })
  },
  guards: {
    isLastFailure: ({ context }) =>
      context.attempts >= RETRY_MS.length && context.failures + 1 >= FAILED_DELIVERIES_MAX,
    isLastAttempt: ({ context }) => context.attempts >= RETRY_MS.length,
    hasToWait: ({ event }) => event.type === 'batch.restored' && event.waitMs > 0
  }
})

export const webhookMachine = charts.createMachine({
  id: 'webhook',
  context: { attempts: 0, failures: 0, waitMs: 0, reason: null },
  initial: 'deactivated',
  on: { closed: '.closed' },
  states: {
    deactivated: {
      on: { 'webhook.enabled': { target: 'active', actions: 'enable' }, drain: 'closed' }
    },
    active: {
      initial: 'idle',
      on: {
        'webhook.enabled': { target: 'active', actions: 'enable' },
        'webhook.disabled': 'deactivated',
        drain: 'closed'
      },
      states: {
        idle: {
          on: {
            'events.queued': 'gathering',
            'batch.restored': [
              { guard: 'hasToWait', target: 'waiting', actions: 'restoreBatch' },
              { target: 'posting', actions: 'restoreBatch' }
            ]
          }
        },
        gathering: { on: { 'batch.due': { target: 'recording', actions: 'beginBatch' } } },
        recording: { on: { 'batch.recorded': 'posting' } },
        posting: {
          on: {
            'post.accepted': { target: 'idle', actions: 'forgetFailures' },
            'post.gone': { target: '#webhook.deactivated', actions: 'leave' },
            'post.failed': [
              {
                guard: 'isLastFailure',
                target: '#webhook.deactivated',
                actions: ['countFailure', 'giveUp']
              },
              { guard: 'isLastAttempt', target: 'idle', actions: 'countFailure' },
              { target: 'waiting', actions: 'countAttempt' }
            ],
            drain: '#webhook.draining'
          }
        },
        waiting: { on: { 'wait.elapsed': 'posting' } }
      }
    },
    draining: {
      on: {
        drain: {},
        'post.accepted': { target: 'closed', actions: 'forgetFailures' },
        'post.failed': [
          { guard: 'isLastAttempt', target: 'closed', actions: 'countFailure' },
          { target: 'closed', actions: 'countAttempt' }
        ],
        'post.gone': { target: 'closed', actions: 'leave' }
      }
    },
    closed: { type: 'final' }
  }
})

/** Returns the wait before the next attempt after a number of failed ones. `Retry-After` can only lengthen it. */
function waitBefore(attempts: number, retryAfterMs: number | null): number {
  const least = RETRY_MS[attempts - 1] ?? 0
  return Math.max(least, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS))
}

export type WebhookState =
  | 'deactivated'
  | { readonly active: 'idle' | 'gathering' | 'recording' | 'posting' | 'waiting' }
  | 'draining'
  | 'closed'
