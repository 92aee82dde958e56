import { crc32 } from 'node:zlib'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import type { Key } from './keys.ts'

/** A kind of record: its name in errors, and the encoding of its value. */
export interface RecordKind<T> {
  readonly name: string
  write(out: ByteWriter, value: T): void
  /** Decodes a value. Fields that are part of the key are not repeated in the value; they are read from the key. */
  read(source: ByteReader, key: Key): T
  /** Estimates the bytes of a decoded value in memory. */
  weigh(value: T): number
}

/** A value starts with the version of its layout and the CRC-32 of its key, version and contents. */
const VERSION = 1
export const HEAD_BYTES = 5
const NO_HEAD = new Uint8Array(HEAD_BYTES)
const scratch = new ByteWriter()

/** Encodes a value as version, CRC-32 and contents. The result is valid until the next record is packed. */
export function packRecord<T>(kind: RecordKind<T>, key: Key, value: T): Uint8Array<ArrayBuffer> {
  scratch.clear()
  // Key and contents are adjacent, so that one call computes the checksum of both. Afterwards the head overwrites the key's
  // end.
  scratch.fixed(NO_HEAD, HEAD_BYTES)
  scratch.fixed(key, key.length)
  kind.write(scratch, value)
  const sum = crc32(scratch.written(HEAD_BYTES), VERSION)
  scratch.patchByte(key.length, VERSION)
  scratch.patchUint32(key.length + 1, sum)
  return scratch.written(key.length)
}

/** Decodes a record. Throws STORAGE_UNAVAILABLE, naming the record, unless the bytes were written under this key. */
export function unpackRecord<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array): T {
  assertSound(kind, key, bytes)
  return decoded(kind, key, () => {
    const source = new ByteReader(bytes, HEAD_BYTES)
    const value = kind.read(source, key)
    if (!source.atEnd) throw new RangeError('the value has more bytes than its contents')
    return value
  })
}

/** Reads a field of an opened record at a place in its bytes. Throws STORAGE_UNAVAILABLE, as `unpackRecord` does. */
export type ReadField = <T>(place: number, read: (source: ByteReader) => T) => T

/** Checks a record as `unpackRecord` does, and returns a function that reads its fields when they are needed. */
export function openRecord(kind: Named, key: Key, bytes: Uint8Array): ReadField {
  assertSound(kind, key, bytes)
  return (place, read) => decoded(kind, key, () => read(new ByteReader(bytes, place)))
}

/** Returns the contents of a record, undecoded. Throws like `unpackRecord`. */
export function contentsOf(kind: Named, key: Key, bytes: Uint8Array): Uint8Array {
  assertSound(kind, key, bytes)
  return bytes.subarray(HEAD_BYTES)
}

/** Runs the decoding of a record's contents. Throws STORAGE_UNAVAILABLE, naming the record, if they do not follow its layout. */
export function decoded<T>(kind: Named, key: Key, decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    throw unreadable(kind, key, 'does not follow its layout', cause)
  }
}

type Named = Pick<RecordKind<unknown>, 'name'>

function assertSound(kind: Named, key: Key, bytes: Uint8Array): void {
  if (!isSoundRecord(key, bytes)) throw unreadable(kind, key, 'is damaged: its checksum does not match')
  if (bytes[0] !== VERSION)
    throw unreadable(kind, key, `has layout ${bytes[0]}, which this version does not know`)
}

/** Returns whether a value's bytes were written under this key, whatever their kind. */
export function isSoundRecord(key: Key, bytes: Uint8Array): boolean {
  return bytes.length >= HEAD_BYTES && statedChecksum(bytes) === checksum(key, bytes)
}

const statedChecksum = (bytes: Uint8Array): number =>
  (bytes[1]! | (bytes[2]! << 8) | (bytes[3]! << 16) | (bytes[4]! << 24)) >>> 0

function checksum(key: Key, bytes: Uint8Array): number {
  return crc32(bytes.subarray(HEAD_BYTES), crc32(key, bytes[0]))
}

function unreadable(kind: Named, key: Key, what: string, cause?: unknown): ServiceError {
  return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `${kind.name} ${key.toString('hex')} ${what}`, {
    cause
  })
}
