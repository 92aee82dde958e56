import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { AccountVersion } from '../../storage/port.ts'

export interface PendingLimits {
  readonly versionsMax: number
  readonly bytesMax: number
}

/**
 * Updates of a program's accounts that are held until their slot is complete, by slot. Only the last update of an
 * account in a slot is stored. At its limit it accepts no more updates, and the caller repairs the gap with a
 * snapshot.
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

  /** Adds an update; at the limit, returns false and adds nothing. */
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

  /** Returns the updates up to a slot, ascending by slot. */
  upTo(slot: number): AccountVersion[] {
    return this.#slotsUpTo(slot).flatMap((each) => [...this.#slots.get(each)!.values()])
  }

  /** Removes the updates up to a slot, and returns them ascending by slot. */
  takeUpTo(slot: number): AccountVersion[] {
    const taken = this.upTo(slot)
    for (const each of this.#slotsUpTo(slot)) this.#slots.delete(each)
    this.#size -= taken.length
    for (const version of taken) this.#bytes -= bytesOf(version)
    return taken
  }

  #slotsUpTo(slot: number): number[] {
    return [...this.#slots.keys()].filter((each) => each <= slot).sort((a, b) => a - b)
  }

  clear(): void {
    this.#slots.clear()
    this.#size = 0
    this.#bytes = 0
  }
}

/** Estimated bytes of an entry without its data. */
const ENTRY_BYTES = 300

const bytesOf = ({ account }: AccountVersion): number => ENTRY_BYTES + (account?.data.length ?? 0)
