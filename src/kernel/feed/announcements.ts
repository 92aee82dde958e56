/**
 * Announcements from one component of a process to others, such as from a route to the background task that acts on
 * it.
 */
export class Announcements<Fact extends readonly unknown[] = []> {
  readonly #listeners = new Set<(...fact: Fact) => void>()

  publish(...fact: Fact): void {
    for (const listener of this.#listeners) listener(...fact)
  }

  /** Calls `listener` at each announcement, until the returned function is called. `listener` must not throw. */
  subscribe(listener: (...fact: Fact) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
