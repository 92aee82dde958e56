import { crc32 } from 'node:zlib'
import { ServiceError } from '../errors.ts'

const VERSION = 1
const SIZE = 1 + 8 + 4 + 4

/**
 * The opaque `after` of a list: base64url of a version, the last row's cursor, a digest of the list it belongs to, and
 * a checksum. One that was altered, or taken from another list, is refused.
 */
export function writePageCursor(list: string, cursor: number): string {
  const bytes = Buffer.alloc(SIZE)
  bytes.writeUInt8(VERSION, 0)
  bytes.writeBigUInt64BE(BigInt(cursor), 1)
  bytes.writeUInt32BE(crc32(list), 9)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 13)), 13)
  return bytes.toString('base64url')
}

/** The row cursor of an `after`; throws CURSOR_INVALID. */
export function readPageCursor(list: string, text: string): number {
  const bytes = Buffer.from(text, 'base64url')
  const cursor = bytes.length === SIZE ? bytes.readBigUInt64BE(1) : null
  const genuine =
    cursor !== null &&
    bytes.toString('base64url') === text &&
    bytes.readUInt8(0) === VERSION &&
    bytes.readUInt32BE(9) === crc32(list) &&
    bytes.readUInt32BE(13) === crc32(bytes.subarray(0, 13)) &&
    cursor <= BigInt(Number.MAX_SAFE_INTEGER)
  if (!genuine) throw new ServiceError('CURSOR_INVALID', 'after is no cursor of this list')
  return Number(cursor)
}
