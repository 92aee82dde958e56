import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { notShown } from '../servers/not-run.ts'

/** Limit for a healthy node: half of a write's time limit, so that a slower one may also fail a write. */
const CALM_MS = 1_000
const ASK_EVERY_MS = 100
/** Maximum rounds: a round on a starved machine proves nothing, and is repeated. */
const ROUNDS_MAX = 3

/** Sends one node directly a request of a few milliseconds; rejects if it does not answer. */
export type AskNode = () => Promise<unknown>

/**
 * Sends requests to healthy nodes repeatedly. The slowest answer shows whether the nodes and this process got CPU time. Only
 * then are faults of the store its own.
 */
class CalmWatch {
  readonly #end = new AbortController()
  readonly #asking: readonly Promise<void>[]
  #slowestMs = 0

  constructor(nodes: readonly AskNode[]) {
    this.#asking = nodes.map((ask) => this.#watch(ask))
  }

  /** Ends the watch and returns the milliseconds of the slowest answer; infinity where one failed. */
  async end(): Promise<number> {
    this.#end.abort()
    await Promise.all(this.#asking)
    return this.#slowestMs
  }

  async #watch(ask: AskNode): Promise<void> {
    while (!this.#end.signal.aborted) {
      // A pause that takes longer than it should counts: this process was starved.
      const began = performance.now()
      const isAnswered = await ask().then(
        () => true,
        () => false
      )
      await delay(ASK_EVERY_MS)
      const tookMs = isAnswered ? performance.now() - began - ASK_EVERY_MS : Infinity
      this.#slowestMs = Math.max(this.#slowestMs, tookMs)
    }
  }
}

/**
 * Runs a round and asserts that it returns no faults. Faults count only if all healthy nodes answered within a
 * second; otherwise the round is repeated, three times at most. If no round was calm, the assertion is reported as
 * not run.
 */
export async function assertCalmly(
  t: Test,
  name: string,
  healthy: readonly AskNode[],
  round: () => Promise<readonly string[]>,
  report: typeof notShown = notShown
): Promise<void> {
  const slowest: number[] = []
  while (slowest.length < ROUNDS_MAX) {
    const watch = new CalmWatch(healthy)
    let faults: readonly string[]
    try {
      faults = await round()
    } finally {
      slowest.push(Math.round(await watch.end()))
    }
    if (faults.length === 0 || slowest.at(-1)! <= CALM_MS) {
      t.strictSame(faults, [], `${name} (round ${slowest.length}, slowest answer ${slowest.at(-1)} ms)`)
      return
    }
    t.comment(
      `round ${slowest.length} says nothing, a healthy node took ${slowest.at(-1)} ms: ${faults.join('; ')}`
    )
  }
  report(t, name, `the machine was starved: healthy nodes took ${slowest.join(', ')} ms`)
}
