import type { Ranking } from './market/ranking.ts'

/**
 * The ranking of this process for whoever asks: there is none until it is loaded, and while the one who keeps it is
 * restarted.
 */
export class LiveRanking {
  #current: Ranking | null = null
  #loaded = Promise.withResolvers<Ranking>()

  get current(): Ranking | null {
    return this.#current
  }

  /** The ranking as of the head that the feed tells; pending until there is one. */
  async loaded(): Promise<Ranking> {
    return this.#current ?? this.#loaded.promise
  }

  show(ranking: Ranking): void {
    this.#current = ranking
    this.#loaded.resolve(ranking)
  }

  withdraw(): void {
    if (this.#current === null) return
    this.#current = null
    this.#loaded = Promise.withResolvers()
  }
}
