import PQueue from 'p-queue'
import { mapBounded } from './client.ts'
import type { CqlClient, CqlStatement } from './client.ts'
import type { RowWrite } from './row-write.ts'
import { forgotten } from './errors.ts'

/** Rows, and the watermark that makes them count. */
export interface FencedWrite {
  /** Each of one partition. */
  readonly batches: readonly (readonly RowWrite[])[]
  /** Number of batches under way at once. */
  readonly atOnce: number
  /** Conditional; it is sent once all rows are acknowledged. */
  readonly watermark: CqlStatement
  /** Tells whether the watermark was moved after all; rejects if that is no longer possible. */
  readonly isDecided: () => Promise<boolean>
  /** Runs when half of the rows are acknowledged, when all are, and when the watermark is on its way. */
  readonly reached: (point: 'halfway' | 'written' | 'deciding') => void
}

/**
 * Writes rows that take effect as a whole.
 *
 * W1. All rows are acknowledged by a majority before the watermark is sent.
 * W4. After the loss of a node, writes that were sent before it are sent again before the watermark. The node may have
 *     forgotten its last acknowledged writes.
 */
export class FencedWriter {
  readonly #client: CqlClient
  /** Conditional writes of one partition conflict, so ours go one at a time. */
  readonly #deciding = new PQueue({ concurrency: 1 })

  constructor(client: CqlClient) {
    this.#client = client
  }

  async write(write: FencedWrite): Promise<void> {
    const losses = await this.#sendAll(write)
    const decided = this.#decide(write, losses)
    write.reached('deciding')
    await decided
  }

  /** Sends the rows; resolves with the number of losses when that began (W4). */
  async #sendAll({ batches, atOnce, reached }: FencedWrite): Promise<number> {
    const { outages } = this.#client
    for (;;) {
      const { losses } = outages
      let left = Math.ceil(batches.length / 2)
      await mapBounded(batches, atOnce, async (batch) => {
        await this.#client.writeThrough(batch)
        if (--left === 0) reached('halfway')
      })
      reached('written')
      if (losses === outages.losses) return losses
    }
  }

  /** Moves the watermark. After a try without an answer it first finds out whether it took effect. */
  async #decide(write: FencedWrite, lossesBefore: number): Promise<void> {
    const client = this.#client
    let losses = lossesBefore
    let isOpen = false
    await client.persist(() =>
      this.#deciding.add(async () => {
        if (isOpen && (await write.isDecided())) return
        isOpen = true
        if (losses !== client.outages.losses) losses = await this.#sendAll(write)
        const { applied } = await client.conditional([write.watermark])
        if (!applied && !(await write.isDecided())) throw forgotten()
      })
    )
  }
}
