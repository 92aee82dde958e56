const HALF = 2 ** 32

/** Writes a slot as eight big-endian bytes. In two halves: a bigint of each takes four times as long. */
export function writeSlot(bytes: Buffer, slot: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(slot / HALF), at)
  bytes.writeUInt32BE(slot >>> 0, at + 4)
}

/** Writes a slot with its bits inverted, so that the newest one comes first. */
export function writeInvertedSlot(bytes: Buffer, slot: number, at: number): void {
  writeSlot(bytes, slot, at)
  for (let i = at; i < at + 8; i++) bytes[i]! ^= 255
}
