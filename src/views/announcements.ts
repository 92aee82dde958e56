/** Announcements from one part of a process to others, such as from a route to the unit that does its work. */
export class Announcements<Fact extends readonly unknown[] = []> {
  readonly #listeners = new Set<(...fact: Fact) => void>()

  publish(...fact: Fact): void {
    for (const listener of this.#listeners) listener(...fact)
  }

  /** Calls `listener`, which must not throw, at each announcement, until the returned function is called. */
  subscribe(listener: (...fact: Fact) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
