import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { AccountVersion } from '../../storage/port.ts'

export interface PendingLimits {
  readonly versionsMax: number
  readonly bytesMax: number
}

/**
 * Updates of a program's accounts that wait until their slot is complete, by slot. Of an account one update a slot stays: the
 * last one. At its limit it takes no more, and the caller repairs the gap by a snapshot.
 */
export class PendingUpdates {
  readonly #limits: PendingLimits
  readonly #slots = new Map<number, Map<string, AccountVersion>>()
  #size = 0
  #bytes = 0

  constructor(limits: PendingLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** Estimated bytes of the data. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds an update. Returns false, and adds nothing, at the limit. */
  add(version: AccountVersion): boolean {
    const added = bytesOf(version)
    if (this.#size >= this.#limits.versionsMax || this.#bytes + added > this.#limits.bytesMax) return false
    const versions = this.#slots.get(version.slot) ?? new Map<string, AccountVersion>()
    this.#slots.set(version.slot, versions)
    const key = pubkeyMapKey(version.address)
    const before = versions.get(key)
    if (before === undefined) this.#size++
    else this.#bytes -= bytesOf(before)
    this.#bytes += added
    versions.set(key, version)
    return true
  }

  /** Adds the close of an account, unless its state in that slot is known. Returns false at the limit. */
  addClosed(version: AccountVersion): boolean {
    if (this.#slots.get(version.slot)?.has(pubkeyMapKey(version.address)) === true) return true
    return this.add(version)
  }

  /** Removes the updates up to a slot, and returns them ascending by slot. */
  takeUpTo(slot: number): AccountVersion[] {
    const slots = [...this.#slots.keys()].filter((each) => each <= slot).sort((a, b) => a - b)
    const taken = slots.flatMap((each) => [...this.#slots.get(each)!.values()])
    for (const each of slots) this.#slots.delete(each)
    this.#size -= taken.length
    for (const version of taken) this.#bytes -= bytesOf(version)
    return taken
  }

  clear(): void {
    this.#slots.clear()
    this.#size = 0
    this.#bytes = 0
  }
}

/** Bytes of an entry besides its data, estimated. */
const ENTRY_BYTES = 300

const bytesOf = ({ account }: AccountVersion): number => ENTRY_BYTES + (account?.data.length ?? 0)
