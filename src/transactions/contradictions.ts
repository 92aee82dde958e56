/** Consecutive answers, each at a later slot, after which a block counts as dropped. A stale node gives one or two. */
const CONTRADICTIONS_MAX = 3

/** The consecutive answers of nodes that contradict the known landing of a transaction. */
export class Contradictions {
  #count = 0
  #slot = 0

  /**
   * Records an answer that lacks the transaction in the block of `landedSlot`. Returns whether the answer counts: its slot
   * must be after that block, and after the last answer that counted.
   */
  note(landedSlot: number, contextSlot: number): boolean {
    if (contextSlot <= Math.max(landedSlot, this.#slot)) return false
    this.#slot = contextSlot
    this.#count++
    return true
  }

  /** Whether the block counts as dropped. */
  get areEnough(): boolean {
    return this.#count >= CONTRADICTIONS_MAX
  }

  /** Records a confirming answer, or the end of the landing. */
  clear(): void {
    this.#count = 0
  }
}
