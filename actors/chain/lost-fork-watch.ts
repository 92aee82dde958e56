import type { SourcedBlock } from '../../src/node/block-source.ts'
import { UNDER_WAY_MAX } from './ingester.ts'

/**
 * Keeps what is stored of a lost fork and stays, for a source's status. It is looked at when blocks begin, and once those
 * after a rollback are given out: so many are taken before the rollback is committed, at most.
 */
export class LostForkWatch {
  readonly #ask: () => Promise<string | null>
  #blocksLeft = 0
  line: string | null = null

  constructor(ask: () => Promise<string | null> = async () => null) {
    this.#ask = ask
  }

  async look(): Promise<void> {
    this.line = await this.#ask()
  }

  /** Takes note of a block that was given out. */
  async passed({ rollback }: SourcedBlock): Promise<void> {
    if (rollback !== undefined) this.#blocksLeft = UNDER_WAY_MAX + 2
    else if (this.#blocksLeft > 0 && --this.#blocksLeft === 0) await this.look()
  }
}
