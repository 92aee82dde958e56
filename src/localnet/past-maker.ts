import type { Clock } from '../ports.ts'
import type { LocalBank } from './bank/bank.ts'
import { DAY_MS, PAST_SLOTS, planPast, type PastBlock } from './market/past.ts'
import type { MarketPace } from './market/pace.ts'

/** Note with the start of the past, Unix milliseconds; present while the past is incomplete. */
const NOTE = 'past'
/**
 * Number of blocks produced and written together: about 90 transactions. The service then answers within 30 ms while the
 * past is produced, and a disk that takes 10 ms to sync adds one second in all.
 */
const SLICE_BLOCKS = 8

/** Produces the past of a chain in slices that yield to the event loop; an interrupted past is resumed. */
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

  /** Returns a maker; null if the past is complete, or the chain has no past. */
  static of(bank: LocalBank, clock: Clock, isEnabled: boolean): PastMaker | null {
    const note = bank.note(NOTE)
    if (note !== null) return new PastMaker(bank, clock, Number(new TextDecoder().decode(note)))
    if (!isEnabled || bank.slot('processed') > 0) return null
    const startMs = bank.blockTime(0)! * 1_000
    // The genesis of a chain without a past has the time of its first start.
    return startMs + DAY_MS > clock.now() ? null : new PastMaker(bank, clock, startMs)
  }

  /** Returns the pace of a past slot; undefined for any other slot. */
  paceOf(slot: number): MarketPace | undefined {
    return this.#blocks.get(slot)?.pace
  }

  /** Stores with each past block that the past is incomplete, and with the last one that it is complete. */
  note(slot: number, keep: (name: string, note: Uint8Array | null) => void): void {
    if (this.#blocks.has(slot))
      keep(NOTE, slot < this.#last ? new TextEncoder().encode(`${this.#startMs}`) : null)
  }

  /** Produces the missing blocks until the signal aborts. Rejects if a block cannot be written. */
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
