import t from 'tap'
import { initialTransition, transition } from 'xstate'
import {
  FAILED_DELIVERIES_MAX,
  RETRY_AFTER_MAX_MS,
  webhookMachine,
  type WebhookEvent
} from '../../machines/webhook.machine.ts'
import { stateName } from './explore.ts'

/** Events by the words of the table. */
const EVENTS: Record<string, WebhookEvent> = {
  queued: { type: 'events.queued' },
  due: { type: 'batch.due' },
  recorded: { type: 'batch.recorded' },
  restored: { type: 'batch.restored', attempts: 1, waitMs: 0 },
  'restored later': { type: 'batch.restored', attempts: 2, waitMs: 700 },
  '200': { type: 'post.accepted' },
  '500': { type: 'post.failed', retryAfterMs: null },
  '429': { type: 'post.failed', retryAfterMs: 8_000 },
  '503': { type: 'post.failed', retryAfterMs: 1_000 },
  tomorrow: { type: 'post.failed', retryAfterMs: 86_400_000 },
  '410': { type: 'post.gone' },
  elapsed: { type: 'wait.elapsed' },
  enabled: { type: 'webhook.enabled', failures: 0 },
  'enabled at 19': { type: 'webhook.enabled', failures: FAILED_DELIVERIES_MAX - 1 },
  disabled: { type: 'webhook.disabled' },
  drain: { type: 'drain' },
  closed: { type: 'closed' }
}

interface Expected {
  attempts?: number
  failures?: number
  waitMs?: number
  reason?: string | null
}

const SENT = 'queued, due, recorded'
const LAST = `${SENT}, 500, elapsed, 500, elapsed, 500`

const TABLE: [path: string, state: string, context: Expected][] = [
  ['', 'deactivated', { failures: 0, reason: null }],
  ['enabled', 'active.idle', {}],
  ['enabled, due', 'active.idle', {}],
  ['enabled, queued', 'active.gathering', {}],
  ['enabled, queued, due', 'active.recording', {}],
  [`enabled, ${SENT}`, 'active.posting', { attempts: 0 }],
  [`enabled, ${SENT}, 200`, 'active.idle', { failures: 0 }],
  [`enabled, ${SENT}, 500`, 'active.waiting', { attempts: 1, waitMs: 5_000, failures: 0 }],
  [`enabled, ${SENT}, 500, elapsed`, 'active.posting', { attempts: 1 }],
  [`enabled, ${SENT}, 500, elapsed, 500`, 'active.waiting', { attempts: 2, waitMs: 30_000 }],
  [`enabled, ${SENT}, 500, elapsed, 500, elapsed, 200`, 'active.idle', { failures: 0, attempts: 0 }],
  [`enabled, ${LAST}`, 'active.idle', { failures: 1, attempts: 0 }],
  [`enabled, ${LAST}, ${SENT}, 200`, 'active.idle', { failures: 0 }],
  [`enabled, ${SENT}, 429`, 'active.waiting', { waitMs: 8_000 }],
  [`enabled, ${SENT}, 503`, 'active.waiting', { waitMs: 5_000 }],
  [`enabled, ${SENT}, tomorrow`, 'active.waiting', { waitMs: RETRY_AFTER_MAX_MS }],
  [`enabled, ${SENT}, 410`, 'deactivated', { reason: 'gone', failures: 0 }],
  [`enabled at 19, ${LAST}`, 'deactivated', { reason: 'consecutive_failures', failures: 20 }],
  [`enabled at 19, ${LAST}, enabled`, 'active.idle', { reason: null, failures: 0 }],
  [`enabled at 19, ${SENT}, 500, elapsed, 500, elapsed, 200`, 'active.idle', { failures: 0 }],
  ['enabled, restored', 'active.posting', { attempts: 1 }],
  ['enabled, restored later', 'active.waiting', { attempts: 2, waitMs: 700 }],
  ['enabled, restored later, elapsed, 500', 'active.idle', { failures: 1 }],
  [`enabled, ${SENT}, enabled`, 'active.idle', { failures: 0 }],
  [`enabled, ${SENT}, 500, disabled`, 'deactivated', {}],
  ['enabled, drain', 'closed', {}],
  ['enabled, queued, drain', 'closed', {}],
  [`enabled, ${SENT}, 500, drain`, 'closed', {}],
  [`enabled, ${SENT}, drain`, 'draining', {}],
  [`enabled, ${SENT}, drain, drain, 200`, 'closed', { failures: 0 }],
  [`enabled, ${SENT}, drain, 500`, 'closed', { attempts: 1, waitMs: 5_000 }],
  [`enabled, ${SENT}, drain, 410`, 'closed', { reason: 'gone' }],
  [`enabled, ${SENT}, drain, closed`, 'closed', {}],
  ['drain', 'closed', {}],
  ['closed, enabled', 'closed', {}]
]

for (const [path, state, context] of TABLE) {
  t.test(`a webhook after ${path === '' ? 'nothing' : path} is ${state}`, async (t) => {
    let [snapshot] = initialTransition(webhookMachine)
    for (const word of path.split(', ').filter(Boolean))
      [snapshot] = transition(webhookMachine, snapshot, EVENTS[word]!)
    t.equal(stateName(snapshot.value), state)
    t.match(snapshot.context, context)
  })
}
