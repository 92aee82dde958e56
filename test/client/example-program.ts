import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { ROOT } from '../house/sources.ts'

export const EXAMPLES = join(ROOT, 'src/client/examples')

/** An example in its own process, as a user starts it. */
export interface ExampleProgram {
  readonly child: ChildProcess
  /** Resolves with the next line of standard output; rejects when the example ends before. */
  line(): Promise<string>
}

/** Starts an example that runs until it is ended; the test ends it. */
export function startExample(
  t: Test,
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>
): ExampleProgram {
  const child = spawnExample(name, args, environment)
  t.teardown(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  const errors = text(child.stderr!)
  return {
    child,
    async line() {
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`${name} has ended: ${await errors}`)
      return value
    }
  }
}

/** Runs an example to its end. */
export async function runExample(
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawnExample(name, args, environment)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>
  ])
  return { stdout, stderr, code }
}

function spawnExample(
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>
): ChildProcess {
  const program = name.endsWith('.py') ? 'python3' : process.execPath
  return spawn(program, [join(EXAMPLES, name), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe']
  })
}
