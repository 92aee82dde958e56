import type { Clock } from '../ports.ts'
import type { Ask } from './conformance-cases.ts'
import { checkOf, notChecked, type ConformanceCheck } from './conformance-check.ts'

/** Counts answers that take longer than a deadline. */
export class AnswerDeadline {
  readonly #ms: number | null
  readonly #clock: Clock
  #asked = 0
  readonly #late: string[] = []

  /** With a null deadline nothing is counted. */
  constructor(ms: number | null, clock: Clock) {
    this.#ms = ms
    this.#clock = clock
  }

  /** Returns an `Ask` whose answers are timed. */
  timed(ask: Ask): Ask {
    const ms = this.#ms
    if (ms === null) return ask
    return async (body) => {
      this.#asked++
      const timer = this.#clock.setTimeout(() => this.#late.push(body), ms)
      try {
        return await ask(body)
      } finally {
        this.#clock.clearTimeout(timer)
      }
    }
  }

  check(): ConformanceCheck {
    const name = 'overall deadline'
    if (this.#ms === null)
      return notChecked(name, 'name the deadline of the service, MILLRACE_RPC_DEADLINE_MS (--deadline-ms)')
    const [first] = this.#late
    const fault =
      first === undefined
        ? null
        : `${this.#late.length} of ${this.#asked} answers took longer than ${this.#ms} ms, the first one to ${first.slice(0, 120)}`
    return checkOf(name, fault, `${this.#asked} answers within ${this.#ms} ms each`)
  }
}
