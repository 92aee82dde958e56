import { cursorAt } from '../../src/market/cursor.ts'
import type { Place } from '../../src/stream/messages.ts'
import type { Storage } from '../../storage/port.ts'

/** The replay horizon: the store keeps replayable events for a number of seconds before the head's block time. */
export class Horizon {
  readonly #blocks: Pick<Storage['blocks'], 'head' | 'firstSince' | 'at'>
  /** Seconds of events that can be replayed; null if everything is kept. */
  readonly seconds: number | null
  #place: Place | null = null

  constructor(blocks: Pick<Storage['blocks'], 'head' | 'firstSince' | 'at'>, seconds: number | null) {
    this.#blocks = blocks
    this.seconds = seconds
  }

  /** The last place before the replayable range; null while there is no block. */
  get place(): Place | null {
    return this.#place
  }

  /** The cursor of `place`; -1 while there is no block. */
  get cursor(): number {
    return this.#place?.cursor ?? -1
  }

  /** Reads the horizon from the store. Rejects with the store's error. */
  async look(): Promise<void> {
    const head = await this.#blocks.head()
    if (head === null) return
    const since = this.seconds === null ? 0 : head.blockTime - this.seconds
    const slot = await this.#blocks.firstSince(since)
    const row = slot === null ? null : await this.#blocks.at(slot)
    if (row === null) return
    this.#place = { cursor: cursorAt(row.slot, 0) - 1, tsMs: row.blockTime * 1000, slot: row.slot }
  }
}
