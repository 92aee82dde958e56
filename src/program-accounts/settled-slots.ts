/** Maximum queued slots: far more than settle in a second. */
const WAITING_MAX = 1_000

/** Slots of blocks in the index, ascending, with the time from which the subscribed node had them too. */
export class SettledSlots {
  #slots: { readonly slot: number; bothAtMs: number | null }[] = []
  #processed = -1

  /** The newest slot that the node has processed; -1 before the first. */
  get processed(): number {
    return this.#processed
  }

  /** The newest slot that the index has; -1 before the first. */
  get newest(): number {
    return this.#slots.at(-1)?.slot ?? -1
  }

  /** Records a block of the index. */
  add(slot: number, nowMs: number): void {
    this.#slots.push({ slot, bothAtMs: this.#processed >= slot ? nowMs : null })
    if (this.#slots.length > WAITING_MAX) this.#slots.shift()
  }

  /** Records a block that the node has processed. */
  see(slot: number, nowMs: number): void {
    this.#processed = Math.max(this.#processed, slot)
    for (const each of this.#slots) if (each.slot <= this.#processed) each.bothAtMs ??= nowMs
  }

  /** Returns the newest slot that both have had since a time; -1 before the first. */
  since(ms: number): number {
    const last = this.#slots.findLastIndex(({ bothAtMs }) => bothAtMs !== null && bothAtMs <= ms)
    if (last < 0) return -1
    const { slot } = this.#slots[last]!
    // Retain the last slot, because an audit may be waiting for it.
    this.#slots = this.#slots.slice(last)
    return slot
  }

  clear(): void {
    this.#slots = []
    this.#processed = -1
  }
}
