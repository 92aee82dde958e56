/** Reasons for which a row, or what a file has from a place on, is refused. */
export const REFUSAL_REASONS = [
  // Files
  'unreadable-file',
  'truncated-file',
  'not-parquet',
  'unreadable-row-group',
  'large-row-group',
  'wrong-separator',
  'no-mapping',
  'missing-column',
  // Rows
  'broken-row',
  'long-line',
  'missing-field',
  'failed-transaction',
  'bad-signature',
  'bad-slot',
  'bad-time',
  'time-before-chain',
  'time-in-future',
  'unknown-venue',
  'bad-address',
  'same-mint',
  'bad-amount',
  'zero-amount',
  'negative-amount',
  'inexact-amount',
  'amount-out-of-range',
  'bad-decimals',
  'decimals-contradict',
  'bad-price',
  'bad-place',
  'bad-detail'
] as const

export type RefusalReason = (typeof REFUSAL_REASONS)[number]

/** A place in a file. */
export interface RowPlace {
  /** The file as the operator can find it. */
  readonly file: string
  /** 1-based: the line of a text file, or the row of a Parquet file; null for the whole file or row group. */
  readonly line: number | null
  /** 0-based; null unless the file is Parquet. */
  readonly rowGroup: number | null
}

export interface Refusal extends RowPlace {
  readonly reason: RefusalReason
  readonly detail: string
}

/** Ends the reading of a file; the rows before count. */
export class RefusedFile extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, detail: string) {
    super(detail)
    this.reason = reason
  }
}

/** Formats a place for a terminal. */
export function placeText({ file, line, rowGroup }: RowPlace): string {
  const group = rowGroup === null ? '' : `, row group ${rowGroup}`
  return line === null ? file + group : `${file}${group}, ${rowGroup === null ? 'line' : 'row'} ${line}`
}

/** Refusals shown per reason: enough to recognize a kind of row, few enough to read. */
export const SHOWN_PER_REASON = 5

/** Counts every refusal, and retains the first few of each reason. */
export class RefusalTally {
  readonly #counts = new Map<RefusalReason, number>()
  readonly #first = new Map<RefusalReason, Refusal[]>()
  readonly #onRefusal: (refusal: Refusal) => void

  /** Calls `onRefusal` with every refusal. */
  constructor(onRefusal: (refusal: Refusal) => void = () => undefined) {
    this.#onRefusal = onRefusal
  }

  add(refusal: Refusal): void {
    this.#onRefusal(refusal)
    const { reason } = refusal
    this.#counts.set(reason, this.count(reason) + 1)
    const first = this.#first.get(reason) ?? []
    if (first.length >= SHOWN_PER_REASON) return
    first.push(refusal)
    this.#first.set(reason, first)
  }

  count(reason: RefusalReason): number {
    return this.#counts.get(reason) ?? 0
  }

  /** The first refusals of a reason, in the order of the files. */
  first(reason: RefusalReason): readonly Refusal[] {
    return this.#first.get(reason) ?? []
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }
}
