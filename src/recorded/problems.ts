/** Reasons for which an item of a recorded folder is left out. */
export const PROBLEM_REASONS = [
  'other-file',
  'unreadable-file',
  'too-large',
  'not-json',
  'neither-block-nor-transaction',
  'rpc-error',
  'no-result',
  'unreadable-record',
  'out-of-range',
  'unreadable-transaction',
  'no-slot',
  'no-block-time',
  'slot-twice',
  'other-chain',
  'too-many-records'
] as const

export type ProblemReason = (typeof PROBLEM_REASONS)[number]

export interface RecordedProblem {
  readonly reason: ProblemReason
  /** Path below the folder. */
  readonly file: string
  /** 1-based line of an ndjson file. */
  readonly line: number | null
  readonly detail: string
}

// Problems logged per reason: enough to recognize a kind of file, few enough to read.
const NAMED_PER_REASON = 5
/**
 * Problems listed per reason; further ones are only counted. 15 reasons with 10,000 of about 250 bytes each take 38 MB.
 */
export const LISTED_PER_REASON = 10_000
export const LISTED_MAX = LISTED_PER_REASON * PROBLEM_REASONS.length

/** Counts every problem, lists them up to a limit for each reason, and names the first few of each reason. */
export class ProblemTally {
  readonly #counts = new Map<ProblemReason, number>()
  readonly #named: RecordedProblem[] = []
  readonly #listed: RecordedProblem[] = []
  readonly #onProblem: (problem: RecordedProblem) => void
  readonly #listedPerReason: number

  /** Takes a callback that is called for the named problems only. */
  constructor(
    onProblem: (problem: RecordedProblem) => void = () => undefined,
    listedPerReason = LISTED_PER_REASON
  ) {
    this.#onProblem = onProblem
    this.#listedPerReason = listedPerReason
  }

  add(problem: RecordedProblem): void {
    const count = this.count(problem.reason) + 1
    this.#counts.set(problem.reason, count)
    if (count <= this.#listedPerReason) this.#listed.push(problem)
    if (count > NAMED_PER_REASON) return
    this.#named.push(problem)
    this.#onProblem(problem)
  }

  count(reason: ProblemReason): number {
    return this.#counts.get(reason) ?? 0
  }

  /** Counts by reason, without zeros. */
  get counts(): Readonly<Partial<Record<ProblemReason, number>>> {
    return Object.fromEntries(this.#counts)
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  get named(): readonly RecordedProblem[] {
    return this.#named
  }

  /** Problems up to the limit, in the order in which they were found. */
  get listed(): readonly RecordedProblem[] {
    return this.#listed
  }
}
