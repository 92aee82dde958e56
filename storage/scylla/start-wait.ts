import { sleep, type Clock } from '../../src/ports.ts'
import { NotYetOpen } from './errors.ts'

/** Wait of a start for a cluster that does not answer, and for other processes that make its tables. */
export interface StartWait {
  readonly ms: number
  /** Called with the reason of the wait, each time that it changes. */
  readonly waiting: (reason: string) => void
  /** Ends the wait. */
  readonly end: AbortSignal
}

/** Pause between tries of a start, in milliseconds. Each try may take 10 s by itself. */
const RETRY_PAUSE_MS = 1_000

/**
 * Opens something as soon as possible. Rejects with the last error once the time is over, and at once if waiting does not
 * help. Each try gets the time that is left.
 */
export async function whenOpen<T>(
  clock: Clock,
  wait: StartWait,
  open: (rest: StartWait) => Promise<T>
): Promise<T> {
  const deadline = clock.now() + wait.ms
  let said: string | null = null
  const waiting = (reason: string): void => {
    if (reason !== said) wait.waiting((said = reason))
  }
  for (;;) {
    try {
      return await open({ ms: Math.max(0, deadline - clock.now()), waiting, end: wait.end })
    } catch (error) {
      const isOver = clock.now() >= deadline || wait.end.aborted
      if (!(error instanceof NotYetOpen) || isOver) throw error
      waiting(error.detail)
      await sleep(clock, Math.min(RETRY_PAUSE_MS, deadline - clock.now()), wait.end)
    }
  }
}
