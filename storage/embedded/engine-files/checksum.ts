import crc32c from 'crc-32/crc32c.js'

/** The engine adds this to a rotated checksum, so that a checksum of bytes that hold checksums is not degenerate. */
const MASK = 0xa2_82_ea_d8

/** CRC-32C of the bytes in the form in which the engine stores it. */
export function maskedChecksum(bytes: Uint8Array): number {
  const sum = crc32c.buf(bytes)
  return (((sum >>> 15) | (sum << 17)) + MASK) >>> 0
}
