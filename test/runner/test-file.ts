import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ROOT } from '../house/sources.ts'
import { MODULE_VARIABLE, removeFixtures } from './fixture-folders.ts'

/** Limit of a test file in seconds: three times the slowest file seen on a machine with a fivefold load. */
const TEST_WITHIN_S = 900
/**
 * Milliseconds in which a process must write something. A process that neither writes nor ends by its own limit is killed.
 */
const SILENT_WITHIN_MS = (TEST_WITHIN_S + 60) * 1_000
/** Loaded before each file, in this order. */
const LOADED_FIRST = ['test-errors.ts', 'own-fixtures.ts'].map((name) => new URL(name, import.meta.url).href)
/** How long outputs are read that stay open after the process has ended. */
const OUTLIVED_MS = 10_000

export interface TestOutcome {
  readonly file: string
  readonly passed: number
  readonly failed: number
  /** Number of tests that were skipped or marked as todo. */
  readonly notRun: number
  readonly seconds: number
  /**
   * Seconds of CPU time of the process and of the child processes that it waited for, without the servers that files share.
   * Undefined if the system has no `/proc`. If files end within one millisecond, all their time counts for one of them.
   */
  readonly processorSeconds: number | undefined
  /** Both outputs of the process. */
  readonly output: string
}

/** Variables of a test process, and its nice value; 0 by default. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly nice?: number
}

/** Runs a test file in its own process. */
export async function runTestFile(file: string, around: Surroundings): Promise<TestOutcome> {
  const began = performance.now()
  const chunks: Buffer[] = []
  const { endedWell, processorSeconds } = await runTestProcess(file, around, (chunk) => chunks.push(chunk))
  const seconds = (performance.now() - began) / 1_000
  const output = Buffer.concat(chunks).toString('utf8')
  return { file, seconds, processorSeconds, output, ...countsOf(output, endedWell) }
}

type Ended = Pick<TestOutcome, 'processorSeconds'> & { readonly endedWell: boolean }

/**
 * Runs a module that writes TAP in its own process, by plain Node: the loaders of node-tap take four times the CPU time.
 * Hands over the chunks of its standard output (0) and its standard error (1) as they come. If the process is killed because
 * it writes nothing, a failed point follows.
 */
export async function runTestProcess(
  module: string,
  { env, nice = 0 }: Surroundings,
  read: (chunk: Buffer, stream: 0 | 1) => void,
  silentWithinMs = SILENT_WITHIN_MS
): Promise<Ended> {
  const flags = ['--disable-warning=DEP0205', ...LOADED_FIRST.flatMap((url) => ['--import', url])]
  const child = spawn(process.execPath, [...flags, module], {
    cwd: ROOT,
    env: {
      ...env,
      ...{ TAP: '1', TAP_TIMEOUT: String(TEST_WITHIN_S) },
      // They are removed here (`removeFixtures`).
      ...{ TAP_SAVE_FIXTURE: '1', [MODULE_VARIABLE]: resolve(ROOT, module) }
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  if (child.pid !== undefined && nice !== 0) setPriority(child.pid, nice)
  const silent = setTimeout(() => {
    read(
      Buffer.from(`\nnot ok - it neither ends nor writes for ${silentWithinMs / 1_000} s, and is killed\n`),
      0
    )
    child.kill('SIGKILL')
  }, silentWithinMs)
  for (const [stream, output] of [child.stdout, child.stderr].entries())
    output.on('data', (chunk: Buffer) => {
      silent.refresh()
      read(chunk, stream as 0 | 1)
    })
  const closed = once(child, 'close')
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  const processorSeconds = takeProcessorSeconds()
  clearTimeout(silent)
  if (child.pid !== undefined) removeFixtures(child.pid)
  // All of its output is read by then, unless a process that outlives it holds its outputs open.
  await Promise.race([closed, delay(OUTLIVED_MS, undefined, { ref: false })])
  for (const stream of [child.stdout, child.stderr]) stream.destroy()
  return { processorSeconds, endedWell: code === 0 && signal === null }
}

/** Ticks of processor time in a second, equal on every Linux. */
const TICKS_IN_SECOND = 100
let taken = 0

/** Returns the processor time of child processes that ended since the last call. */
export function takeProcessorSeconds(): number | undefined {
  const seconds = childSeconds()
  if (seconds === undefined) return undefined
  const since = seconds - taken
  taken = seconds
  return since
}

/** Returns the processor time of all child processes that have ended; undefined where the system has no `/proc`. */
export function childSeconds(): number | undefined {
  let stat: string
  try {
    stat = readFileSync('/proc/self/stat', 'utf8')
  } catch {
    return undefined
  }
  // The fields after the name, which may hold spaces: state is the first, `cutime` and `cstime` are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_IN_SECOND
}

type Counts = Pick<TestOutcome, 'passed' | 'failed' | 'notRun'>

/**
 * Reads the last line that node-tap writes, `# { total: N, pass: N, fail: N, skip: N, todo: N }` without zeros. A file
 * without a total, or with a bad exit and no failure, counts as one failure.
 */
export function countsOf(output: string, endedWell: boolean): Counts {
  const summary = output.match(/^# \{ total: .*\}$/gm)?.at(-1)
  const count = (name: string): number =>
    Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary ?? '')?.[1] ?? 0)
  const failed = count('fail')
  const isWell = endedWell && summary !== undefined
  return {
    passed: count('pass'),
    failed: failed === 0 && !isWell ? 1 : failed,
    notRun: count('skip') + count('todo')
  }
}
