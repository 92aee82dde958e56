import { maskedChecksum } from './checksum.ts'

/** A log is written in blocks of this size; no record crosses the end of one. */
const BLOCK_BYTES = 32_768
const HEADER_BYTES = 7
/** Kinds of records: a whole one, and the first, middle and last piece of a long one. */
const WHOLE = 1
const FIRST = 2
const LAST = 4

export interface RecordLog {
  /** The records before the first damage, in order. */
  readonly records: readonly Buffer[]
  /** End of the last of these records. */
  readonly end: number
  /** The offset of the first record that is damaged or cut off; null if every byte is accounted for. */
  readonly damagedAt: number | null
  /** Whether sound records follow the damage. If not, a write was cut off by the end of a process or of the power. */
  readonly goesOn: boolean
}

/** Reads a write-ahead log or a manifest of the engine, and verifies the checksum of each record. */
export function readRecordLog(bytes: Buffer): RecordLog {
  const records: Buffer[] = []
  let pieces: Buffer[] = []
  let end = 0
  for (let at = 0; at < bytes.length;) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES)
    if (left < HEADER_BYTES) {
      at += left
      continue
    }
    const piece = pieceAt(bytes, at)
    const follows = piece !== null && piece.kind <= FIRST === (pieces.length === 0)
    if (!follows) return { records, end, damagedAt: at, goesOn: goesOnAfter(bytes, at) }
    at += HEADER_BYTES + piece.contents.length
    pieces.push(piece.contents)
    if (piece.kind !== WHOLE && piece.kind !== LAST) continue
    records.push(Buffer.concat(pieces))
    pieces = []
    end = at
  }
  return { records, end, damagedAt: pieces.length === 0 ? null : end, goesOn: false }
}

/** The piece of a record that begins at an offset; null unless its header and its checksum are sound. */
function pieceAt(bytes: Buffer, at: number): { readonly kind: number; readonly contents: Buffer } | null {
  const blockEnd = Math.min(at - (at % BLOCK_BYTES) + BLOCK_BYTES, bytes.length)
  if (at + HEADER_BYTES > blockEnd) return null
  const kind = bytes[at + 6]!
  const end = at + HEADER_BYTES + bytes.readUInt16LE(at + 4)
  if (kind < WHOLE || kind > LAST || end > blockEnd) return null
  if (bytes.readUInt32LE(at) !== maskedChecksum(bytes.subarray(at + 6, end))) return null
  return { kind, contents: bytes.subarray(at + HEADER_BYTES, end) }
}

/** Searches for a sound piece at every offset of the damaged block, then at the start of each block after it. */
function goesOnAfter(bytes: Buffer, damagedAt: number): boolean {
  const nextBlock = damagedAt - (damagedAt % BLOCK_BYTES) + BLOCK_BYTES
  for (let at = damagedAt + 1; at < Math.min(nextBlock, bytes.length); at++)
    if (pieceAt(bytes, at) !== null) return true
  for (let at = nextBlock; at < bytes.length; at += BLOCK_BYTES) if (pieceAt(bytes, at) !== null) return true
  return false
}
