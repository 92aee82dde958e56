import { decodeBase58, encodeBase58 } from './base58.ts'

/** An address: 32 raw bytes, never modified. Text form is used only in input and output. */
export type Pubkey = Uint8Array

/** Decodes a base58 address; throws a RangeError unless it has 32 bytes. */
export function pubkeyFromBase58(text: string): Pubkey {
  const bytes = decodeBase58(text)
  if (bytes.length !== 32) throw new RangeError('an address has 32 bytes')
  return bytes
}

/** A cache entry: the text forms of an address, each filled on first use. */
interface Written {
  /** The object that last stood for the address; undefined once it was released. */
  seen: Pubkey | undefined
  base58: string | undefined
  mapKey: string | undefined
}

// Rows repeat a few programs, pools and mints, and encoding an address takes 0.5 µs; a cache hit takes a tenth of that.
// The cache is direct-mapped: each slot holds one address, until a later one replaces it. 4,096 slots take less than 1 MB.
const WRITTEN_SLOTS = 4096
const lately = new Array<Written | undefined>(WRITTEN_SLOTS).fill(undefined)
/** The address of each slot, copied. */
const addresses = new Uint8Array(WRITTEN_SLOTS * 32)

/**
 * Maximum number of noted objects; then all are released. An object may be a view that retains the memory of a whole
 * block; without the limit, all slots together retained 25 MB of blocks. The limit is the number of slots, so that a
 * note costs one step of the release.
 */
const SEEN_MAX = WRITTEN_SLOTS
let seen = 0

function writtenOf(key: Pubkey): Written {
  const hash = pubkeyHash(key)
  const slot = (hash ^ (hash >>> 12)) & (WRITTEN_SLOTS - 1)
  let known = lately[slot]
  // Rows of a stored page share one key object, so the next comparison is by identity.
  if (known?.seen === key) return known
  if (known === undefined || !isAddressAt(slot * 32, key)) {
    for (let i = 0; i < 32; i++) addresses[slot * 32 + i] = key[i]!
    known = lately[slot] = { seen: undefined, base58: undefined, mapKey: undefined }
  }
  known.seen = key
  if (++seen === SEEN_MAX) releaseSeen()
  return known
}

function isAddressAt(from: number, key: Pubkey): boolean {
  for (let i = 0; i < 32; i++) if (addresses[from + i] !== key[i]) return false
  return true
}

function releaseSeen(): void {
  for (const written of lately) if (written !== undefined) written.seen = undefined
  seen = 0
}

/** Encodes an address as base58; cached. */
export function pubkeyToBase58(key: Pubkey): string {
  return (writtenOf(key).base58 ??= encodeBase58(key))
}

export function samePubkey(a: Pubkey, b: Pubkey): boolean {
  if (a === b) return true
  for (let i = 0; i < 32; i++) if (a[i] !== b[i]) return false
  return true
}

/** Orders addresses by their bytes. Most differ in the first byte, so a call of `Buffer.compare` takes longer. */
export function comparePubkeys(a: Pubkey, b: Pubkey): number {
  for (let i = 0; i < 32; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return 0
}

/**
 * Returns a compact text form for use as a Map key: one character per byte, never shown. Cached: a fold needs each
 * address about twenty times, and a reused string keeps its hash.
 */
export function pubkeyMapKey(key: Pubkey): string {
  return (writtenOf(key).mapKey ??= characters(key))
}

/** Returns the address of a Map key. */
export function pubkeyOfMapKey(mapKey: string): Pubkey {
  return Uint8Array.from({ length: 32 }, (_, at) => mapKey.charCodeAt(at))
}

/** Written out because `String.fromCharCode(...k)` takes four times as long. */
// prettier-ignore
function characters(k: Pubkey): string {
  return String.fromCharCode(
    k[0]!, k[1]!, k[2]!, k[3]!, k[4]!, k[5]!, k[6]!, k[7]!, k[8]!, k[9]!, k[10]!, k[11]!, k[12]!, k[13]!, k[14]!, k[15]!,
    k[16]!, k[17]!, k[18]!, k[19]!, k[20]!, k[21]!, k[22]!, k[23]!, k[24]!, k[25]!, k[26]!, k[27]!, k[28]!, k[29]!, k[30]!, k[31]!
  )
}

export function isZeroPubkey(key: Pubkey): boolean {
  for (let i = 0; i < 32; i++) if (key[i] !== 0) return false
  return true
}

/**
 * Values by address, found from either form of a key. A JSON source looks up text and a binary source bytes, without
 * conversion.
 */
export class PubkeyTable<T> {
  readonly #byText = new Map<string, T>()
  readonly #byHash = new Map<number, { key: Pubkey; value: T }[]>()

  constructor(entries: Iterable<readonly [base58: string, value: T]>) {
    for (const [text, value] of entries) {
      const key = pubkeyFromBase58(text)
      this.#byText.set(text, value)
      const hash = pubkeyHash(key)
      const bucket = this.#byHash.get(hash)
      if (bucket === undefined) this.#byHash.set(hash, [{ key, value }])
      else bucket.push({ key, value })
    }
  }

  /** Number of addresses. */
  get size(): number {
    return this.#byText.size
  }

  ofText(text: string): T | undefined {
    return this.#byText.get(text)
  }

  ofBytes(key: Pubkey): T | undefined {
    const bucket = this.#byHash.get(pubkeyHash(key))
    if (bucket === undefined) return undefined
    for (const entry of bucket) if (samePubkey(entry.key, key)) return entry.value
    return undefined
  }
}

function pubkeyHash(key: Pubkey): number {
  return (key[0]! | (key[1]! << 8) | (key[2]! << 16) | (key[3]! << 24)) ^ (key[31]! << 7)
}

/** Returns addresses in their order, each once. */
export const distinctPubkeys = (keys: readonly Pubkey[]): Pubkey[] => [
  ...new Map(keys.map((key) => [pubkeyMapKey(key), key])).values()
]
