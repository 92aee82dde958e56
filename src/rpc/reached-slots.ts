import { COMMITMENTS, type Commitment } from './commitment.ts'

/** A fall of the newest slot: `slot` counts as reached until `untilMs`. */
interface Fall {
  readonly slot: number
  readonly untilMs: number
}

/** The newest slot that a node is at, or was at in the last `forMs` milliseconds, by commitment. */
export class ReachedSlots {
  readonly #forMs: number
  /** In the order of COMMITMENTS; 0 before the first slot. */
  readonly #newest = COMMITMENTS.map(() => 0)
  /** Ascending by time. */
  readonly #falls: Fall[][] = COMMITMENTS.map(() => [])

  constructor(forMs: number) {
    this.#forMs = forMs
  }

  /** Records that a node is at a slot, or has stated it. */
  reached(commitment: Commitment, slot: number): void {
    const at = COMMITMENTS.indexOf(commitment)
    if (slot > this.#newest[at]!) this.#newest[at] = slot
  }

  /** Records the newest slot of all nodes, which may be below an earlier one. No effect while it is unknown. */
  standAt(commitment: Commitment, newest: number | null, nowMs: number): void {
    if (newest === null) return
    const at = COMMITMENTS.indexOf(commitment)
    const before = this.#newest[at]!
    if (newest < before) this.#falls[at]!.push({ slot: before, untilMs: nowMs + this.#forMs })
    this.#newest[at] = newest
  }

  /**
   * Returns the newest slot that counts as reached; Infinity before the first. Finalized state is included in newer
   * states, so a slot that is reached at `finalized` is reached at `processed` too.
   */
  newest(commitment: Commitment, nowMs: number): number {
    let newest = 0
    for (let at = COMMITMENTS.indexOf(commitment); at < COMMITMENTS.length; at++) {
      const falls = this.#falls[at]!
      while (falls.length > 0 && falls[0]!.untilMs <= nowMs) falls.shift()
      newest = Math.max(newest, this.#newest[at]!)
      for (const { slot } of falls) newest = Math.max(newest, slot)
    }
    return newest || Infinity
  }
}
