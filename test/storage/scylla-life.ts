import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import type { LifePlan } from './scylla-life-child.ts'

const CHILD = join(import.meta.dirname, 'scylla-life-child.ts')

/** A process that commits blocks by a plan (`scylla-life-child.ts`). It does not outlive its test. */
export class Life {
  /** Lines of its output. */
  readonly lines: string[] = []
  /** Resolves with the signal that it died of, or null. */
  readonly ended: Promise<NodeJS.Signals | null>
  readonly #child: ChildProcess
  readonly #waiting: (() => void)[] = []

  constructor(t: Test, plan: LifePlan) {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(plan)], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    this.#child = child
    const output = createInterface({ input: child.stdout })
    output.on('line', (line) => {
      this.lines.push(line)
      for (const wake of this.#waiting.splice(0)) wake()
    })
    const [exit, silent] = [once(child, 'exit'), once(output, 'close')]
    this.ended = Promise.all([exit, silent]).then(([[code, signal]]) => {
      for (const wake of this.#waiting.splice(0)) wake()
      if (signal === null && code !== 0) throw new Error('a process that commits blocks failed on its own')
      return signal as NodeJS.Signals | null
    })
    this.ended.catch(() => undefined)
    t.teardown(() => this.kill())
  }

  /** Resolves once it has printed a line. */
  async says(line: string | RegExp): Promise<void> {
    const isSaid = (): boolean =>
      this.lines.some((said) => (line instanceof RegExp ? line.test(said) : said === line))
    await this.#until(isSaid, String(line))
  }

  /** Resolves once it has reported a number of blocks as written. */
  async wrote(blocks: number): Promise<void> {
    const isWritten = (): boolean => this.lines.filter((line) => line.startsWith('block ')).length >= blocks
    await this.#until(isWritten, `${blocks} blocks`)
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    while (!isSo()) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`it ended without saying ${what}:\n${this.lines.join('\n')}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Index of the last block that it reported as written; null before the first. */
  get lastWritten(): number | null {
    const last = this.lines.findLast((line) => line.startsWith('block '))
    return last === undefined ? null : Number(last.slice('block '.length))
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Wakes it after it has stopped itself. */
  wake(): void {
    this.#child.kill('SIGCONT')
  }
}
