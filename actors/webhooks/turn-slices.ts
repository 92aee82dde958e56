import { Queue } from '../../src/webhooks/queue.ts'

/** Milliseconds of work in one turn of the event loop. A commit waits for about five turns, and has 10 ms of its own. */
const SLICE_MS = 1

export interface TurnSlicesOptions {
  /** Calls back in the next turn of the event loop. */
  readonly defer: (run: () => void) => void
  readonly nowMs: () => number
}

const SYSTEM: TurnSlicesOptions = { defer: setImmediate, nowMs: () => performance.now() }

/** Runs work for others, a little at a time. */
export interface WorkSlices {
  /** Calls `work` in a later turn of the event loop, and resolves as it does. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Runs pieces of work in the order of the calls, for SLICE_MS in each turn of the event loop. So work that a thousand
 * webhooks begin at one moment delays nothing else. Only the part of a piece before its first `await` counts. A webhook
 * waits with one piece at a time, so a tenant never has more than five places in the line.
 */
export class TurnSlices implements WorkSlices {
  readonly #options: TurnSlicesOptions
  readonly #waiting = new Queue<() => void>()
  #isScheduled = false

  constructor(options = SYSTEM) {
    this.#options = options
  }

  /** Pieces that wait. */
  get waiting(): number {
    return this.#waiting.length
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve(work()))
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    this.#isScheduled = true
    this.#options.defer(() => this.#runSlice())
  }

  /** Runs at least one piece. */
  #runSlice(): void {
    const { nowMs } = this.#options
    const untilMs = nowMs() + SLICE_MS
    do this.#waiting.shift()()
    while (this.#waiting.length > 0 && nowMs() < untilMs)
    this.#isScheduled = false
    this.#schedule()
  }
}
