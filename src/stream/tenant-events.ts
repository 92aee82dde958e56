import type { HintChannel, TenantEvent } from '../../storage/cluster/coordination.ts'

/** Carries the events to other processes; null if no other processes exist. */
type Hints<Use extends keyof HintChannel<TenantEvent>> = Pick<HintChannel<TenantEvent>, Use> | null

/** Tells whether a listener has a client that would receive a tenant's event on a channel now. */
type HasClient = (tenant: string, channel: string) => boolean

/**
 * Passes events of private channels to the connections of this process and, through hints, to those of other
 * processes. A hint can be lost, so events that must arrive are stored first.
 */
export class TenantEvents {
  /** Listeners, with the function that tells whether one has a client for an event. */
  readonly #listeners = new Map<(event: TenantEvent | null) => void, HasClient>()

  publish(event: TenantEvent, hints: Hints<'publish'>): void {
    for (const listener of this.#listeners.keys()) listener(event)
    hints?.publish(event)
  }

  /** Tells whether an event published now may reach a client, so that events for nobody need not be rendered. */
  isHeard(tenant: string, channel: string, hints: Hints<'publish'>): boolean {
    return hints !== null || this.#listeners.values().some((hasClient) => hasClient(tenant, channel))
  }

  /**
   * Calls `heard` for each event of any process, until the returned function is called. Calls it with null if events
   * of other processes may have been lost. Neither `heard` nor `hasClient` may throw.
   */
  subscribe(
    heard: (event: TenantEvent | null) => void,
    hints: Hints<'subscribe'>,
    hasClient: HasClient = () => true
  ): () => void {
    this.#listeners.set(heard, hasClient)
    const unsubscribe = hints?.subscribe(heard)
    return () => {
      this.#listeners.delete(heard)
      unsubscribe?.()
    }
  }
}
