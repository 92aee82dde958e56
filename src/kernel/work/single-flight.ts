/** Runs work by key, one piece at a time for each key. Callers that come meanwhile share its outcome. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>()

  /** Number of keys with running work. */
  get size(): number {
    return this.#running.size
  }

  /** Returns the running work of a key; undefined if none runs. */
  get(key: string): Promise<T> | undefined {
    return this.#running.get(key)
  }

  /** Joins the running work of a key, or starts `work`. Rejects with the error of the work. */
  run(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const begun = work().finally(() => {
      if (this.#running.get(key) === begun) this.#running.delete(key)
    })
    this.#running.set(key, begun)
    return begun
  }

  /** Lets no later caller join the running work. */
  clear(): void {
    this.#running.clear()
  }

  /** Resolves once the work that runs now has ended, whatever its outcome. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running.values())
  }
}
