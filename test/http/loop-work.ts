import { Session } from 'node:inspector'
import { promiseHooks } from 'node:v8'
import type { Test } from 'tap'

/** Calls of functions of the service that were made in one turn of the event loop. */
export interface TurnWork {
  readonly calls: number
  /** The functions with the most calls. */
  readonly most: readonly string[]
}

const PROJECT = new URL('../../', import.meta.url).href
/** Code that runs in tests alone. */
const OF_TESTS = [new URL('../', import.meta.url).href, `${PROJECT}node_modules/async-hook-domain`]

/**
 * Counts the calls that work makes in each turn of the event loop. Calls are counted instead of time, so
 * that a busy machine changes nothing: 20,000 calls take about a millisecond.
 */
export class LoopWork {
  readonly #session = new Session()

  private constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  }

  /** To be called before the code that is counted has run often. */
  static start(t: Test): LoopWork {
    const work = new LoopWork()
    t.teardown(() => work.#session.disconnect())
    return work
  }

  /** Runs work, and returns the turn of the event loop with the most calls. */
  async dearestTurn(work: () => Promise<unknown>): Promise<TurnWork> {
    let dearest: TurnWork = { calls: 0, most: [] }
    let isOver = false
    // To take the counts is slow, and most turns only wait for the store.
    let hasRun = false
    const unhook = promiseHooks.onBefore(() => {
      hasRun = true
    })
    this.#take()
    const look = (): void => {
      if (hasRun) {
        const turn = this.#take()
        if (turn.calls > dearest.calls) dearest = turn
      }
      hasRun = false
      if (!isOver) setImmediate(look)
    }
    setImmediate(look)
    try {
      await work()
    } finally {
      await new Promise((resolve) => setImmediate(resolve))
      isOver = true
      await new Promise((resolve) => setImmediate(resolve))
      ;(unhook as () => void)()
    }
    return dearest
  }

  /** Returns the calls since the last time. */
  #take(): TurnWork {
    const counts: [string, number][] = []
    // The answer comes before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      for (const { url, functions } of result)
        if (url.startsWith(PROJECT) && !OF_TESTS.some((folder) => url.startsWith(folder)))
          for (const { functionName, ranges } of functions)
            if (ranges[0]!.count > 0)
              counts.push([`${functionName} (${url.slice(PROJECT.length)})`, ranges[0]!.count])
    })
    const sorted = counts.sort(([, a], [, b]) => b - a)
    return {
      calls: sorted.reduce((sum, [, count]) => sum + count, 0),
      most: sorted.slice(0, 8).map(([name, count]) => `${count} × ${name}`)
    }
  }
}
