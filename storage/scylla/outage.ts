import type { Clock } from '../../src/ports.ts'
import type { Outage } from '../port.ts'
import { isLoss, reasonOf } from './errors.ts'

/** A write that is retried: it reports each failure, and must report its end. */
export interface Trouble {
  failed(error: unknown): void
  over(): void
}

/**
 * Whether the store answers.
 *
 * W1. A waiting write counts as an outage once its second try has failed, too. The first may have gone to a node that hangs,
 *     but the second goes to another node. The outage is dated from the first try, and lasts until the write is done or
 *     abandoned.
 * W2. An abandoned read begins an outage, and the next answered read ends it.
 */
export class OutageWatch {
  readonly #clock: Clock
  readonly #troubles = new Map<Trouble, Outage>()
  #reads: Outage | null = null
  #losses = 0
  /** Unix milliseconds of the last answer to a read; null before the first. */
  answeredAtMs: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The number of write attempts that failed because a node was lost. */
  get losses(): number {
    return this.#losses
  }

  /** The earliest-started current outage, or null. */
  get current(): Outage | null {
    let longest = this.#reads
    for (const outage of this.#troubles.values())
      if (longest === null || outage.sinceMs < longest.sinceMs) longest = outage
    return longest
  }

  trouble(): Trouble {
    let sinceMs: number | null = null
    const trouble: Trouble = {
      failed: (error) => {
        if (isLoss(error)) this.#losses++
        if (sinceMs === null) sinceMs = this.#clock.now()
        else this.#troubles.set(trouble, { sinceMs, detail: reasonOf(error) })
      },
      over: () => void this.#troubles.delete(trouble)
    }
    return trouble
  }

  readFailed(error: unknown): void {
    this.#reads = { sinceMs: this.#reads?.sinceMs ?? this.#clock.now(), detail: reasonOf(error) }
  }

  readAnswered(): void {
    this.#reads = null
    this.answeredAtMs = this.#clock.now()
  }
}
