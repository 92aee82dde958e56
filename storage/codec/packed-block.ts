import { digestOf, setDigest } from '../../src/market/block-digest.ts'
import { extentOf, setExtent } from '../../src/market/block-extent.ts'
import { RECORD_NAMES } from '../../src/market/records.ts'
import type { RecordName } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { BlockCommit } from '../port.ts'
import { blockCommitKind, valueOf, writeBlock } from './block-commit.ts'
import { packedDigestKind, type PackedDigest } from './block-digest.ts'
import type { Key } from './keys.ts'
import { readLastHash, slotFieldsKind } from './kinds.ts'
import { HEAD_BYTES, openRecord, packRecord, unpackRecord } from './record.ts'
import { blockPart } from './records.ts'

/** A packed block, and its packed digest. */
export interface BlockBytes {
  readonly packed: Buffer
  readonly digest: Buffer
}

/** A packed block as it is stored: versions without digests wrote none. */
export interface StoredBytes {
  readonly packed: Buffer
  readonly digest: Buffer | null
}

/** Records of unpacked blocks that are not decoded yet. */
const undecoded = new WeakMap<BlockCommit, Set<RecordName>>()

/** Packs a block with its digest. Throws a RangeError if one of its values cannot be stored. */
export function packBlock(key: Key, block: BlockCommit): BlockBytes {
  let places: number[] = []
  const noting = {
    ...blockCommitKind,
    write: (...to: Parameters<typeof writeBlock>) => void (places = writeBlock(...to))
  }
  const packed = Buffer.from(packRecord(noting, key, block))
  // While a record is written, its key is in front of it.
  const inPacked = places.map((place) => place - key.length)
  const digest = packRecord(packedDigestKind, key, { places: inPacked, digest: digestOf(block) })
  return { packed, digest: Buffer.from(digest) }
}

/**
 * Unpacks a block. With its digest, each record is decoded at its first use, so a follower pays for the rows that it reads.
 * Without one, as earlier versions wrote blocks, all of it is decoded at once. Throws STORAGE_UNAVAILABLE for damaged bytes.
 */
export function unpackBlock(key: Key, { packed, digest }: StoredBytes): BlockCommit {
  const stored = digest === null ? null : readDigest(key, digest)
  if (stored === null) return unpackRecord(blockCommitKind, key, packed)
  const read = openRecord(blockCommitKind, key, packed)
  const [hashPlace = packed.length, ...places] = stored.places
  const fields = read(HEAD_BYTES, (source) => slotFieldsKind.read(source, key))
  const blockhash = read(hashPlace, readLastHash) || null
  const block = { slot: { ...fields, blockhash } } as BlockCommit
  for (const [at, name] of RECORD_NAMES.entries()) {
    const place = places[at]
    addLazily(block, name, () =>
      valueOf(name, place === undefined ? [] : read(place, (source) => blockPart(name).read(source)))
    )
  }
  undecoded.set(block, new Set(RECORD_NAMES))
  setDigest(block, stored.digest)
  return block
}

/** Returns a block of which only the slot was read. Its records throw until their rows are added. */
export function unreadBlock(slot: SlotRow): BlockCommit {
  const block = { slot } as BlockCommit
  for (const name of RECORD_NAMES) {
    const get = (): never => {
      throw new Error(`the ${name} of block ${slot.slot} were not read`)
    }
    Object.defineProperty(block, name, { get, enumerable: true, configurable: true })
  }
  undecoded.set(block, new Set(RECORD_NAMES))
  setExtent(block, 'slot')
  return block
}

/**
 * Adds the stored digest to a block without one. Returns false if another version wrote the digest; it then follows from the
 * rows.
 */
export function addDigest(block: BlockCommit, key: Key, digest: Buffer): boolean {
  if (extentOf(block) !== 'slot') return true
  const stored = readDigest(key, digest)
  if (stored === null) return false
  setDigest(block, stored.digest)
  setExtent(block, 'digest')
  return true
}

/** Adds the rows to a block without them. Throws STORAGE_UNAVAILABLE for damaged bytes. */
export function addRows(block: BlockCommit, key: Key, bytes: StoredBytes): void {
  if (extentOf(block) === 'rows') return
  const whole = unpackBlock(key, bytes)
  for (const name of RECORD_NAMES) addLazily(block, name, () => whole[name])
  setDigest(block, digestOf(whole))
  setExtent(block, 'rows')
}

/** Tells whether one of some records of a block is not decoded yet. */
export function isUndecoded(block: BlockCommit, names: readonly RecordName[]): boolean {
  const left = undecoded.get(block)
  return left !== undefined && names.some((name) => left.has(name))
}

/** Decodes some records of a block. Returns false if they are decoded already. */
export function decodeRecords(block: BlockCommit, names: readonly RecordName[] = RECORD_NAMES): boolean {
  if (!isUndecoded(block, names)) return false
  // Each read decodes its record.
  return names.map((name) => block[name]).length > 0
}

/** Reads a digest; null if another version wrote it. It follows from the block, which is then decoded at once. */
function readDigest(key: Key, digest: Buffer): PackedDigest | null {
  try {
    return unpackRecord(packedDigestKind, key, digest)
  } catch {
    return null
  }
}

/** Adds a record that is decoded at its first use. */
function addLazily(block: BlockCommit, name: RecordName, decode: () => unknown): void {
  const get = (): unknown => {
    const value = decode()
    const left = undecoded.get(block)
    left?.delete(name)
    if (left?.size === 0) undecoded.delete(block)
    Object.defineProperty(block, name, { value, enumerable: true })
    return value
  }
  Object.defineProperty(block, name, { get, enumerable: true, configurable: true })
}
