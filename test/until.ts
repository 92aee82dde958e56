import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'

/** Milliseconds to wait for a fact. Only a fault takes so long, on however slow a machine. */
const WITHIN_MS = 300_000

/** Milliseconds between a look and the next, by the number of looks so far. */
type PauseMs = (looks: number) => number

/** For a look that costs nothing: at first without a pause, then leaving the processor to the work that is waited for. */
const HURRIED: PauseMs = (looks) => (looks < 50 ? 0 : 2)
/** For a look that is a request to another process: two processes work for each. */
export const PATIENT: PauseMs = (looks) => Math.min(18 + 2 * looks, 100)

/**
 * Resolves with the first value of `look` other than false, null and undefined.
 *
 * @throws Error with the text of `what` if there is none within five minutes
 */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string | (() => string) = look.toString(),
  pauseMs = HURRIED
): Promise<Exclude<T, false | null | undefined>> {
  const giveUp = performance.now() + WITHIN_MS
  for (let looks = 1; ; looks++) {
    const found = await look()
    if (found !== false && found !== null && found !== undefined) {
      return found as Exclude<T, false | null | undefined>
    }
    if (performance.now() > giveUp)
      throw new Error(`it never came about: ${typeof what === 'string' ? what : what()}`)
    const ms = pauseMs(looks)
    await (ms === 0 ? turn() : delay(ms))
  }
}
