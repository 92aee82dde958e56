import type { Member, SharedSubscription } from './shared-subscription.ts'
import type { ClientFrame } from '../../../src/rpc/pubsub/client-frame.ts'
import type { SharedNotification } from '../../../src/rpc/pubsub/shared-notification.ts'
import { HELD_MAX } from '../../../src/rpc/pubsub/socket-limits.ts'
import type { SubscriptionRequest } from '../../../src/rpc/pubsub/subscription-request.ts'
import type { SubscriptionHub } from './subscription-hub.ts'

export interface SubscriptionOwner {
  /** Sends a notification. */
  give(frame: ClientFrame): void
  /** Notes a slot that the client sees. */
  sees(request: SubscriptionRequest, slot: number): void
  forget(subscription: ClientSubscription): void
  /** More notifications wait than may. */
  overflowed(): void
}

/** The outcome of a request for a subscription: null, or the JSON of the error. */
export type Outcome = { readonly error: string | null }

/** One subscription of one client, under an id that its connection has given it. */
export class ClientSubscription implements Member {
  readonly id: number
  readonly request: SubscriptionRequest
  readonly #owner: SubscriptionOwner
  readonly #decided: (outcome: Outcome) => void
  #shared: SharedSubscription | null = null
  #isOver = false
  /** Notifications that came before the client received the id; null since then. */
  #held: SharedNotification[] | null = []

  /** `decided` is called once, when a node has accepted or refused it. */
  constructor(
    id: number,
    request: SubscriptionRequest,
    owner: SubscriptionOwner,
    decided: (outcome: Outcome) => void
  ) {
    this.id = id
    this.request = request
    this.#owner = owner
    this.#decided = decided
  }

  join(hub: SubscriptionHub): void {
    const shared = hub.join(this.request, this)
    if (this.#isOver) shared?.leave(this)
    else this.#shared = shared
  }

  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#shared?.leave(this)
  }

  /** Sends the held notifications. Called once the client has received the id. */
  open(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const each of held) this.#owner.give(each.frame(this.id))
  }

  accepted(): void {
    this.#decided({ error: null })
  }

  refused(error: string): void {
    this.#isOver = true
    this.#owner.forget(this)
    this.#decided({ error })
  }

  notify(notification: SharedNotification, slot: number): void {
    if (this.#isOver) return
    this.#owner.sees(this.request, slot)
    if (this.#held === null) return this.#owner.give(notification.frame(this.id))
    if (this.#held.push(notification) > HELD_MAX) this.#owner.overflowed()
  }

  ended(): void {
    this.#isOver = true
    this.#owner.forget(this)
  }
}
