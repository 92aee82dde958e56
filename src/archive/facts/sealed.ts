import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import type { Fact } from '../../../storage/port.ts'

/** A value begins with the version of its layout and the CRC-32 of the rest. */
const VERSION = 1
const HEAD_BYTES = 5
/** Bytes of a key: equal contents have equal keys, and no two others of an archive do. */
const KEY_BYTES = 16

/** Makes a fact whose key follows from its contents, so that the same contents are stored once. `head` begins the key. */
export function sealedFact(position: number, contents: Uint8Array, head: readonly number[] = []): Fact {
  const value = Buffer.allocUnsafe(HEAD_BYTES + contents.length)
  value[0] = VERSION
  value.writeUInt32LE(crc32(contents), 1)
  value.set(contents, HEAD_BYTES)
  const digest = createHash('sha256').update(contents).digest()
  return { position, key: Uint8Array.of(...head, ...digest.subarray(0, KEY_BYTES)), value }
}

/** Returns the contents of a fact. Throws STORAGE_UNAVAILABLE if they are damaged, or of a later version. */
export function unsealed({ position, value }: Fact): Uint8Array {
  const stored = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const contents = value.subarray(HEAD_BYTES)
  if (stored.length < HEAD_BYTES || stored.readUInt32LE(1) !== crc32(contents))
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `a fact of the archive at ${position} is damaged: remove the archive, and reimport all files and folders`
    )
  if (stored[0] !== VERSION)
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `a fact of the archive at ${position} has layout ${stored[0]}, which a later version wrote: import with that version`
    )
  return contents
}
