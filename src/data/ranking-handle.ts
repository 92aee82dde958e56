import type { Ranking } from '../market/ranking.ts'

/** Holds this process's ranking for requests. The ranking is absent until it is loaded, and while its actor restarts. */
export class RankingHandle {
  #current: Ranking | null = null
  #loaded = Promise.withResolvers<Ranking>()
  #isRefused = false
  readonly #listeners = new Set<() => void>()

  get current(): Ranking | null {
    return this.#current
  }

  /** Whether requests wait for the ranking. False once it is refused: they get the error. */
  get isLoading(): boolean {
    return this.#current === null && !this.#isRefused
  }

  /** Resolves with the ranking at the feed's head; pending until it is loaded. */
  async loaded(): Promise<Ranking> {
    return this.#current ?? this.#loaded.promise
  }

  show(ranking: Ranking): void {
    const isReplaced = this.#current !== null
    this.#current = ranking
    this.#loaded.resolve(ranking)
    if (isReplaced) for (const listener of this.#listeners) listener()
  }

  /**
   * Calls `listener` whenever another ranking of the same head replaces the current one, until the returned function is
   * called. `listener` must not throw.
   */
  onReplaced(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Rejects requests with an error, until the ranking is withdrawn. */
  refuse(error: Error): void {
    this.#isRefused = true
    this.#loaded.promise.catch(() => undefined)
    this.#loaded.reject(error)
  }

  withdraw(): void {
    if (this.#current === null && !this.#isRefused) return
    this.#current = null
    this.#isRefused = false
    this.#loaded = Promise.withResolvers()
  }
}
