/** The follower of this process, as its HTTP side sees it: it announces mints that were asked for. */
export class LocalHolders {
  readonly #listeners = new Set<() => void>()

  /** Announces that a mint was asked for the first time. */
  publish(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener`, which must not throw, at each announcement, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
