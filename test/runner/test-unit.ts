import { fileURLToPath } from 'node:url'
import { FILES_VARIABLE, readMark, type FileSums } from './file-mark.ts'
import { runTestFile, runTestProcess, type TestOutcome } from './test-file.ts'

const SEVERAL = fileURLToPath(new URL('several.ts', import.meta.url))

/** Test files that run in one process, one after another. */
export type Unit = readonly string[]

/**
 * Runs the files of a unit. A file in which the process ends has failed; those after it run in a process of their own.
 */
export async function runTestUnit(unit: Unit, env: NodeJS.ProcessEnv): Promise<TestOutcome[]> {
  if (unit.length === 1) return [await runTestFile(unit[0]!, env)]
  const { output, endedWell, processorSeconds } = await runTestProcess(SEVERAL, {
    ...env,
    [FILES_VARIABLE]: JSON.stringify(unit)
  })
  const told = outcomesOf(output, endedWell)
  const counted = told.reduce((sum, outcome) => sum + outcome.processorSeconds!, 0)
  const [first, ...others] = told
  // A start is counted with the first file, and where none began that has failed.
  const outcomes: TestOutcome[] = [
    first === undefined
      ? { file: unit[0]!, seconds: 0, processorSeconds, output, passed: 0, failed: 1, notRun: 0 }
      : {
          ...first,
          processorSeconds: processorSeconds && first.processorSeconds! + processorSeconds - counted
        },
    ...others
  ]
  const rest = unit.slice(outcomes.length)
  return rest.length === 0 ? outcomes : [...outcomes, ...(await runTestUnit(rest, env))]
}

/** Returns the outcomes of the files that began, as the output of their process tells them. */
export function outcomesOf(output: string, endedWell: boolean): TestOutcome[] {
  const outcomes: TestOutcome[] = []
  let current: { readonly file: string; readonly lines: string[]; sums: FileSums | null } | null = null
  const end = (isLast: boolean): void => {
    if (current === null) return
    const { file, lines, sums } = current
    const text = lines.join('\n')
    const unended = { passed: 0, failed: 1, notRun: 0, seconds: 0, processorSeconds: 0 }
    const outcome: TestOutcome = { file, output: text, ...(sums ?? unended) }
    // A bad end after the last file, and nothing failed: who was there last is asked first.
    const isBad = isLast && !endedWell && outcomes.every(({ failed }) => failed === 0) && outcome.failed === 0
    outcomes.push(isBad ? { ...outcome, failed: 1 } : outcome)
  }
  for (const line of output.split('\n')) {
    const mark = readMark(line)
    if (mark === null) current?.lines.push(line)
    else if ('begins' in mark) {
      end(false)
      current = { file: mark.begins, lines: [], sums: null }
    } else if (current !== null) current.sums = mark
  }
  end(true)
  return outcomes
}
