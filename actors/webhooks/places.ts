import { Queue } from '../../src/webhooks/queue.ts'

/** A number of places, taken in the order of the calls. Without a promise for each: every POST takes two of them. */
export class Places {
  readonly #waiting = new Queue<() => void>()
  #free: number
  readonly #count: number

  constructor(count: number) {
    this.#count = count
    this.#free = count
  }

  get taken(): number {
    return this.#count - this.#free
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Calls `begin` when there is a place for it, at once if there is one already. */
  enter(begin: () => void): void {
    if (this.#free === 0) return this.#waiting.push(begin)
    this.#free--
    begin()
  }

  /** Gives a place back; the oldest that waits gets it. */
  leave(): void {
    if (this.#waiting.length > 0) this.#waiting.shift()()
    else this.#free++
  }
}
