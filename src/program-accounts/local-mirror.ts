/** The mirror of this process, as its HTTP side sees it: it announces changes of the whitelist. */
export class LocalMirror {
  readonly #listeners = new Set<() => void>()

  /** Announces that a program was added or removed. */
  publish(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener`, which must not throw, at each change, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
