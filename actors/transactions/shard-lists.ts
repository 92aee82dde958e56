import type { Submission } from '../../src/transactions/submission.ts'

/** The lists of shards that run, and the submissions whose end was stored while one did: a list may still have them open. */
export class ShardLists {
  #running = 0
  readonly #ended = new Set<string>()

  async run(list: () => Promise<void>): Promise<void> {
    this.#running++
    try {
      await list()
    } finally {
      if (--this.#running === 0) this.#ended.clear()
    }
  }

  noteEnd(submission: Submission): void {
    if (this.#running > 0) this.#ended.add(keyOf(submission))
  }

  hasEnded(submission: Submission): boolean {
    return this.#ended.has(keyOf(submission))
  }
}

const keyOf = ({ tenant, signature }: Submission): string => `${signature} ${tenant}`
