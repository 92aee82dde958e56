import { COMMITMENTS, type Commitment } from './commitment.ts'

/** Maximum number of keys, about 3 MB; the least recently used is evicted. */
const KEYS_MAX = 10_000

const NOTHING: readonly number[] = [0, 0, 0]

/** Called with the abandoned floor and the slot from which the key resumes. */
export type OnAbandon = (floor: number, reached: number) => void

export interface SlotFloorsOptions {
  /** Called when the floor of a key rises, so that its slot counts as reached for a while. */
  readonly onRise?: (commitment: Commitment, slot: number) => void
  readonly onAbandon?: OnAbandon
}

/**
 * The newest slot that each key has seen, by commitment. No later answer to that key is older, over HTTP and sockets
 * together. Finalized state is included in newer states, so a floor at `finalized` also holds at `processed`.
 */
export class SlotFloors {
  /** Slots in the order of COMMITMENTS. Least recently used first. */
  readonly #floors = new Map<string, number[]>()
  readonly #options: SlotFloorsOptions
  /** The most recently used key. */
  #last: string | null = null
  /** Floors that were abandoned because no node had reached them. */
  abandoned = 0

  constructor(options: SlotFloorsOptions = {}) {
    this.#options = options
  }

  /**
   * Returns the lowest slot that an answer to the key at the commitment may have; 0 before its first answer. A floor
   * above `reached`, the newest slot that counts as reached by a node, is abandoned: the key resumes from `reached`.
   */
  of(keyId: string, commitment: Commitment, reached = Infinity): number {
    const floors = this.#floors.get(keyId)
    if (floors === undefined) return 0
    const first = COMMITMENTS.indexOf(commitment)
    let floor = 0
    for (let at = first; at < floors.length; at++) floor = Math.max(floor, floors[at]!)
    if (floor <= reached) return floor
    for (let at = first; at < floors.length; at++) floors[at] = Math.min(floors[at]!, reached)
    this.abandoned++
    this.#options.onAbandon?.(floor, reached)
    return reached
  }

  /** Records that a key was sent an answer of a slot. */
  saw(keyId: string, commitment: Commitment, slot: number): void {
    const floors = this.#floors.get(keyId) ?? [0, 0, 0]
    const at = COMMITMENTS.indexOf(commitment)
    if (slot > floors[at]!) {
      floors[at] = slot
      this.#options.onRise?.(commitment, slot)
    }
    // The most recently used key is already last.
    if (keyId === this.#last) return
    this.#last = keyId
    this.#floors.delete(keyId)
    this.#floors.set(keyId, floors)
    if (this.#floors.size > KEYS_MAX) this.#floors.delete(this.#floors.keys().next().value!)
  }

  /** The newest slots that a key was sent, in the order of COMMITMENTS. */
  seen(keyId: string): readonly number[] {
    return this.#floors.get(keyId) ?? NOTHING
  }

  get size(): number {
    return this.#floors.size
  }
}
