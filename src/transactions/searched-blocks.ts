import type { BlockSightings } from './ports.ts'

/** Maximum remembered slots: more than the 300 of a gapless run, for sources without heights. */
const SLOTS_MAX = 512

/** The slots whose blocks this process has searched. A transaction that was not found there did not land in them. */
export class SearchedBlocks {
  readonly #sightings: Pick<BlockSightings, 'searched'>
  /** In the order in which the blocks arrived. */
  readonly #slots = new Set<number>()

  constructor(sightings: Pick<BlockSightings, 'searched'>) {
    this.#sightings = sightings
  }

  add(slot: number): void {
    this.#slots.delete(slot)
    if (this.#slots.size >= SLOTS_MAX) this.#slots.delete(this.#slots.values().next().value!)
    this.#slots.add(slot)
  }

  /** Forgets the blocks after a slot. */
  forget(afterSlot: number): void {
    for (const slot of this.#slots) if (slot > afterSlot) this.#slots.delete(slot)
  }

  /** Returns whether the block of a slot was searched, or the slot has no block. */
  has(slot: number): boolean {
    const { searched } = this.#sightings
    return this.#slots.has(slot) || (searched !== null && slot >= searched.first && slot <= searched.last)
  }
}
