import type { Ranking } from '../market/ranking.ts'

/** Holds this process's ranking for requests: there is none until it is loaded, and while its actor restarts. */
export class RankingHandle {
  #current: Ranking | null = null
  #loaded = Promise.withResolvers<Ranking>()
  #isRefused = false

  get current(): Ranking | null {
    return this.#current
  }

  /** Returns the ranking as of the feed's head; pending until there is one. */
  async loaded(): Promise<Ranking> {
    return this.#current ?? this.#loaded.promise
  }

  show(ranking: Ranking): void {
    this.#current = ranking
    this.#loaded.resolve(ranking)
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
