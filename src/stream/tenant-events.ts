import type { HintChannel, TenantEvent } from '../../storage/cluster/coordination.ts'

/** Carries the events to other processes; null in a process without others. */
type Hints<Use extends keyof HintChannel<TenantEvent>> = Pick<HintChannel<TenantEvent>, Use> | null

/**
 * Passes events of private channels to the connections of this process and, through hints, of others. A hint can be
 * lost; events that must not be are stored before.
 */
export class TenantEvents {
  readonly #listeners = new Set<(event: TenantEvent | null) => void>()

  publish(event: TenantEvent, hints: Hints<'publish'>): void {
    for (const listener of this.#listeners) listener(event)
    hints?.publish(event)
  }

  /**
   * Calls `heard`, which must not throw, for each event of any process, and with null when some of other processes may have
   * been lost, until the returned function is called.
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
