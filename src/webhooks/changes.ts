/** Announces changes of webhooks within this process, so that the delivery process looks at the tenant's shard at once. */
export class WebhookChanges {
  readonly #listeners = new Set<(tenant: string) => void>()

  /** To be called after a webhook of a tenant was created, changed or deleted. */
  publish(tenant: string): void {
    for (const listener of this.#listeners) listener(tenant)
  }

  /** Calls `listener`, which must not throw, at each change, until the returned function is called. */
  subscribe(listener: (tenant: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
