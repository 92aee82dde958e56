import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { TurnHandle } from './turns.ts'

/** Maximum rows of a slice. The most expensive rows, trades, take 12 µs each to make and to render. */
export const SLICE_ROWS = 100
/** Rows that a loop reads from the store at a time; decoding a row takes 6 µs. */
export const READ_ROWS = 250
/**
 * Maximum concurrent rows of `mapReads`. Folding the last day of a token takes at most 0.3 ms; a cluster answers as
 * many reads together.
 */
const READS_AT_ONCE = 10
/** Maximum characters of text that a slice makes: rendering as many takes 0.3 ms. */
const SLICE_CHARACTERS = 64 * 1024
/** Milliseconds after which a slice ends before it has all of its rows: two slices in succession stay below 5 ms. */
const SLICE_MS = 2
/** Rows per reading of the clock. A reading takes a tenth of the time of a row. */
const CLOCK_ROWS = 10

/** Work of one request, in slices between which other requests have their turn. */
export interface Slices {
  /**
   * Maps rows in order. Lists that take less than a slice are mapped at once. A slice ends early once the texts that it has
   * made are long. Rejects with the error of `make`, or if the wait for a turn fails.
   */
  map<Row, Made>(rows: readonly Row[], make: (row: Row, index: number) => Made): Promise<Made[]>
  /**
   * Maps rows in order and several concurrently, for a `make` that reads from the store; a slice has as many rows. Rejects
   * with the first error of `make`, or if the wait for a turn fails.
   */
  mapReads<Row, Made>(
    rows: readonly Row[],
    make: (row: Row, index: number) => Promise<Made>,
    atOnce?: number
  ): Promise<Made[]>
  /** Ends a slice, between reads. */
  readonly pause: () => Promise<void>
}

/** Runs a slice; `isFirst` marks the first slice of a list. */
type RunSlice = (slice: () => void, isFirst: boolean) => void | Promise<void>

class RowSlices implements Slices {
  readonly #run: RunSlice
  readonly #elapsedMs: () => number
  readonly pause: () => Promise<void>

  constructor(run: RunSlice, pause: () => Promise<void>, elapsedMs: () => number) {
    this.#run = run
    this.pause = pause
    this.#elapsedMs = elapsedMs
  }

  async map<Row, Made>(rows: readonly Row[], make: (row: Row, index: number) => Made): Promise<Made[]> {
    const made: Made[] = []
    const slice = (): void => {
      const end = Math.min(rows.length, made.length + SLICE_ROWS)
      const untilMs = this.#elapsedMs() + SLICE_MS
      let characters = 0
      while (made.length < end) {
        const next = Math.min(end, made.length + CLOCK_ROWS)
        while (made.length < next) {
          const each = make(rows[made.length]!, made.length)
          made.push(each)
          if (typeof each === 'string') characters += each.length
        }
        if (characters >= SLICE_CHARACTERS || this.#elapsedMs() >= untilMs) return
      }
    }
    for (let isFirst = true; made.length < rows.length; isFirst = false) await this.#run(slice, isFirst)
    return made
  }

  async mapReads<Row, Made>(
    rows: readonly Row[],
    make: (row: Row, index: number) => Promise<Made>,
    atOnce = READS_AT_ONCE
  ): Promise<Made[]> {
    const made: Made[] = []
    for (let from = 0; from < rows.length; from += atOnce) {
      if (from > 0) await this.pause()
      made.push(
        ...(await Promise.all(rows.slice(from, from + atOnce).map((row, at) => make(row, from + at))))
      )
    }
    return made
  }
}

const now = (): number => performance.now()

/** Returns the slices of work that has a turn: each slice but the first of a list takes a further turn. */
export const slicesOfTurn = (turn: TurnHandle, signal: AbortSignal, elapsedMs = now): Slices =>
  new RowSlices(
    (slice, isFirst) => (isFirst ? slice() : turn.again(signal).then(slice)),
    () => turn.again(signal),
    elapsedMs
  )

/** Returns the slices of work without a turn, such as work that waits for a node: each slice takes a turn. */
export const slicesInTurns = (takeTurn: (slice: () => void) => Promise<void>, elapsedMs = now): Slices =>
  new RowSlices(
    (slice) => takeTurn(slice),
    () => yieldToEventLoop(),
    elapsedMs
  )

/** The slices of work without a tenant: other work of the event loop runs between them. */
export const openSlices: Slices = new RowSlices(
  (slice, isFirst) => (isFirst ? slice() : yieldToEventLoop().then(slice)),
  () => yieldToEventLoop(),
  now
)
