import type { Clock } from '../../ports.ts'
import type { SlotSpan } from '../missing-spans.ts'
import type { AddedBlock } from './added-blocks.ts'

const PROGRESS_MS = 1_000
/** Time without a block after which the last fault of a node is shown, in milliseconds. A slow block takes 10 s. */
const STALLED_MS = 15_000

/** Counts the blocks of a backfill, and prints its rate and the time left, at most once a second. */
export class BackfillProgress {
  readonly #spans: readonly SlotSpan[]
  readonly #clock: Clock
  readonly #print: (line: string) => void
  readonly #startedMs: number
  #blocks = 0
  #trades = 0
  #slot: number | null = null
  #printedMs: number
  #addedMs: number
  #timer: unknown
  #fault: string | null = null

  constructor(spans: readonly SlotSpan[], clock: Clock, print: (line: string) => void) {
    this.#spans = spans
    this.#clock = clock
    this.#print = print
    this.#startedMs = clock.now()
    this.#printedMs = this.#startedMs
    this.#addedMs = this.#startedMs
    this.#watch()
  }

  /** Number of blocks and trades that were added, in one line. */
  get summary(): string {
    return `${this.#blocks} blocks with ${this.#trades} trades are added`
  }

  added({ slot, trades }: AddedBlock): void {
    this.#blocks++
    this.#trades += trades
    this.#slot = slot
    this.#addedMs = this.#clock.now()
    this.#fault = null
    if (this.#addedMs - this.#printedMs < PROGRESS_MS) return
    this.#printedMs = this.#addedMs
    this.#print(this.line())
  }

  /** Notes why a node gave no block. */
  fault(detail: string): void {
    this.#fault = detail
  }

  /** Prints the last state, and ends. */
  close(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#print(this.line())
  }

  /** Describes the state: slot, share, rate and time left. */
  line(): string {
    const [done, due] = [this.#slotsUpTo(this.#slot ?? -1), this.#slotsUpTo(Infinity)]
    const seconds = Math.max((this.#clock.now() - this.#startedMs) / 1_000, 0.001)
    const share = due === 0 ? 100 : Math.floor((100 * done) / due)
    const rate = (this.#blocks / seconds).toFixed(1)
    const left = done === 0 || done === due ? '' : `, ${timeText(((due - done) * seconds) / done)} left`
    return `slot ${this.#slot ?? '–'}, ${share} %: ${this.#blocks} blocks, ${this.#trades} trades, ${rate} blocks/s${left}`
  }

  #slotsUpTo(slot: number): number {
    return this.#spans.reduce((sum, { from, to }) => sum + Math.max(Math.min(to, slot) - from + 1, 0), 0)
  }

  #watch(): void {
    this.#timer = this.#clock.setTimeout(() => {
      const stalledMs = this.#clock.now() - this.#addedMs
      if (stalledMs >= STALLED_MS)
        this.#print(
          `millrace: no block for ${Math.floor(stalledMs / 1_000)} s: ${this.#fault ?? 'the node has not answered yet'}; retrying`
        )
      this.#watch()
    }, STALLED_MS)
  }
}

/** Describes a duration by its two largest units. */
function timeText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
