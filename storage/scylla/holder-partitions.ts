import { isLargeReading, type HolderListId, type HolderRowKind } from '../port/holders.ts'

/** Partitions of rows by address. Of ten million accounts each has 20 MB. */
const ADDRESS_RANGES = 64
const ADDRESS_BITS_BELOW = 2
/** Ranges of rows by amount: one for each number of leading zero bits. Amounts of a mint spread over some thirty. */
const AMOUNT_RANGES = 65
/** Partitions of a range of amounts of a large list. Ten million accounts with one amount have 80 MB in each. */
const AMOUNT_SHARES = 16
const SHARE_BITS_BELOW = 4
/** Offset of the address in the key of a row by amount. */
const ADDRESS_AT = 8

const RANGES: Readonly<Record<HolderRowKind, number>> = {
  account: ADDRESS_RANGES,
  owner: ADDRESS_RANGES,
  'owner-rank': AMOUNT_RANGES,
  'account-rank': AMOUNT_RANGES,
  sums: 1,
  change: 1
}

/**
 * The partitions of the rows of one kind of a list. Keys of a range are below those of the next one. The shares of a range
 * divide its keys by their address, so that each share has keys of the whole range.
 */
export interface HolderPartitions {
  readonly ranges: number
  readonly shares: number
}

export const holderPartitions = ({ reading }: HolderListId, kind: HolderRowKind): HolderPartitions => ({
  ranges: RANGES[kind],
  shares: RANGES[kind] === AMOUNT_RANGES && isLargeReading(reading) ? AMOUNT_SHARES : 1
})

/** Returns the range of a key. */
export function holderRange(kind: HolderRowKind, key: Uint8Array): number {
  if (RANGES[kind] === 1) return 0
  if (RANGES[kind] === ADDRESS_RANGES) return key[0]! >> ADDRESS_BITS_BELOW
  // Inverted, a leading zero bit of the amount is a leading one.
  for (let at = 0; at < 8; at++) {
    const amount = ~key[at]! & 255
    if (amount !== 0) return at * 8 + Math.clz32(amount) - 24
  }
  return AMOUNT_RANGES - 1
}

/** Returns the bucket of a key: shares of one range follow each other. */
export function holderBucket(list: HolderListId, kind: HolderRowKind, key: Uint8Array): number {
  const { shares } = holderPartitions(list, kind)
  const share = shares === 1 ? 0 : key[ADDRESS_AT]! >> SHARE_BITS_BELOW
  return holderRange(kind, key) * shares + share
}
