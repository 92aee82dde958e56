import type { HintChannel, TenantEvent } from '../../storage/cluster/coordination.ts'

/** Carries the events to other processes; null if no other processes exist. */
type Hints<Use extends keyof HintChannel<TenantEvent>> = Pick<HintChannel<TenantEvent>, Use> | null

/**
 * Passes events of private channels to the connections of this process and, through hints, to those of other
 * processes. A hint can be lost, so events that must arrive are stored first.
 */
export class TenantEvents {
  readonly #listeners = new Set<(event: TenantEvent | null) => void>()

  publish(event: TenantEvent, hints: Hints<'publish'>): void {
    for (const listener of this.#listeners) listener(event)
    hints?.publish(event)
  }

  /**
   * Calls `heard` for each event of any process, until the returned function is called. Calls it with null if events
   * of other processes may have been lost. `heard` must not throw.
   */
  subscribe(heard: (event: TenantEvent | null) => void, hints: Hints<'subscribe'>): () => void {
    this.#listeners.add(heard)
    const unsubscribe = hints?.subscribe(heard)
    return () => {
      this.#listeners.delete(heard)
      unsubscribe?.()
    }
  }
}
