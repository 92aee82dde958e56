/**
 * Runs all tests beside the checks of the house, or one tier, or the named files. `src/docs/testing.md` tells what each
 * tier proves.
 *
 *     node test/run.ts [--quick | --long | --check] [--jobs=N] [FILE…|FOLDER/…]
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from './house/sources.ts'
import { closingReport, failuresOf, type Failed } from './runner/failures.ts'
import { runHouseChecks, type CheckOutcome } from './runner/house-checks.ts'
import { childSeconds, type TestOutcome } from './runner/test-file.ts'
import { runTestUnit, type Unit } from './runner/test-unit.ts'
import { isHeavy, takeNext, testFiles, unitsOf } from './runner/tiers.ts'

/** Folder of the complete outputs of failed files, one file each. */
const OUTPUTS = join(ROOT, '.tap/failed')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    // One more than there are processors: files that start servers wait half of their time. With two more a run took as long,
    // and starved some of them.
    jobs: { type: 'string', default: String(availableParallelism() + 1) }
  }
})

const env: NodeJS.ProcessEnv = {
  // Hundreds of processes load the same sources and share their compiled code here.
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/millrace-tests'),
  ...process.env,
  ...(values.long && { MILLRACE_TEST_BUDGET: 'long' })
}
const began = performance.now()
const outcomes: TestOutcome[] = []
const failed: Failed[] = []
let failedChecks = 0
let heavyRuns = false
/** Units that leave the processors to servers and those that wait for them: a starved server counts as away. */
const patient = new Set<Unit>()
const PATIENT = constants.priority.PRIORITY_BELOW_NORMAL

/** Runs units one after another until the lists have none that may run. */
async function work(...lists: Unit[][]): Promise<void> {
  for (;;) {
    const unit = takeNext(lists, heavyRuns)
    if (unit === null) return
    const isOnly = unit.some(isHeavy)
    if (isOnly) heavyRuns = true
    await runTestUnit(unit, { env, nice: patient.has(unit) ? PATIENT : 0 }, tell)
    if (isOnly) heavyRuns = false
  }
}

function tell(outcome: TestOutcome): void {
  const { file, passed, notRun, output } = outcome
  outcomes.push(outcome)
  const counts = [
    `${passed} passed`,
    outcome.failed > 0 && `${outcome.failed} failed`,
    notRun > 0 && `${notRun} not run`
  ]
  const line = `${file} # ${counts.filter(Boolean).join(', ')}, ${timesOf(outcome)}`
  console.log(`${outcome.failed === 0 ? 'ok' : 'not ok'} ${outcomes.length} - ${line}`)
  for (const line of output.match(/^NOT RUN, .*$/gm) ?? []) console.log(`  ${line}`)
  if (outcome.failed === 0) return
  failed.push({ name: file, output })
  mkdirSync(OUTPUTS, { recursive: true })
  const whole = join(OUTPUTS, `${file.replaceAll('/', '_')}.tap`)
  writeFileSync(whole, output)
  console.log(`${failuresOf(output).replace(/^/gm, '  ')}\n  All that it wrote: ${whole}`)
}

function timesOf({ seconds, processorSeconds }: TestOutcome | CheckOutcome): string {
  if (processorSeconds === undefined) return `${seconds.toFixed(1)} s`
  return `${seconds.toFixed(1)} s, ${processorSeconds.toFixed(1)} s of processor`
}

async function check(): Promise<void> {
  for await (const outcome of runHouseChecks()) {
    console.log(`${outcome.passed ? 'ok' : 'not ok'} - ${outcome.name} # ${timesOf(outcome)}`)
    if (outcome.passed) continue
    failedChecks++
    failed.push(outcome)
    console.log(outcome.output.replace(/^/gm, '  '))
  }
}

function sumOf(count: 'passed' | 'failed' | 'notRun'): number {
  return outcomes.reduce((sum, outcome) => sum + outcome[count], 0)
}

if (values.check) await check()
else {
  const isNamed = positionals.length > 0
  const all = testFiles()
  if (!isNamed) rmSync(OUTPUTS, { recursive: true, force: true })
  const alone = (files: readonly string[]): Unit[] => files.map((file) => [file])
  const folders = positionals.filter((name) => name.endsWith('/'))
  const isAsked = (file: string): boolean => !isNamed || folders.some((folder) => file.startsWith(folder))
  // In the long tier a single file may take all the time that a process has.
  const units = values.long ? alone : unitsOf
  const computing = units(all.computing.filter(isAsked))
  const [starting, waiting] = [all.starting, all.waiting].map((files) =>
    values.quick ? [] : alone(files.filter(isAsked))
  ) as [Unit[], Unit[]]
  if (starting.length + waiting.length > 0) for (const unit of computing) patient.add(unit)
  starting.push(...alone(positionals.filter((name) => !folders.includes(name))))
  const jobs = Number(values.jobs)
  if (!(jobs >= 1)) throw new Error(`--jobs takes a number of files at once, not ${values.jobs}`)
  await Promise.all([
    isNamed || values.quick ? undefined : check(),
    // Files of each kind run beside those of the others as long as there are any: together they take two processors.
    ...Array.from({ length: jobs }, (_, place) => {
      const lists = [computing, waiting, starting]
      return work(...lists.slice(place % 3), ...lists.slice(0, place % 3))
    })
  ])
  // A log is often shown by its first and last lines only.
  if (outcomes.length > 1) for (const line of closingReport(failed)) console.log(line)
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  const processor = `${((childSeconds() ?? 0) / 60).toFixed(1)} minutes of processor`
  console.log(`# ${outcomes.length} files in ${seconds} s, ${processor}, ${sumOf('notRun')} tests not run`)
  console.log(`${sumOf('passed')} passed, ${sumOf('failed') + failedChecks} failed`)
}
if (failedChecks > 0 || sumOf('failed') > 0 || (!values.check && sumOf('passed') === 0)) process.exitCode = 1
