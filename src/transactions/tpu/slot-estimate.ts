/** Milliseconds of a slot until two slots were observed far enough apart (agave, DEFAULT_MS_PER_SLOT). */
const SLOT_MS = 400
/**
 * Limits of a measured slot time. Test validators go down to about 50 ms; a slower value means that the chain has
 * stopped.
 */
const SLOT_MS_MIN = 5
const SLOT_MS_MAX = 2_000
/** Minimum time between the observations that measure the slot time, in milliseconds: an error of one slot is then 10 %. */
const SPAN_MIN_MS = 4_000
/**
 * Milliseconds after which an observation is stale. No slot is estimated for a node that has stopped or is
 * unreachable.
 */
const STALE_MS = 30_000

/**
 * An estimate of the current slot, from slots that a node reported occasionally. Times are of one clock, in
 * milliseconds.
 */
export class SlotEstimate {
  #first: Observation | null = null
  #last: Observation | null = null
  #slotMs = SLOT_MS

  /**
   * Takes a slot that was current at a time. A slot below an earlier one comes from another chain or from a lagging
   * node.
   */
  observe(slot: number, atMs: number): void {
    const last = this.#last
    if (last !== null && (slot < last.slot || atMs < last.atMs)) this.#first = null
    this.#last = { slot, atMs }
    this.#first ??= this.#last
    const spanMs = atMs - this.#first.atMs
    if (spanMs < SPAN_MIN_MS) return
    if (slot > this.#first.slot) this.#slotMs = clamp(spanMs / (slot - this.#first.slot))
    this.#first = this.#last
  }

  /** Returns the slot at a time; null if the last observation is too old. */
  at(nowMs: number): number | null {
    const last = this.#last
    if (last === null) return null
    const ageMs = Math.max(0, nowMs - last.atMs)
    return ageMs > STALE_MS ? null : last.slot + Math.floor(ageMs / this.#slotMs)
  }

  /** Milliseconds of a slot, as last measured. */
  get slotMs(): number {
    return this.#slotMs
  }
}

interface Observation {
  readonly slot: number
  readonly atMs: number
}

const clamp = (ms: number): number => Math.min(SLOT_MS_MAX, Math.max(SLOT_MS_MIN, ms))
