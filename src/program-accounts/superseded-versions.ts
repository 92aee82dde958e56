import { ACCOUNT_BUCKETS, accountBucket, type AccountVersion, type VersionKey } from '../../storage/port.ts'

interface Superseded {
  readonly key: VersionKey
  /** The slot from which the version is no longer read. */
  readonly bySlot: number
  readonly atMs: number
  readonly bytes: number
}

export interface SupersededLimits {
  /** Milliseconds for which a version stays after it was superseded. */
  readonly retentionMs: number
  readonly versionsMax: number
  readonly bytesMax: number
  /** Bytes of the versions in one partition of a cluster: one large account may change in each block. Absent: no limit. */
  readonly bucketBytesMax?: number
  /** Versions superseded less than `ms` ago stay beyond `versionsMax`, up to this number. Absent: no version does. */
  readonly recent?: { readonly ms: number; readonly versionsMax: number }
}

/**
 * Versions that newer ones have superseded, oldest first. They stay for a while, so that the pages of one paging run
 * show one slot. If there are too many, they are removed earlier.
 */
export class SupersededVersions {
  readonly #limits: SupersededLimits
  #list: Superseded[] = []
  #bytes = 0
  /** Bytes by partition. */
  #bucketBytes = new Float64Array(ACCOUNT_BUCKETS)

  constructor(limits: SupersededLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#list.length
  }

  /**
   * Adds a version that a newer one has superseded. A closed version needs no removal of its own: if it is missing,
   * the account does not exist either.
   */
  add({ address, slot, account }: AccountVersion, bySlot: number, nowMs: number): void {
    const bytes = ENTRY_BYTES + (account?.data.length ?? 0)
    this.#list.push({ key: { address, slot }, bySlot, atMs: nowMs, bytes })
    this.#bytes += bytes
    this.#bucketBytes[accountBucket(address)]! += bytes
  }

  /** Whether they have more bytes than they may have. */
  get isOverBytes(): boolean {
    const { bytesMax, bucketBytesMax = Infinity } = this.#limits
    return this.#bytes > bytesMax || this.#bucketBytes.some((bytes) => bytes > bucketBytesMax)
  }

  /** Removes versions that are too old or over the limits. Returns them with the oldest slot that can still be read. */
  take(nowMs: number): { readonly keys: readonly VersionKey[]; readonly oldestSlot: number } {
    const { retentionMs, versionsMax, bytesMax, bucketBytesMax = Infinity, recent } = this.#limits
    let count = 0
    let bytes = this.#bytes
    const bucketBytes = this.#bucketBytes.slice()
    const isOver = (ofBucket: number): boolean => ofBucket > bucketBytesMax
    let bucketsOver = bucketBytes.filter(isOver).length
    let oldestSlot = 0
    for (const each of this.#list) {
      const isRecent = recent !== undefined && each.atMs + recent.ms > nowMs
      const countMax = isRecent ? recent.versionsMax : versionsMax
      const hasTooMany = this.#list.length - count > countMax || bytes > bytesMax || bucketsOver > 0
      // Versions superseded by one slot are removed together: once one of them is removed, that slot is the oldest
      // readable one.
      if (!hasTooMany && each.atMs + retentionMs > nowMs && each.bySlot > oldestSlot) break
      oldestSlot = Math.max(oldestSlot, each.bySlot)
      bytes -= each.bytes
      const bucket = accountBucket(each.key.address)
      const before = bucketBytes[bucket]!
      bucketBytes[bucket] = before - each.bytes
      if (isOver(before) && !isOver(before - each.bytes)) bucketsOver--
      count++
    }
    const taken = this.#list.slice(0, count)
    this.#list = this.#list.slice(count)
    this.#bytes = bytes
    this.#bucketBytes = bucketBytes
    return { keys: taken.map(({ key }) => key), oldestSlot }
  }
}

/** Stored bytes of a version without its data. */
const ENTRY_BYTES = 100
