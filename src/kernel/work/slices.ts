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
/** Maximum characters of text that a slice writes: a page of 100 trades, which takes 0.5 ms. */
const SLICE_CHARACTERS = 192 * 1024
/** Milliseconds after which a slice ends before it has all of its rows: two slices in succession stay below 5 ms. */
const SLICE_MS = 2
/** Rows per reading of the clock. A reading takes a tenth of the time of a row. */
const CLOCK_ROWS = 10

/** Work of one request, in slices between which other requests have their turn. */
export interface Slices {
  /**
   * Maps rows in order. Lists that fit into the rest of a slice are mapped at once. Rejects with the error of `make`, or if the
   * wait for a turn fails.
   */
  map<Row, Made>(rows: readonly Row[], make: (row: Row, index: number) => Made): Promise<Made[]>
  /**
   * Writes rows in order, as `map` maps them. `write` returns the number of characters that it has written: a slice ends early
   * once they are many.
   */
  each<Row>(rows: readonly Row[], write: (row: Row, index: number) => number): Promise<void>
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

/** Rows and characters that a slice may still make. */
interface SliceRest {
  rows: number
  characters: number
}

const wholeSlice = (): SliceRest => ({ rows: SLICE_ROWS, characters: SLICE_CHARACTERS })

/**
 * Writes the rows of a list from an index on, until the slice has no rest. A slice that took SLICE_MS has none. Returns the index
 * of the next row.
 */
function writeRows<Row>(
  rows: readonly Row[],
  from: number,
  write: (row: Row, index: number) => number,
  rest: SliceRest,
  elapsedMs: () => number
): number {
  const untilMs = elapsedMs() + SLICE_MS
  let at = from
  while (at < rows.length && rest.rows > 0 && rest.characters > 0) {
    const next = Math.min(rows.length, at + CLOCK_ROWS, at + rest.rows)
    rest.rows -= next - at
    for (; at < next; at++) rest.characters -= write(rows[at]!, at)
    if (elapsedMs() >= untilMs) rest.rows = 0
  }
  return at
}

/** Returns the rows that `each` is given, mapped. */
async function mapped<Row, Made>(
  { each }: Pick<Slices, 'each'>,
  rows: readonly Row[],
  make: (row: Row, index: number) => Made
): Promise<Made[]> {
  const made: Made[] = []
  await each(rows, (row, at) => {
    made.push(make(row, at))
    return 0
  })
  return made
}

/** Makes rows of reads, several at once and with a pause between. */
async function readInSlices<Row, Made>(
  rows: readonly Row[],
  make: (row: Row, index: number) => Promise<Made>,
  atOnce: number,
  pause: () => Promise<void>
): Promise<Made[]> {
  const made: Made[] = []
  for (let from = 0; from < rows.length; from += atOnce) {
    if (from > 0) await pause()
    made.push(...(await Promise.all(rows.slice(from, from + atOnce).map((row, at) => make(row, from + at)))))
  }
  return made
}

const now = (): number => performance.now()

/** Slices of work that has a turn. Its short lists share a slice, so that many of them do not hold the event loop. */
class TurnSlices implements Slices {
  readonly #turn: TurnHandle
  readonly #signal: AbortSignal
  readonly #elapsedMs: () => number
  #rest = wholeSlice()
  #next: Promise<void> | null = null

  constructor(turn: TurnHandle, signal: AbortSignal, elapsedMs: () => number) {
    this.#turn = turn
    this.#signal = signal
    this.#elapsedMs = elapsedMs
  }

  /** Sections of the work that run concurrently share the next turn, and its slice. */
  readonly pause = (): Promise<void> =>
    (this.#next ??= this.#turn
      .again(this.#signal)
      .then(() => void (this.#rest = wholeSlice()))
      .finally(() => (this.#next = null)))

  readonly each = async <Row>(
    rows: readonly Row[],
    write: (row: Row, index: number) => number
  ): Promise<void> => {
    for (let at = 0; ;) {
      at = writeRows(rows, at, write, this.#rest, this.#elapsedMs)
      if (at === rows.length) return
      await this.pause()
    }
  }

  map<Row, Made>(rows: readonly Row[], make: (row: Row, index: number) => Made): Promise<Made[]> {
    return mapped(this, rows, make)
  }

  mapReads<Row, Made>(
    rows: readonly Row[],
    make: (row: Row, index: number) => Promise<Made>,
    atOnce = READS_AT_ONCE
  ): Promise<Made[]> {
    return readInSlices(rows, make, atOnce, this.pause)
  }
}

/** Returns the slices of work that has a turn: each slice but the first takes a further turn. */
export const slicesOfTurn = (turn: TurnHandle, signal: AbortSignal, elapsedMs = now): Slices =>
  new TurnSlices(turn, signal, elapsedMs)

/** Runs a slice of a list; `isFirst` marks its first slice. */
type RunSlice = (slice: () => void, isFirst: boolean) => void | Promise<void>

/** Slices of work without a turn of its own: each list has its own slices. */
class ListSlices implements Slices {
  readonly #run: RunSlice
  readonly pause = (): Promise<void> => yieldToEventLoop()

  constructor(run: RunSlice) {
    this.#run = run
  }

  readonly each = async <Row>(
    rows: readonly Row[],
    write: (row: Row, index: number) => number
  ): Promise<void> => {
    let at = 0
    const slice = (): void => void (at = writeRows(rows, at, write, wholeSlice(), now))
    for (let isFirst = true; at < rows.length; isFirst = false) await this.#run(slice, isFirst)
  }

  map<Row, Made>(rows: readonly Row[], make: (row: Row, index: number) => Made): Promise<Made[]> {
    return mapped(this, rows, make)
  }

  mapReads<Row, Made>(
    rows: readonly Row[],
    make: (row: Row, index: number) => Promise<Made>,
    atOnce = READS_AT_ONCE
  ): Promise<Made[]> {
    return readInSlices(rows, make, atOnce, this.pause)
  }
}

/** Returns the slices of work without a turn, such as work that waits for a node: each slice takes a turn. */
export const slicesInTurns = (takeTurn: (slice: () => void) => Promise<void>): Slices =>
  new ListSlices((slice) => takeTurn(slice))

/** The slices of work without a tenant: other work of the event loop runs between them. */
export const openSlices: Slices = new ListSlices((slice, isFirst) =>
  isFirst ? slice() : yieldToEventLoop().then(slice)
)
