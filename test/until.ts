import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'

/** Milliseconds to wait for a fact. Only a fault takes so long, on however slow a machine. */
const WITHIN_MS = 300_000

/** Looks at once, without a pause between them; then the pause leaves the processor to the work that brings the fact about. */
const HURRIED_LOOKS = 50
const PAUSE_MS = 2

/**
 * Resolves with the first value of `look` other than false, null and undefined: a fact of this process, which a look does
 * not cost anything.
 *
 * @throws Error that names `what` if the fact never comes about
 */
export async function until<T>(
  look: () => T | Promise<T>,
  what = look.toString()
): Promise<Exclude<T, false | null | undefined>> {
  const giveUp = performance.now() + WITHIN_MS
  for (let looks = 1; ; looks++) {
    const found = await look()
    if (found !== false && found !== null && found !== undefined) {
      return found as Exclude<T, false | null | undefined>
    }
    if (performance.now() > giveUp) throw new Error(`it never came about: ${what}`)
    await (looks < HURRIED_LOOKS ? turn() : delay(PAUSE_MS))
  }
}
