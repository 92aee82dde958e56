import type { Clock } from '../ports.ts'
import type { LocalBank } from './bank/bank.ts'
import { DAY_MS, PAST_SLOTS, planPast, type PastBlock } from './market/past.ts'
import type { MarketPace } from './market/pace.ts'

/** The note that says when the past begins, Unix milliseconds; there as long as some of it is missing. */
const NOTE = 'past'
/**
 * Blocks that are made and written together. Chosen: some 70 transactions, so that the service answers within 30 ms while
 * the past is made, and a disk that takes 10 ms to sync makes it a second longer.
 */
const SLICE_BLOCKS = 8

/** Makes the past of a chain, in slices between which others have their turn; one that was cut short is gone on with. */
export class PastMaker {
  readonly #bank: LocalBank
  readonly #clock: Clock
  readonly #startMs: number
  readonly #blocks: ReadonlyMap<number, PastBlock>
  readonly #last: number

  private constructor(bank: LocalBank, clock: Clock, startMs: number) {
    this.#bank = bank
    this.#clock = clock
    this.#startMs = startMs
    const head = bank.slot('processed')
    const missing = planPast().filter(({ slot }) => slot > head)
    this.#blocks = new Map(missing.map((block) => [block.slot, block]))
    this.#last = missing.at(-1)?.slot ?? head
  }

  /** Null where nothing of a past is missing, or the chain has none. */
  static of(bank: LocalBank, clock: Clock, isWanted: boolean): PastMaker | null {
    const note = bank.note(NOTE)
    if (note !== null) return new PastMaker(bank, clock, Number(new TextDecoder().decode(note)))
    if (!isWanted || bank.slot('processed') > 0) return null
    const startMs = bank.blockTime(0)! * 1_000
    // A chain that was begun without a past has its genesis at the time of its first start.
    return startMs + DAY_MS > clock.now() ? null : new PastMaker(bank, clock, startMs)
  }

  /** How much happens in a slot of the past; undefined in any other. */
  paceOf(slot: number): MarketPace | undefined {
    return this.#blocks.get(slot)?.pace
  }

  /** Keeps with each block of the past that more is missing, and with the last one that nothing is. */
  note(slot: number, keep: (name: string, note: Uint8Array | null) => void): void {
    if (this.#blocks.has(slot))
      keep(NOTE, slot < this.#last ? new TextEncoder().encode(`${this.#startMs}`) : null)
  }

  /** Makes what is missing, until the signal aborts. Rejects where a block cannot be written. */
  async run(signal: AbortSignal, onMade: (blocks: number, ms: number) => void = () => undefined) {
    const beganMs = this.#clock.now()
    const slots = [...this.#blocks.values()].map(({ slot, offsetMs }) => ({
      slot,
      timeMs: this.#startMs + offsetMs
    }))
    for (let at = 0; at < slots.length; at += SLICE_BLOCKS) {
      if (signal.aborted) return
      await this.#bank.producePast(slots.slice(at, at + SLICE_BLOCKS))
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#bank.skipTo(PAST_SLOTS)
    onMade(slots.length, this.#clock.now() - beganMs)
  }
}
