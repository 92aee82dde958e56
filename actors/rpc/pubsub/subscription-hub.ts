import type { Clock } from '../../../src/ports.ts'
import type { SubscriptionRequest } from '../../../src/rpc/pubsub/subscription-request.ts'
import { SUBSCRIPTION_WAIT_MS } from '../../../src/kernel/time-limits.ts'
import type { PubsubMetrics } from '../../../src/rpc/pubsub-metrics.ts'
import type { GapReader } from './gap-reader.ts'
import type { PubsubLinks } from './pubsub-links.ts'
import { SharedSubscription, type Member, type SharedSubscriptionEvents } from './shared-subscription.ts'

/** Maximum distinct subscriptions of the process: the capacity of the connections to one node. */
export const SUBSCRIPTIONS_MAX = 50_000
/**
 * Retry interval of a subscription that all nodes refuse, in milliseconds. The limits of nodes change with their clients.
 */
const RETRY_INTERVAL_MS = 30_000

const NO_NODE = JSON.stringify({
  code: -32603,
  message: 'no node accepts the subscription now: resubscribe',
  data: { retryable: true }
})

/** The error of a node at its limit. */
export const AT_LIMIT = JSON.stringify({
  code: -32603,
  message: 'Internal Error: Subscription refused. Node subscription limit reached'
})

/** All subscriptions of the process. Clients that request the same subscription share one at a node. */
export class SubscriptionHub {
  readonly #clock: Clock
  readonly #metrics: PubsubMetrics
  readonly #makeLinks: (changed: () => void) => PubsubLinks
  readonly #gaps: Pick<GapReader, 'read'>
  readonly #byKey = new Map<string, SharedSubscription>()
  readonly #waiting = new Set<SharedSubscription>()
  readonly #timers = new Map<SharedSubscription, unknown>()
  readonly links: PubsubLinks
  #isPlacing = false
  #retryTimer: unknown = null

  constructor(
    clock: Clock,
    metrics: PubsubMetrics,
    makeLinks: (changed: () => void) => PubsubLinks,
    gaps: Pick<GapReader, 'read'>
  ) {
    this.#clock = clock
    this.#metrics = metrics
    this.#makeLinks = makeLinks
    this.#gaps = gaps
    this.links = this.#makeLinks(() => this.#placeWaiting())
  }

  /** Distinct subscriptions, and those of them that no node has. */
  get size(): number {
    return this.#byKey.size
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Adds a client to a subscription. Returns the subscription, which it may leave; null if it was refused at once. */
  join(request: SubscriptionRequest, member: Member): SharedSubscription | null {
    let shared = this.#byKey.get(request.key)
    if (shared === undefined) {
      if (this.#byKey.size >= SUBSCRIPTIONS_MAX) {
        member.refused(AT_LIMIT)
        return null
      }
      shared = new SharedSubscription(request, this.#events)
      this.#byKey.set(request.key, shared)
      this.#waiting.add(shared)
    }
    shared.join(member)
    if (shared.isAwaited) this.#limitWait(shared)
    this.#placeWaiting()
    return shared
  }

  close(): void {
    this.links.close()
    for (const timer of this.#timers.values()) this.#clock.clearTimeout(timer)
    if (this.#retryTimer !== null) this.#clock.clearTimeout(this.#retryTimer)
  }

  readonly #events: SharedSubscriptionEvents = {
    waits: (shared) => {
      this.#waiting.add(shared)
      if (shared.refusedBy.size > 0) this.#retryLater()
      // The connection reports all subscriptions that it had before any is placed again.
      queueMicrotask(() => this.#placeWaiting())
    },
    refused: (shared) => this.links.canPlace(shared),
    gap: (shared) => this.#gaps.read(shared),
    live: (shared) => this.#clearTimer(shared),
    ended: (shared) => {
      this.#waiting.delete(shared)
      this.#clearTimer(shared)
      if (this.#byKey.get(shared.request.key) === shared) this.#byKey.delete(shared.request.key)
    },
    count: (what, clients) => this.#metrics.notifications.inc({ what }, clients)
  }

  #placeWaiting(): void {
    // Placing a subscription may cause a further change.
    if (this.#isPlacing) return
    this.#isPlacing = true
    for (const shared of this.#waiting) if (this.links.place(shared)) this.#waiting.delete(shared)
    this.#isPlacing = false
  }

  #limitWait(shared: SharedSubscription): void {
    if (this.#timers.has(shared)) return
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(shared)
      if (shared.isAwaited) shared.giveUp(NO_NODE)
    }, SUBSCRIPTION_WAIT_MS)
    this.#timers.set(shared, timer)
  }

  #clearTimer(shared: SharedSubscription): void {
    this.#clock.clearTimeout(this.#timers.get(shared))
    this.#timers.delete(shared)
  }

  #retryLater(): void {
    this.#retryTimer ??= this.#clock.setTimeout(() => {
      this.#retryTimer = null
      for (const shared of this.#waiting) shared.refusedBy.clear()
      this.#placeWaiting()
    }, RETRY_INTERVAL_MS)
  }
}
