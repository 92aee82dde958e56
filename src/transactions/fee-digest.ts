import { BlockFees, bytesOf } from './block-fees.ts'

/** Changes with the layout and with the account hash. A process ignores digests of another version. */
const VERSION = 1
/** Fields before the blockhash: version, numbers of transactions and of writes (u32), length of the blockhash (u32). */
const HEAD_BYTES = 24

/** Returns the fees of a block as bytes: slot and blockhash, then `BlockFees.bytes`, little-endian. */
export function encodeFees({ slot, blockhash, prices, low, bytes }: BlockFees): Buffer {
  const hash = Buffer.from(blockhash ?? '')
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(VERSION, 0)
  head.writeUInt32LE(prices.length, 4)
  head.writeUInt32LE(low.length, 8)
  head.writeUInt32LE(hash.length, 12)
  head.writeDoubleLE(slot, 16)
  return Buffer.concat([head, hash, bytes])
}

/** Reads the fees of a block; null for bytes that `encodeFees` of this version did not write. */
export function decodeFees(digest: Uint8Array): BlockFees | null {
  if (digest.length < HEAD_BYTES) return null
  const head = new DataView(digest.buffer, digest.byteOffset, HEAD_BYTES)
  const [version, transactions, writes, hashBytes] = [0, 4, 8, 12].map((at) => head.getUint32(at, true)) as [
    number,
    number,
    number,
    number
  ]
  if (version !== VERSION || digest.length !== HEAD_BYTES + hashBytes + bytesOf(transactions, writes))
    return null
  const from = HEAD_BYTES + hashBytes
  const hash = Buffer.from(digest.subarray(HEAD_BYTES, from)).toString()
  const slot = head.getFloat64(16, true)
  // Copied, because a copy starts at an offset that is aligned for eight-byte numbers.
  const bytes = new Uint8Array(digest.subarray(from))
  const fees = new BlockFees({ slot, blockhash: hash === '' ? null : hash, transactions, writes }, bytes)
  return Number.isSafeInteger(slot) && isInOrder(fees) ? fees : null
}

function isInOrder({ prices, ends, low }: BlockFees): boolean {
  return (
    prices.every((price) => Number.isSafeInteger(price) && price >= 0) &&
    ends.every((end, place) => end >= (ends[place - 1] ?? 0)) &&
    (ends.at(-1) ?? 0) === low.length
  )
}
