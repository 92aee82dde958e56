import type { Submission } from '../../src/transactions/submission.ts'

/**
 * The lists of shards that are being read, and the submissions that ended meanwhile. Such a list may still show them as
 * open.
 */
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

  noteReopened(submission: Submission): void {
    this.#ended.delete(keyOf(submission))
  }

  hasEnded(submission: Submission): boolean {
    return this.#ended.has(keyOf(submission))
  }
}

const keyOf = ({ tenant, signature }: Submission): string => `${signature} ${tenant}`
