/** Why something in a recorded folder is left out. */
export const PROBLEM_REASONS = [
  'other-file',
  'unreadable-file',
  'too-large',
  'not-json',
  'neither-block-nor-transaction',
  'rpc-error',
  'no-result',
  'unreadable-record',
  'unreadable-transaction',
  'no-slot',
  'no-block-time',
  'slot-twice',
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

// Chosen: enough to recognise a kind of file, few enough to read.
const NAMED_PER_REASON = 5

/** Counts every problem, and names the first few of each reason. */
export class ProblemTally {
  readonly #counts = new Map<ProblemReason, number>()
  readonly #named: RecordedProblem[] = []
  readonly #onProblem: (problem: RecordedProblem) => void

  /** `onProblem` hears of the named ones only. */
  constructor(onProblem: (problem: RecordedProblem) => void = () => undefined) {
    this.#onProblem = onProblem
  }

  add(problem: RecordedProblem): void {
    const count = this.count(problem.reason) + 1
    this.#counts.set(problem.reason, count)
    if (count > NAMED_PER_REASON) return
    this.#named.push(problem)
    this.#onProblem(problem)
  }

  count(reason: ProblemReason): number {
    return this.#counts.get(reason) ?? 0
  }

  /** Counts by reason, without those that are zero. */
  get counts(): Readonly<Partial<Record<ProblemReason, number>>> {
    return Object.fromEntries(this.#counts)
  }

  get named(): readonly RecordedProblem[] {
    return this.#named
  }
}
