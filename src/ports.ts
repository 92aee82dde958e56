/**
 * Time as everything outside `main` sees it. It has the shape of an XState clock, so that machines and processes share
 * one time.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. It may be set, so spans of time are for timers. */
  now(): number
  /** Runs once after `ms` milliseconds; at most 2^31 - 1, beyond which a timer fires at once. */
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** A number in [0, 1). */
export type Random = () => number

/** What the service takes from the world besides its configuration. */
export interface Ports {
  readonly clock: Clock
  readonly random: Random
}

/** The clock and the random of the machine the service runs on. */
export const systemPorts: Ports = {
  clock: {
    now: () => Date.now(),
    setTimeout: (run, ms) => setTimeout(run, ms),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout)
  },
  random: Math.random
}

/** Resolves after `ms` on the clock, or as soon as `signal` aborts; never rejects. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const wake = (): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = clock.setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
  })
}
