import type { StreamedBlock } from './read-block.ts'

/** A block that arrived and is held for delivery. */
export interface HeldBlock {
  readonly block: StreamedBlock
  /** Size of its message. */
  readonly bytes: number
  readonly receivedAtMs: number
}

export interface HeldLimits {
  readonly blocksMax: number
  readonly bytesMax: number
}

/**
 * A buffer of blocks between the stream and its reader, by slot. When the buffer is full, the stream is not read
 * until half of the buffer is taken; only the last message may exceed the limit.
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

  /** Adds a block; false for a slot already held, whose first block remains. */
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

  /** Returns the last slot of the consecutive held blocks that follow a slot; the slot itself if no block follows. */
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
