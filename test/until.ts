import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'

/** Milliseconds to wait for a fact, on however slow a machine. Only a fault takes this long. */
export const FACT_WITHIN_MS = 300_000

/** Pause before the next poll in milliseconds, by the number of polls so far. */
type PauseMs = (polls: number) => number

/** For a poll that costs nothing: at first without a pause, then leaving the processor to the awaited work. */
const HURRIED: PauseMs = (polls) => (polls < 50 ? 0 : 2)
/**
 * For a poll that is a request to another process: two processes work for each. A wait of any duration takes at most half of
 * the 600 calls a minute that a key has by default.
 */
export const PATIENT: PauseMs = (polls) => Math.min(18 + 2 * polls, 250)

/**
 * Resolves with the first value of `poll` other than false, null and undefined.
 *
 * @throws Error with the text of `what` if `poll` returns no such value within five minutes
 */
export async function until<T>(
  poll: () => T | Promise<T>,
  what: string | (() => string) = poll.toString(),
  pauseMs = HURRIED
): Promise<Exclude<T, false | null | undefined>> {
  const deadlineMs = performance.now() + FACT_WITHIN_MS
  for (let polls = 1; ; polls++) {
    const found = await poll()
    if (found !== false && found !== null && found !== undefined) {
      return found as Exclude<T, false | null | undefined>
    }
    if (performance.now() > deadlineMs)
      throw new Error(`it never came about: ${typeof what === 'string' ? what : what()}`)
    const ms = pauseMs(polls)
    await (ms === 0 ? turn() : delay(ms))
  }
}

/** As `until`, for a poll that makes a block: what follows the blocks gets 20 ms for each. */
export const steadily = <T>(poll: () => T | Promise<T>, what: string): ReturnType<typeof until<T>> =>
  until(poll, what, () => 20)
