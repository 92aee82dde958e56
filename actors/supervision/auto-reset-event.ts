import type { Clock } from '../../src/ports.ts'

/** An auto-reset event with one waiter. A `set` before the wait ends that wait at once; several count as one. */
export class AutoResetEvent {
  #isSet = false
  #wake: () => void = () => undefined

  set(): void {
    this.#isSet = true
    this.#wake()
  }

  /** Resolves when the event is set, after `ms` milliseconds, or when `end` aborts. */
  async wait(clock: Clock, ms: number, end: AbortSignal): Promise<void> {
    if (!this.#isSet && !end.aborted) await this.#setOr(clock, ms, end)
    this.#isSet = false
  }

  #setOr(clock: Clock, ms: number, end: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clock.clearTimeout(timer)
        end.removeEventListener('abort', wake)
        this.#wake = () => undefined
        resolve()
      }
      const timer = clock.setTimeout(wake, ms)
      end.addEventListener('abort', wake)
      this.#wake = wake
    })
  }
}
