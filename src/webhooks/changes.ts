import type { z } from 'zod'
import type { WEBHOOK_CHANGE } from './bodies/webhook-change.ts'
import type { Clock } from '../ports.ts'
import type { TenantEvent } from '../../storage/cluster/coordination.ts'
import type { Webhook } from './webhook.ts'

/**
 * Minimum interval of messages about dropped events of one webhook, in milliseconds. A person reads at most one a
 * second.
 */
const DROPPED_INTERVAL_MS = 1_000

type Message = Omit<z.input<typeof WEBHOOK_CHANGE>, 'cursor'>

/** A change of a webhook, other than dropped events. */
export type WebhookChange =
  | { readonly event: 'created' | 'enabled' | 'deleted' | 'rotated' }
  | { readonly event: 'deactivated'; readonly reason: NonNullable<Webhook['disabledReason']> }

type ChangedWebhook = Pick<Webhook, 'tenant' | 'id' | 'url'>

/** Dropped events of a webhook in the second after its last message. */
interface Waiting {
  count: number
  readonly timer: unknown
  readonly webhook: ChangedWebhook
}

/** Publishes changes of webhooks on their tenant's channel `webhooks`. */
export class WebhookChanges {
  readonly #publish: (event: TenantEvent) => void
  readonly #clock: Clock
  /** By id, which is unique among tenants. */
  readonly #waiting = new Map<number, Waiting>()

  constructor(publish: (event: TenantEvent) => void, clock: Clock) {
    this.#publish = publish
    this.#clock = clock
  }

  publish(webhook: ChangedWebhook, change: WebhookChange): void {
    this.#send(webhook, change)
  }

  /** Reports dropped events at once; reports all that follow together after a second. */
  dropped(webhook: ChangedWebhook, count: number): void {
    const waiting = this.#waiting.get(webhook.id)
    if (waiting === undefined) this.#sendDropped(webhook, count)
    else waiting.count += count
  }

  /** Reports the dropped events not reported yet, and cancels all timers. */
  end(): void {
    for (const { webhook, count, timer } of this.#waiting.values()) {
      this.#clock.clearTimeout(timer)
      if (count > 0) this.#send(webhook, { event: 'dropped', dropped: count })
    }
    this.#waiting.clear()
  }

  #sendDropped(webhook: ChangedWebhook, count: number): void {
    const timer = this.#clock.setTimeout(() => this.#elapsed(webhook), DROPPED_INTERVAL_MS)
    this.#waiting.set(webhook.id, { count: 0, timer, webhook })
    this.#send(webhook, { event: 'dropped', dropped: count })
  }

  #elapsed(webhook: ChangedWebhook): void {
    const { count } = this.#waiting.get(webhook.id)!
    this.#waiting.delete(webhook.id)
    if (count > 0) this.#sendDropped(webhook, count)
  }

  #send(
    { tenant, id, url }: ChangedWebhook,
    { event, ...details }: WebhookChange | Pick<Message, 'event' | 'dropped'>
  ): void {
    const message: Message = { event, webhook_id: id, url, ...details, ts_ms: this.#clock.now() }
    this.#publish({ tenant, channel: 'webhooks', data: message })
  }
}
