import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../house/sources.ts'
import { takeProcessorSeconds } from './test-file.ts'

/** Checks of every source besides the tests: types and rules, format. */
const CHECKS = [
  // By the native compiler, once for both: they take a fourth of the CPU time of `tsgo` and a linter on `tsc`.
  { name: 'types and lint', tool: 'oxlint', args: ['--deny-warnings', '.'] },
  { name: 'format', tool: 'oxfmt', args: ['--check', '.'] }
] as const

export interface CheckOutcome {
  readonly name: string
  readonly passed: boolean
  readonly seconds: number
  /** As for a test file. */
  readonly processorSeconds: number | undefined
  readonly output: string
}

/** Runs the checks one after another, at a low priority: other work of the machine comes first. */
export async function* runHouseChecks(): AsyncGenerator<CheckOutcome> {
  for (const { name, tool, args } of CHECKS) {
    const began = performance.now()
    const child = spawn(join(ROOT, 'node_modules/.bin', tool), args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const [code] = (await once(child, 'close')) as [number | null]
    const seconds = (performance.now() - began) / 1_000
    yield { name, passed: code === 0, seconds, processorSeconds: takeProcessorSeconds(), output }
  }
}
