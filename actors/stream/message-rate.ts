/** Messages of a client in a second: more are refused, and far more close the connection. Chosen. */
export const MESSAGES_A_SECOND = 100
const MESSAGES_TOO_MANY = 1_000

/** How fast a client sends. */
export class MessageRate {
  #second = 0
  #count = 0

  /** What is to be done with a message: the first that is one too many in its second is answered, the others are not read. */
  take(nowMs: number): 'read' | 'refuse' | 'ignore' | 'close' {
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second) this.#count = 0
    this.#second = second
    this.#count++
    if (this.#count <= MESSAGES_A_SECOND) return 'read'
    if (this.#count > MESSAGES_TOO_MANY) return 'close'
    return this.#count === MESSAGES_A_SECOND + 1 ? 'refuse' : 'ignore'
  }
}
