const HALF = 2 ** 32
const ALL_BITS = 2n ** 64n - 1n

/** Writes a whole number as eight big-endian bytes, in two halves: a bigint takes four times as long. */
export function writeU64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(value / HALF), at)
  bytes.writeUInt32BE(value >>> 0, at + 4)
}

/** Writes a whole number with its bits inverted, so that the largest number comes first in the order of bytes. */
export function writeInvertedU64(bytes: Buffer, value: number, at: number): void {
  writeU64(bytes, value, at)
  for (let i = at; i < at + 8; i++) bytes[i]! ^= 255
}

/** Reads a whole number that was written with its bits inverted. */
export const readInvertedU64 = (bytes: Buffer, at: number): number =>
  Number(ALL_BITS - bytes.readBigUInt64BE(at))
