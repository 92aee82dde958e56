import type { Clock } from '../../src/ports.ts'

/** An auto-reset event with one waiter. A ring before the wait ends that wait at once; several rings count as one. */
export class Bell {
  #rung = false
  #wake: () => void = () => undefined

  ring(): void {
    this.#rung = true
    this.#wake()
  }

  /** Resolves at a ring, after `ms` milliseconds, or when `end` aborts. */
  async wait(clock: Clock, ms: number, end: AbortSignal): Promise<void> {
    if (!this.#rung && !end.aborted) await this.#ringOr(clock, ms, end)
    this.#rung = false
  }

  #ringOr(clock: Clock, ms: number, end: AbortSignal): Promise<void> {
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
