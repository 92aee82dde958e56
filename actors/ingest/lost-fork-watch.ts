import type { SourcedBlock } from '../../src/node/block-source.ts'
import { IN_FLIGHT_MAX } from './ingester.ts'

/**
 * Keeps, for a source's status, one line on stored blocks of a lost fork that could not be removed. It is read when a
 * source begins, and again after a rollback, once enough blocks have followed that the rollback is committed.
 */
export class LostForkWatch {
  readonly #describe: () => Promise<string | null>
  #blocksLeft = 0
  line: string | null = null

  constructor(ask: () => Promise<string | null> = async () => null) {
    this.#describe = ask
  }

  async look(): Promise<void> {
    this.line = await this.#describe()
  }

  /** Counts a block that the source has yielded. */
  async passed({ rollback }: SourcedBlock): Promise<void> {
    if (rollback !== undefined) this.#blocksLeft = IN_FLIGHT_MAX + 2
    else if (this.#blocksLeft > 0 && --this.#blocksLeft === 0) await this.look()
  }
}
