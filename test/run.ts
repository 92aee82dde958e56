/**
 * Runs all tests together with the checks of the sources, or one tier, or the named files. `src/docs/testing.md` describes
 * each tier.
 *
 *     node test/run.ts [--quick | --full | --long | --check] [--jobs=N] [FILE…|FOLDER/…]
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from './house/sources.ts'
import { closingReport, failuresOf, type Failed } from './runner/failures.ts'
import { removeAbandonedFixtures } from './runner/fixture-folders.ts'
import { runHouseChecks, type CheckOutcome } from './runner/house-checks.ts'
import { childSeconds, type TestOutcome } from './runner/test-file.ts'
import { Places, type UnitLists } from './runner/places.ts'
import { runTestUnit, type Unit } from './runner/test-unit.ts'
import { isOfFullTier, isOnlyLong, isQuick, testFiles, unitsOf } from './runner/tiers.ts'
import { sharedCqlSeconds } from './servers/shared-cql.ts'

/** Folder of the complete outputs of failed files, one file each. */
const OUTPUTS = join(ROOT, '.tap/failed')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    jobs: { type: 'string' }
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
/** Units that leave the CPU to servers and to those that wait for servers: a starved server counts as unavailable. */
const patient = new Set<Unit>()
/** A third of the weight of the others: with less, computing files starve while three other files run. */
const PATIENT = constants.priority.PRIORITY_BELOW_NORMAL / 2

/** Runs all units, as many at once as there are places. */
async function runAll(lists: UnitLists, jobs: number): Promise<void> {
  const places = new Places(lists, jobs)
  const run = async (unit: Unit): Promise<void> => {
    await runTestUnit(unit, { env, nice: patient.has(unit) ? PATIENT : 0 }, tell)
    places.release(unit)
    await fill()
  }
  const fill = async (): Promise<void> => {
    const started: Promise<void>[] = []
    for (let unit = places.take(); unit !== null; unit = places.take()) started.push(run(unit))
    await Promise.all(started)
  }
  await fill()
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
  const endedAt = `at ${((performance.now() - began) / 1_000).toFixed(0)} s`
  if (processorSeconds === undefined) return `${seconds.toFixed(1)} s, ${endedAt}`
  return `${seconds.toFixed(1)} s, ${processorSeconds.toFixed(1)} s of processor, ${endedAt}`
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
  const isOfTier = (file: string): boolean =>
    values.long || (isOfFullTier(file) === values.full && !isOnlyLong(file))
  if (!isNamed) rmSync(OUTPUTS, { recursive: true, force: true })
  removeAbandonedFixtures()
  const alone = (files: readonly string[]): Unit[] => files.map((file) => [file])
  const folders = positionals.filter((name) => name.endsWith('/'))
  const isSelected = (file: string): boolean =>
    isNamed ? folders.some((folder) => file.startsWith(folder)) : isOfTier(file)
  // In the long tier a single file may take all the time that a process has.
  const units = values.long ? alone : unitsOf
  const isLeftOut = (file: string): boolean => values.quick && !isNamed && !isQuick(file)
  const computing = units(all.computing.filter((file) => isSelected(file) && !isLeftOut(file)))
  const [starting, waiting] = [all.starting, all.waiting].map((files) =>
    values.quick ? [] : alone(files.filter(isSelected))
  ) as [Unit[], Unit[]]
  if (starting.length + waiting.length > 0) for (const unit of computing) patient.add(unit)
  starting.push(...alone(positionals.filter((name) => !folders.includes(name))))
  // Computing files have another place, at a low priority, and take what is left of the processors. With one place more
  // files starve each other. The quick tier has no servers to starve, and files that wait for timers.
  const jobs = Number(values.jobs ?? availableParallelism() + (values.quick ? 1 : 0))
  if (!(jobs >= 1)) throw new Error(`--jobs takes a number of files at once, not ${values.jobs}`)
  await Promise.all([
    isNamed || values.quick || values.full ? undefined : check(),
    runAll({ starting, waiting, computing }, jobs)
  ])
  // A log is often shown by its first and last lines only.
  if (outcomes.length > 1) for (const line of closingReport(failed)) console.log(line)
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  const minutes = (of: number | null | undefined): string => ((of ?? 0) / 60).toFixed(1)
  const processor = `${minutes(childSeconds())} minutes of processor and ${minutes(await sharedCqlSeconds())} of the shared CQL server`
  console.log(`# ${outcomes.length} files in ${seconds} s, ${processor}, ${sumOf('notRun')} tests not run`)
  console.log(`${sumOf('passed')} passed, ${sumOf('failed') + failedChecks} failed`)
}
if (failedChecks > 0 || sumOf('failed') > 0 || (!values.check && sumOf('passed') === 0)) process.exitCode = 1
