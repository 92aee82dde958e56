/** The deliveries of this process, as its HTTP side sees them: it announces changes, and asks how much waits. */
export class LocalDeliveries {
  readonly #listeners = new Set<(tenant: string) => void>()
  #buffered: (tenant: string, id: number) => number | null = () => null

  /** Announces that a webhook of a tenant was created, changed or deleted. */
  publish(tenant: string): void {
    for (const listener of this.#listeners) listener(tenant)
  }

  /** Calls `listener`, which must not throw, at each change, until the returned function is called. */
  subscribe(listener: (tenant: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Returns the number of events that wait for a webhook; null where another process delivers. */
  buffered(tenant: string, id: number): number | null {
    return this.#buffered(tenant, id)
  }

  /** Sets the source of `buffered`; null when deliveries end. */
  serve(buffered: ((tenant: string, id: number) => number | null) | null): void {
    this.#buffered = buffered ?? (() => null)
  }
}
