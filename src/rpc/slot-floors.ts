import { COMMITMENTS, type Commitment } from './commitment.ts'

/** Maximum number of keys; the least recently used is evicted. Chosen: about 3 MB. */
const KEYS_MAX = 10_000

/** Called with the abandoned floor and the slot from which the key continues. */
export type OnAbandon = (floor: number, reached: number) => void

/**
 * The newest slot that each key has seen, by commitment. No later answer to that key is older, over HTTP and sockets
 * together. Finalized state is part of newer states, so a floor at `finalized` also holds at `processed`.
 */
export class SlotFloors {
  /** Slots in the order of COMMITMENTS. Least recently used first. */
  readonly #floors = new Map<string, number[]>()
  readonly #keysMax: number
  readonly #onAbandon: OnAbandon
  /** The most recently used key. */
  #last: string | null = null
  /** Floors that were abandoned because no node had reached them. */
  abandoned = 0

  /** `onAbandon` is called for each floor that is abandoned. */
  constructor(onAbandon: OnAbandon = () => undefined, keysMax = KEYS_MAX) {
    this.#onAbandon = onAbandon
    this.#keysMax = keysMax
  }

  /**
   * The lowest slot that an answer to the key at the commitment may have; 0 if the key has seen none. A floor above
   * `reached`, the newest slot that counts as reached by a node, is abandoned: the key continues from `reached`.
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
    this.#onAbandon(floor, reached)
    return reached
  }

  /** Records that a key was sent an answer of a slot. */
  saw(keyId: string, commitment: Commitment, slot: number): void {
    const floors = this.#floors.get(keyId) ?? [0, 0, 0]
    const at = COMMITMENTS.indexOf(commitment)
    floors[at] = Math.max(floors[at]!, slot)
    // The most recently used key is already last.
    if (keyId === this.#last) return
    this.#last = keyId
    this.#floors.delete(keyId)
    this.#floors.set(keyId, floors)
    if (this.#floors.size > this.#keysMax) this.#floors.delete(this.#floors.keys().next().value!)
  }

  get size(): number {
    return this.#floors.size
  }
}
