import { initialTransition, transition } from 'xstate'
import { webhookMachine, type WebhookContext, type WebhookEvent } from '../../machines/webhook.machine.ts'

const [FIRST] = initialTransition(webhookMachine)
export type WebhookSnapshot = typeof FIRST

/** The snapshot of a webhook that has not begun. */
export const DEACTIVATED: WebhookSnapshot = FIRST

/** Events without fields of their own: the next snapshot follows from their type. */
const PLAIN: ReadonlySet<WebhookEvent['type']> = new Set([
  'events.queued',
  'batch.due',
  'batch.recorded',
  'post.accepted'
])

/** Next snapshots by state and event. There are as many as plain transitions of a webhook that never failed. */
const known = new Map<string, WebhookSnapshot>()

/**
 * Returns the snapshot after an event. While nothing has failed the four transitions of a batch have the same results for
 * all webhooks, which are computed once and shared: XState makes an actor for each transition.
 */
export function nextSnapshot(snapshot: WebhookSnapshot, event: WebhookEvent): WebhookSnapshot {
  if (!PLAIN.has(event.type) || !isFresh(snapshot.context))
    return transition(webhookMachine, snapshot, event)[0]
  const { value } = snapshot
  const key = `${typeof value === 'string' ? value : `active.${value.active}`} ${event.type}`
  const found = known.get(key)
  if (found !== undefined) return found
  const [next] = transition(webhookMachine, snapshot, event)
  known.set(key, next)
  return next
}

const isFresh = ({ attempts, failures, waitMs, reason }: WebhookContext): boolean =>
  attempts === 0 && failures === 0 && waitMs === 0 && reason === null
