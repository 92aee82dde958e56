/**
 * Messages of a client, on average and at once: more are not read. Far more in a second, or more for so many seconds in a row,
 * close the connection. Chosen.
 */
export const MESSAGES_A_SECOND = 20
export const MESSAGES_AT_ONCE = 100
export const SECONDS_TOO_FAST = 10
const MESSAGES_TOO_MANY = 1_000

/**
 * How fast a client sends. It may send some messages at once, as one does that has just connected; one that goes on like
 * that takes little from others.
 */
export class MessageRate {
  /** How many may be read now, as of `#atMs`. */
  #left = MESSAGES_AT_ONCE
  #atMs = 0
  #second = 0
  #count = 0
  #isRefused = false
  /** Seconds in a row in which some were not read. */
  #tooFast = 0

  /** What is to be done with a message: the first in a second that is one too many is answered, the others are not read. */
  take(nowMs: number): 'read' | 'refuse' | 'ignore' | 'close' {
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second) {
      if (!this.#isRefused || second > this.#second + 1) this.#tooFast = 0
      this.#second = second
      this.#count = 0
      this.#isRefused = false
    }
    if (++this.#count > MESSAGES_TOO_MANY) return 'close'
    const since = Math.max(0, nowMs - this.#atMs)
    this.#left = Math.min(MESSAGES_AT_ONCE, this.#left + (since * MESSAGES_A_SECOND) / 1000)
    this.#atMs = nowMs
    if (this.#left >= 1) {
      this.#left--
      return 'read'
    }
    if (this.#isRefused) return 'ignore'
    this.#isRefused = true
    return ++this.#tooFast > SECONDS_TOO_FAST ? 'close' : 'refuse'
  }
}
