import { Session } from 'node:inspector'
import { promiseHooks } from 'node:v8'
import type { Test } from 'tap'

/** Calls of functions of the service that were made in one turn of the event loop. */
export interface TurnWork {
  readonly calls: number
  /** The functions with the most calls. */
  readonly most: readonly string[]
}

/** Work of functions of the engine and of loops that takes as long as a call, 50 ns. */
const PER_CALL = {
  /** Characters that `JSON.parse` and `JSON.stringify` pass: 300 a µs. */
  json: 16,
  /** Bytes that are copied or decoded: 4,000 a µs. */
  copy: 200,
  /** Turns of a loop without a call, such as one over bytes. */
  loop: 25
} as const

/**
 * CPU milliseconds of turns whose calls are taken together: a count of every function is slow, and most turns are short.
 * They add 40,000 calls at most to a turn.
 */
const TOGETHER_MS = 2
/** CPU milliseconds from which a turn counts without a callback of a promise: its work may have come before one. */
const WAITING_MS = 1

const PROJECT = new URL('../../', import.meta.url).href
/** Code that runs in tests alone. */
const OF_TESTS = [new URL('../', import.meta.url).href, `${PROJECT}node_modules/async-hook-domain`]

/**
 * Counts the calls that work makes in each turn of the event loop. Calls are counted instead of time, so that a busy
 * machine does not affect the result: 20,000 calls take about a millisecond.
 */
export class LoopWork {
  readonly #session = new Session()
  readonly #engine = new EngineWork()
  /** CPU milliseconds of turns whose calls were not taken, and the time of the last reading. */
  #untakenMs = Infinity
  #lookedAtMs = 0
  readonly #togetherMs: number

  private constructor(countsLoops: boolean, togetherMs: number) {
    this.#togetherMs = togetherMs
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: countsLoops })
  }

  /**
   * To be called before the code that is counted has run often. With `countsLoops` counts the turns of loops too, which
   * slows the code down. `togetherMs` are the CPU milliseconds of turns whose calls are taken together.
   */
  static start(t: Pick<Test, 'teardown'>, { countsLoops = false, togetherMs = TOGETHER_MS } = {}): LoopWork {
    const work = new LoopWork(countsLoops, togetherMs)
    t.teardown(() => {
      work.#engine.stop()
      work.#session.disconnect()
    })
    return work
  }

  /**
   * Runs work, and returns the turn of the event loop with the most calls. Short turns count as one with the next ones, also
   * of later work; none is returned if all were short.
   */
  async dearestTurn(work: () => Promise<unknown>): Promise<TurnWork> {
    let dearest: TurnWork = { calls: 0, most: [] }
    let isOver = false
    // A short turn without a callback of a promise only waits for sockets and the store.
    let hasRun = false
    const unhook = promiseHooks.onBefore(() => {
      hasRun = true
    })
    this.#untakenMs += cpuMs() - this.#lookedAtMs
    if (this.#untakenMs >= this.#togetherMs) this.#take()
    this.#lookedAtMs = cpuMs()
    const look = (): void => {
      const turnMs = cpuMs() - this.#lookedAtMs
      if (hasRun || turnMs >= WAITING_MS) this.#untakenMs += turnMs
      if (this.#untakenMs >= this.#togetherMs) {
        const turn = this.#take()
        if (turn.calls > dearest.calls) dearest = turn
      }
      hasRun = false
      this.#lookedAtMs = cpuMs()
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
    this.#untakenMs = 0
    const counts: [string, number][] = []
    // The answer comes before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      for (const { url, functions } of result)
        if (url.startsWith(PROJECT) && !OF_TESTS.some((folder) => url.startsWith(folder)))
          for (const { functionName, ranges } of functions) {
            const calls = ranges[0]!.count
            const loops = ranges.reduce((most, { count }) => Math.max(most, count - calls), 0)
            const count = calls + Math.floor(loops / PER_CALL.loop)
            if (count > 0) counts.push([`${functionName} (${url.slice(PROJECT.length)})`, count])
          }
    })
    counts.push(...this.#engine.take())
    const sorted = counts.sort(([, a], [, b]) => b - a)
    return {
      calls: sorted.reduce((sum, [, count]) => sum + count, 0),
      most: sorted.slice(0, 8).map(([name, count]) => `${count} × ${name}`)
    }
  }
}

/** Counts the bytes that functions of the engine pass, as calls: no profile has them. */
class EngineWork {
  readonly #counts = new Map<string, number>()
  readonly #undo: (() => void)[] = []

  constructor() {
    const bytesOf = (made: unknown): number => (made as Buffer | string | undefined)?.length ?? 0
    this.#wrap(JSON, 'parse', PER_CALL.json, (_made, [text]) => bytesOf(text))
    this.#wrap(JSON, 'stringify', PER_CALL.json, bytesOf)
    this.#wrap(Buffer, 'concat', PER_CALL.copy, bytesOf)
    this.#wrap(Buffer, 'from', PER_CALL.copy, bytesOf)
    const prototype = Buffer.prototype as object
    this.#wrap(prototype, 'toString', PER_CALL.copy, bytesOf)
    this.#wrap(prototype, 'copy', PER_CALL.copy, (made) => made as number)
  }

  /** Restores the functions. */
  stop(): void {
    for (const undo of this.#undo) undo()
  }

  /** Returns the calls since the last time. */
  take(): [name: string, calls: number][] {
    const counts = [...this.#counts].map(([name, calls]): [string, number] => [name, Math.floor(calls)])
    this.#counts.clear()
    return counts.filter(([, calls]) => calls > 0)
  }

  #wrap(
    owner: object,
    name: string,
    perCall: number,
    bytesOf: (made: unknown, args: readonly unknown[]) => number
  ): void {
    const functions = owner as Record<string, (...args: unknown[]) => unknown>
    const engine = functions[name]!
    const counts = this.#counts
    functions[name] = function (this: unknown, ...args) {
      const made = engine.apply(this, args)
      counts.set(name, (counts.get(name) ?? 0) + bytesOf(made, args) / perCall)
      return made
    }
    this.#undo.push(() => void (functions[name] = engine))
  }
}

/** JSON characters a microsecond of the machine whose calls take 50 ns. */
const REFERENCE_SPEED = 300
const SPEED_TRIES = 5

/**
 * Returns the speed of this machine as a multiple of one whose calls take 50 ns, at least 1. Slices that end by time hold as
 * many times more calls.
 */
export function machineSpeed(): number {
  const row = (at: number) => ({
    signature: 'x'.repeat(88),
    price: at * 1.5,
    amount: `${at}`,
    venue: 'pumpswap'
  })
  const rows = Array.from({ length: 5_000 }, (_, at) => row(at))
  const tries = Array.from({ length: SPEED_TRIES }, () => {
    const beganMs = cpuMs()
    const text = JSON.stringify(rows)
    JSON.parse(text)
    return (2 * text.length) / (cpuMs() - beganMs) / 1_000
  })
  return Math.max(1, Math.max(...tries) / REFERENCE_SPEED)
}

/** CPU milliseconds of this thread, which a starved machine does not change. */
function cpuMs(): number {
  // The kernel brings the thread's time up to date for the process's, else at the next tick, up to 4 ms late.
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
