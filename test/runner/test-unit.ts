import { StringDecoder } from 'node:string_decoder'
import { fileURLToPath } from 'node:url'
import { FILES_VARIABLE, readMark, WITHIN_VARIABLE, type FileMark, type LateMark } from './file-mark.ts'
import { runTestFile, runTestProcess, type Surroundings, type TestOutcome } from './test-file.ts'

const SEVERAL = fileURLToPath(new URL('several.ts', import.meta.url))
/** Limit of a file that shares its process, in milliseconds: that of a file that runs alone, on a busy machine. */
const SHARED_FILE_WITHIN_MS = 900_000
/** Number of last lines that are reported of a file that was aborted. */
const LAST_LINES = 20

/** Test files that run in one process, one after another. */
export type Unit = readonly string[]

/**
 * Runs the files of a unit, and reports the outcome of each as it ends. A file in which the process ends, or that takes too
 * long, has failed; later files run in another process.
 */
export async function runTestUnit(
  unit: Unit,
  around: Surroundings,
  tell: (outcome: TestOutcome) => void,
  withinMs = SHARED_FILE_WITHIN_MS
): Promise<void> {
  if (unit.length === 1) return tell(await runTestFile(unit[0]!, around))
  const outcomes = new UnitOutcomes(tell)
  const { endedWell } = await runTestProcess(
    SEVERAL,
    {
      ...around,
      env: { ...around.env, [FILES_VARIABLE]: JSON.stringify(unit), [WITHIN_VARIABLE]: String(withinMs) }
    },
    (chunk, stream) => outcomes.read(chunk, stream),
    // It aborts a file itself, unless its event loop is blocked.
    2 * withinMs
  )
  const told = outcomes.end(unit, endedWell)
  if (told < unit.length) await runTestUnit(unit.slice(told), around, tell, withinMs)
}

/** Splits the output of a process of several files into their outcomes. */
export class UnitOutcomes {
  readonly #tell: (outcome: TestOutcome) => void
  readonly #streams = [0, 1].map(() => ({ decoder: new StringDecoder('utf8'), rest: '' }))
  #file: string | null = null
  #lines: string[] = []
  #late: LateMark | null = null
  #told = 0
  /** The last file that ended, held back until the next one begins or the process has ended. */
  #last: TestOutcome | null = null
  #hasFailed = false

  constructor(tell: (outcome: TestOutcome) => void) {
    this.#tell = tell
  }

  /** Takes a chunk of standard output (0) or standard error (1). */
  read(chunk: Buffer, stream: 0 | 1): void {
    const of = this.#streams[stream]!
    const lines = (of.rest + of.decoder.write(chunk)).split('\n')
    of.rest = lines.pop()!
    for (const line of lines) this.#take(line)
  }

  /** Reports the remaining files when the process has ended. Returns the total number of reported files of the unit. */
  end(unit: Unit, endedWell: boolean): number {
    for (const { rest } of this.#streams) if (rest !== '') this.#take(rest)
    // A process that loads no file has failed in the first.
    if (this.#file === null && this.#last === null) this.#file = unit[0]!
    if (this.#file !== null) this.#fail(this.#file)
    else if (this.#last !== null) {
      const isBad = !endedWell && !this.#hasFailed && this.#last.failed === 0
      const output = [this.#last.output, ...this.#lines, ...this.#lateLines('the end of the process')].join(
        '\n'
      )
      this.#end(isBad ? { ...this.#last, output, failed: 1 } : this.#last)
    }
    return this.#told
  }

  #take(line: string): void {
    const mark = readMark(line)
    if (mark === null) this.#lines.push(line)
    else this.#mark(mark)
  }

  #mark(mark: FileMark): void {
    if ('late' in mark) this.#late = mark
    else if ('begins' in mark) {
      if (this.#last !== null) this.#end(this.#last)
      this.#file = mark.begins
      this.#lines = []
    } else {
      const { ended: file, ...sums } = mark
      this.#last = { file, ...sums, output: this.#lines.join('\n') }
      this.#file = null
      this.#lines = []
    }
  }

  #end(outcome: TestOutcome): void {
    this.#last = null
    this.#told++
    if (outcome.failed > 0) this.#hasFailed = true
    this.#tell(outcome)
  }

  #fail(file: string): void {
    this.#file = null
    const output = [...this.#lines, ...this.#lateLines(file)].join('\n')
    const seconds = this.#late?.seconds ?? 0
    this.#end({ file, passed: 0, failed: 1, notRun: 0, seconds, processorSeconds: 0, output })
  }

  /** A failed point with the test that took too long, and the last lines written before. */
  #lateLines(file: string): string[] {
    if (this.#late === null) return []
    const { late, seconds } = this.#late
    const last = this.#lines.slice(-LAST_LINES).map((line) => `    ${line}`)
    return [
      `not ok - ${file} takes more than ${seconds} s, ${late}`,
      '  ---',
      '  last lines: |',
      ...last,
      '  ...'
    ]
  }
}
