import type { StreamedBlock } from './read-block.ts'

/** A block that came and waits for its turn. */
export interface HeldBlock {
  readonly block: StreamedBlock
  /** Of its message. */
  readonly bytes: number
  readonly receivedAtMs: number
}

export interface HeldLimits {
  readonly blocksMax: number
  readonly bytesMax: number
}

/**
 * Blocks between the stream and whoever takes them, by slot. Bounded: when it is full, nobody reads the stream until
 * half of it is taken; the last message may go beyond the limit, by itself.
 */
export class HeldBlocks {
  readonly #limits: HeldLimits
  readonly #bySlot = new Map<number, HeldBlock>()
  #bytes = 0

  constructor(limits: HeldLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#bySlot.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.size >= this.#limits.blocksMax || this.#bytes >= this.#limits.bytesMax
  }

  get hasRoom(): boolean {
    return this.size <= this.#limits.blocksMax / 2 && this.#bytes <= this.#limits.bytesMax / 2
  }

  /** Keeps a block; false for a slot that is held already, of which the first stays. */
  add(held: HeldBlock): boolean {
    const { slot } = held.block
    if (this.#bySlot.has(slot)) return false
    this.#bySlot.set(slot, held)
    this.#bytes += held.bytes
    return true
  }

  has(slot: number): boolean {
    return this.#bySlot.has(slot)
  }

  lowest(): HeldBlock | undefined {
    let lowest: HeldBlock | undefined
    for (const held of this.#bySlot.values()) {
      if (lowest === undefined || held.block.slot < lowest.block.slot) lowest = held
    }
    return lowest
  }

  remove(slot: number): void {
    const held = this.#bySlot.get(slot)
    if (held === undefined) return
    this.#bySlot.delete(slot)
    this.#bytes -= held.bytes
  }

  /** The last of the slots after one whose blocks are held and follow each other; the slot itself where none do. */
  lastFollowing(slot: number): number {
    let last = slot
    for (const next of [...this.#bySlot.keys()].sort((a, b) => a - b)) {
      if (next <= last) continue
      if (this.#bySlot.get(next)!.block.parentSlot > last) break
      last = next
    }
    return last
  }
}
