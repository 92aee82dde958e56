import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The output of a child process, and the signal that killed it; null if it exited. */
export interface ChildLife {
  readonly lines: readonly string[]
  readonly signal: NodeJS.Signals | null
}

/** When a child is killed: after a number of lines, and a further delay. */
export interface KillAfter {
  readonly lines: number
  readonly ms: number
}

/** Runs a script until it ends or is killed. Throws if it fails without being killed. */
export async function childLife(
  script: string,
  args: readonly (string | number)[],
  killAfter?: KillAfter
): Promise<ChildLife> {
  const child = spawn(process.execPath, [script, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === killAfter?.lines) setTimeout(() => child.kill('SIGKILL'), killAfter.ms)
  }
  const [code, signal] = await exit
  if (signal === null) assert.equal(code, 0, 'the child failed on its own')
  return { lines, signal }
}
