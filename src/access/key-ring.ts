import { hash, timingSafeEqual } from 'node:crypto'
import type { KeyRow } from '../../storage/access-documents.ts'
import { Caller, keyState } from './caller.ts'
import { entriesFor, type OriginUse } from './origin-entry.ts'
import { isSameKey, keyBytes } from './key-row.ts'
import { WORK_PER_MINUTE } from '../kernel/work/work-units.ts'

/** Compared with unknown keys, so that unknown and known keys take equal work. */
const NOBODY = new Uint8Array(32)

/** Compares two texts in constant time for a given length. */
function isSameText(known: Buffer, text: string): boolean {
  return known.length === text.length && timingSafeEqual(known, Buffer.from(text, 'latin1'))
}

/** All keys in memory, found by secret, id or origin. */
export class KeyRing {
  readonly #defaultRatePerMinute: number
  /** Units of work a minute of a key that states no limit. */
  readonly defaultWorkPerMinute: number
  /** Keys by id, in order of creation. */
  #byId = new Map<string, Caller>()
  /** Keys by hash, one character a byte. */
  #byHash = new Map<string, Caller>()
  /** Ids of keys by the entries of their lists of origins. */
  #byOrigin = new Map<string, Set<string>>()
  #bytes = 0
  /** Scratch buffer for the digest of a lookup; a new buffer for each lookup would take a fifth longer. */
  readonly #digest = Buffer.alloc(32)
  /** The last valid key that each connection presented, with its digest. */
  readonly #presented = new WeakMap<object, { readonly key: Buffer; readonly digest: string }>()

  /** Keys without a rate get `defaultRatePerMinute`, and those without a limit of work `defaultWorkPerMinute`. */
  constructor(defaultRatePerMinute: number, defaultWorkPerMinute = WORK_PER_MINUTE) {
    this.defaultWorkPerMinute = defaultWorkPerMinute
    this.#defaultRatePerMinute = defaultRatePerMinute
  }

  get size(): number {
    return this.#byId.size
  }

  /** Maximum bytes that all keys take in the store. */
  get bytes(): number {
    return this.#bytes
  }

  /** All keys in order of creation. */
  get keys(): readonly KeyRow[] {
    return Array.from(this.#byId.values(), ({ row }) => row)
  }

  /** Returns the caller of the key with an id; undefined if no key has the id. */
  caller(id: string): Caller | undefined {
    return this.#byId.get(id)
  }

  /**
   * Returns the caller of a key, whatever its state; null for an unknown key. All texts of one length take equal work.
   * A `connection` that repeats its last valid key saves the hash (4 µs); the key's state is still checked.
   */
  find(key: string, connection?: object): Caller | null {
    const last = connection === undefined ? undefined : this.#presented.get(connection)
    if (last !== undefined && isSameText(last.key, key)) return this.#byHash.get(last.digest) ?? null
    const digest = hash('sha256', key, 'binary')
    this.#digest.write(digest, 'binary')
    const found = this.#byHash.get(digest)
    const same = timingSafeEqual(this.#digest, found?.row.hash ?? NOBODY)
    if (found === undefined || !same) return null
    if (connection !== undefined) this.#presented.set(connection, { key: Buffer.from(key, 'latin1'), digest })
    return found
  }

  /** Tells whether any active key lists an origin for a part of the API. */
  admitsOrigin(origin: string, nowMs: number, use: OriginUse): boolean {
    if (this.#byOrigin.size === 0) return false
    const isActive = (id: string): boolean => keyState(this.#byId.get(id)!.row, nowMs) === 'active'
    return entriesFor(origin, use).some((entry) => this.#byOrigin.get(entry)?.values().some(isActive))
  }

  /**
   * Replaces all keys by those of the store, in order of creation. Most reloads find an unchanged list, or additional keys
   * at its end.
   */
  takeIn(rows: readonly KeyRow[]): void {
    const callers = this.#byId.values()
    for (const row of rows) {
      const known = callers.next().value?.row
      if (known !== undefined && known.id !== row.id) return this.#replaceAll(rows)
      if (!isSameKey(row, known)) this.put(row)
    }
    if (this.#byId.size > rows.length) this.#replaceAll(rows)
  }

  #replaceAll(rows: readonly KeyRow[]): void {
    const before = this.#byId
    this.#byId = new Map()
    this.#byHash = new Map()
    this.#byOrigin = new Map()
    this.#bytes = 0
    for (const row of rows) {
      const caller = before.get(row.id)
      this.put(row, isSameKey(row, caller?.row) ? caller : undefined)
    }
  }

  /** Adds a key, or replaces it by its new state. */
  put(row: KeyRow, caller = new Caller(row, this.#defaultRatePerMinute, this.defaultWorkPerMinute)): void {
    const before = this.#byId.get(row.id)
    this.#bytes += keyBytes(row) - (before === undefined ? 0 : keyBytes(before.row))
    this.#byId.set(row.id, caller)
    this.#byHash.set(Buffer.from(row.hash).toString('binary'), caller)
    for (const origin of row.corsOrigins) {
      const ids = this.#byOrigin.get(origin) ?? new Set()
      if (row.revokedAtMs === null) this.#byOrigin.set(origin, ids.add(row.id))
      else if (ids.delete(row.id) && ids.size === 0) this.#byOrigin.delete(origin)
    }
  }
}
