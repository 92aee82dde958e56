/**
 * Limits of a client's messages: the average rate and the burst. Excess messages are not read. `MESSAGES_TOO_MANY` in one
 * second, or `SECONDS_TOO_FAST` seconds with excess in a row, close the connection. A client subscribes with a few messages,
 * and five times as many are no load.
 */
export const MESSAGES_A_SECOND = 20
export const MESSAGES_AT_ONCE = 100
export const SECONDS_TOO_FAST = 10
const MESSAGES_TOO_MANY = 1_000

/**
 * Token bucket of one client's messages. A burst is allowed, as after a connect; a client that keeps sending too fast
 * costs others little.
 */
export class MessageRate {
  /** Messages that may be read at `#atMs`. */
  #left = MESSAGES_AT_ONCE
  #atMs = 0
  #second = 0
  #count = 0
  #isRefused = false
  /** Seconds in a row in which some messages were not read. */
  #tooFast = 0

  /**
   * Decides on a message at a time in milliseconds. The first excess message of a second is refused with an answer,
   * the others are ignored.
   */
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
