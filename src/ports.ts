/**
 * The time for all code outside `main`. It has the shape of an XState clock, so that machines and processes share one
 * clock.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. The system time may be changed, so measure durations by timers. */
  now(): number
  /** Runs once after `ms` milliseconds; at most 2^31 - 1, beyond which a timer fires at once. */
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Returns a random number in [0, 1). */
export type Random = () => number

/** The service's access to time and random numbers; tests replace it. */
export interface Ports {
  readonly clock: Clock
  readonly random: Random
}

/** The machine's own clock and random numbers. */
export const systemPorts: Ports = {
  clock: {
    now: () => Date.now(),
    setTimeout: (run, ms) => setTimeout(run, ms),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout)
  },
  random: Math.random
}

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts; never rejects. */
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
