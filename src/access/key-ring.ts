import { hash, timingSafeEqual } from 'node:crypto'
import type { KeyRow } from '../../storage/port.ts'
import { Caller, keyState } from './caller.ts'
import { isSameKey } from './key-row.ts'

/** What an unknown key is compared with, so that it costs the same work as a known one. */
const NOBODY = new Uint8Array(32)

/** In a time that tells nothing of where two texts of a length differ. */
function isSameText(known: Buffer, text: string): boolean {
  return known.length === text.length && timingSafeEqual(known, Buffer.from(text, 'latin1'))
}

/** All keys in memory, and who has them. */
export class KeyRing {
  readonly #defaultRatePerMinute: number
  /** In order of creation. */
  #byId = new Map<string, Caller>()
  /** By the hash, a character a byte. */
  #byHash = new Map<string, Caller>()
  #byOrigin = new Map<string, Set<string>>()
  /** Of the key that is looked for: a buffer for all, for one of its own would cost each look a fifth more. */
  readonly #digest = Buffer.alloc(32)
  /** The good key that a connection presented last, and its digest. */
  readonly #presented = new WeakMap<object, { readonly key: Buffer; readonly digest: string }>()

  /** Keys without a rate of their own get the given one, in calls a minute. */
  constructor(defaultRatePerMinute: number) {
    this.#defaultRatePerMinute = defaultRatePerMinute
  }

  get size(): number {
    return this.#byId.size
  }

  /** In order of creation. */
  get keys(): readonly KeyRow[] {
    return Array.from(this.#byId.values(), ({ row }) => row)
  }

  /** Undefined where there is none of the id. */
  row(id: string): KeyRow | undefined {
    return this.#byId.get(id)?.row
  }

  /**
   * Who has a key, whatever has become of it; null for nobody. The same work is done for each text of a length. A
   * `connection` that presents the good key that it presented last is spared the hashing, 4 µs; what has become of the
   * key is looked up anew.
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

  /** Whether pages of an origin may use any key that works. */
  admitsOrigin(origin: string, nowMs: number): boolean {
    const ids = this.#byOrigin.get(origin)?.values()
    return ids?.some((id) => keyState(this.#byId.get(id)!.row, nowMs) === 'active') ?? false
  }

  /** Takes in all that a store has, in order of creation: most find what is known already, or more at its end. */
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
    for (const row of rows) {
      const caller = before.get(row.id)
      this.put(row, isSameKey(row, caller?.row) ? caller : undefined)
    }
  }

  /** Takes a key in, or what has become of one. */
  put(row: KeyRow, caller = new Caller(row, this.#defaultRatePerMinute)): void {
    this.#byId.set(row.id, caller)
    this.#byHash.set(Buffer.from(row.hash).toString('binary'), caller)
    for (const origin of row.corsOrigins) {
      const ids = this.#byOrigin.get(origin) ?? new Set()
      if (row.revokedAtMs === null) this.#byOrigin.set(origin, ids.add(row.id))
      else if (ids.delete(row.id) && ids.size === 0) this.#byOrigin.delete(origin)
    }
  }
}
