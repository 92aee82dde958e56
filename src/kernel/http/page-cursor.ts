import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { ERRORS, ServiceError } from '../errors.ts'

/** Versions of the format: a row; a row and the number of rows after it to skip. */
const ROW = { version: 1, size: 1 + 8 + 4 + 4 } as const
const ROW_AND_SKIP = { version: 2, size: ROW.size + 2 } as const

/** The start of a page in a list. */
export interface PagePlace {
  /** Cursor of the row before the page. */
  readonly cursor: number
  /** Rows after the cursor that an `offset` still skips. */
  readonly skip: number
}

/**
 * Encodes the opaque `after` of a list: base64url of a version, the last row's cursor, a digest of the list's name,
 * the rows to skip if any, and a checksum. An altered cursor, or a cursor of another list, is refused.
 */
export function writePageCursor(list: string, cursor: number, skip = 0): string {
  const { version, size } = skip === 0 ? ROW : ROW_AND_SKIP
  const bytes = Buffer.alloc(size)
  bytes.writeUInt8(version, 0)
  bytes.writeBigUInt64BE(BigInt(cursor), 1)
  bytes.writeUInt32BE(crc32(list), 9)
  if (skip > 0) bytes.writeUInt16BE(skip, 13)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, size - 4)), size - 4)
  return bytes.toString('base64url')
}

/** Tells whether an `after` belongs to a list. */
export function isCursorOf(list: string, text: string): boolean {
  return placeIn(list, text) !== null
}

/** Returns the row cursor of an `after` of a list whose pages skip no rows. Throws CURSOR_INVALID. */
export function readPageCursor(list: string, text: string): number {
  const { cursor, skip } = readPagePlace(list, text)
  if (skip > 0) throw foreignCursor()
  return cursor
}

/** Returns the start of the page of an `after`. Throws CURSOR_INVALID. */
export function readPagePlace(list: string, text: string): PagePlace {
  const place = placeIn(list, text)
  if (place === null) throw foreignCursor()
  return place
}

/** A cursor of a row in decimal digits, which no opaque cursor has: those have at least 23 characters. */
const ROW_CURSOR = /^\d{1,16}$/

/**
 * Returns the start of the page of an `after` of a list whose rows have a `cursor`: an opaque cursor, or that of a row, after
 * which the page begins. Throws CURSOR_INVALID.
 */
export function readRowPlace(list: string, text: string): PagePlace {
  if (!ROW_CURSOR.test(text)) return readPagePlace(list, text)
  const cursor = Number(text)
  if (!Number.isSafeInteger(cursor)) throw foreignCursor()
  return { cursor, skip: 0 }
}

function placeIn(list: string, text: string): PagePlace | null {
  const bytes = Buffer.from(text, 'base64url')
  const form = [ROW, ROW_AND_SKIP].find(({ size }) => size === bytes.length)
  if (form === undefined) return null
  const end = form.size - 4
  const cursor = bytes.readBigUInt64BE(1)
  const genuine =
    bytes.toString('base64url') === text &&
    bytes.readUInt8(0) === form.version &&
    bytes.readUInt32BE(9) === crc32(list) &&
    bytes.readUInt32BE(end) === crc32(bytes.subarray(0, end)) &&
    cursor <= BigInt(Number.MAX_SAFE_INTEGER)
  if (!genuine) return null
  return { cursor: Number(cursor), skip: form === ROW ? 0 : bytes.readUInt16BE(13) }
}

/** Returns the refusal of an `after` that does not belong to its list. */
export function foreignCursor(): ServiceError {
  return new ServiceError(ERRORS.CURSOR_INVALID, 'after is not a cursor of this list')
}

/** Version of the format of a position in words. */
const WORDS_VERSION = 3
const WORDS = z.array(z.string())

/**
 * Encodes the `after` of a list whose positions are words. The format is that of `writePageCursor`, with the words
 * instead of a cursor.
 */
export function writeWordsCursor(list: string, words: readonly string[]): string {
  const body = Buffer.concat([
    Buffer.of(WORDS_VERSION),
    checksum(Buffer.from(list)),
    Buffer.from(JSON.stringify(words))
  ])
  return Buffer.concat([body, checksum(body)]).toString('base64url')
}

/** Returns the words of an `after` of a list. Throws CURSOR_INVALID. */
export function readWordsCursor(list: string, text: string): readonly string[] {
  const bytes = Buffer.from(text, 'base64url')
  const body = bytes.subarray(0, -4)
  const isGenuine =
    bytes.length > 9 &&
    bytes.toString('base64url') === text &&
    body.readUInt8(0) === WORDS_VERSION &&
    body.subarray(1, 5).equals(checksum(Buffer.from(list))) &&
    bytes.subarray(-4).equals(checksum(body))
  if (!isGenuine) throw foreignCursor()
  return wordsOf(body.subarray(5).toString())
}

/** Returns the words of an `after` of any list, such as one of an exported row; null if it is of another form. */
export function readForeignWords(text: string): readonly string[] | null {
  const bytes = Buffer.from(text, 'base64url')
  const body = bytes.subarray(0, -4)
  const isGenuine =
    bytes.length > 9 && body.readUInt8(0) === WORDS_VERSION && bytes.subarray(-4).equals(checksum(body))
  try {
    return isGenuine ? wordsOf(body.subarray(5).toString()) : null
  } catch {
    return null
  }
}

/** Parses the words of a cursor. The checksum has no key, so anybody can make one for other text. */
function wordsOf(text: string): readonly string[] {
  try {
    return WORDS.parse(JSON.parse(text))
  } catch {
    throw foreignCursor()
  }
}

function checksum(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}
