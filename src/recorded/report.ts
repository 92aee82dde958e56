import type { FolderStanding } from './chain-check.ts'
import { ProblemTally, type RecordedProblem } from './problems.ts'
import type { RecordedIndex } from './scan.ts'

/** The state of this process's recorded folder, for its operator. The source fills it, and resets it at each start. */
export class RecordedReport {
  directory: string | null = null
  problems = new ProblemTally()
  /** Null until the folder is scanned. */
  index: RecordedIndex | null = null
  /** Null until a reader has requested blocks. */
  standing: FolderStanding | null = null

  /** Resets the report and returns the tally for the next scan. */
  begin(directory: string, onProblem: (problem: RecordedProblem) => void): ProblemTally {
    this.directory = directory
    this.problems = new ProblemTally(onProblem)
    this.index = null
    this.standing = null
    return this.problems
  }
}
