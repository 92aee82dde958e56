import type { Pubkey } from '../../../chain/pubkey.ts'
import { binPrice, type Bin } from '../curves/bins.ts'
import type { CallScript } from '../script.ts'
import type { Pair, PoolSides } from './pool-sides.ts'
import { account } from './record.ts'

/** Bin distance in basis points: twice the fee, so that one bin is always within the fee of a price. */
export const BIN_STEP = 50
/** Bins on either side of the first price: a position's 70 bins hold them. */
export const BINS_EACH_SIDE = 34
/**
 * Base factor and protocol share. The fee in units of 1e-9 is factor × step × 10; the share is in ten-thousandths of
 * the fee.
 */
export const BASE_FACTOR = 5000
export const FEE = BigInt(BASE_FACTOR * BIN_STEP * 10)
export const PROTOCOL_SHARE = 1000n

const BINS_OF_ARRAY = 70
const BIN_SIZE = 144
const pairAccount = account(
  904,
  '210b3162b565b10d',
  `baseFactor:u16@8 protocolShare:u16@32 activeId:i32@76 binStep:u16@80 mints:pubkey[2]@88
  vaults:pubkey[2]@152 protocolFees:u64[2]@216 creator:pubkey@848`
)
const arrayAccount = account(
  10_136,
  '5c8e5cdc059446b5',
  `index:i64@8 version:u8@16 pair:pubkey@24 bins:bytes[70]@56`
)
const binPart = account(BIN_SIZE, '', 'x:u64@0 y:u64@8 price:u128@16 supply:u128@32')
const NO_BIN = new Uint8Array(BIN_SIZE)

export interface DlmmPosition {
  readonly owner: Pubkey
  readonly address: Pubkey
  /** Shares of every bin: a provider adds to each in proportion. */
  shares: bigint
}

export interface DlmmPool extends PoolSides {
  readonly address: Pubkey
  readonly creator: Pubkey
  readonly oracle: Pubkey
  readonly firstId: number
  readonly arrays: readonly BinArray[]
  activeId: number
  bins: Bin[]
  shares: bigint
  protocolFees: Pair
  /** Unclaimed fees of the positions. */
  lpFees: Pair
  positions: DlmmPosition[]
}

export interface BinArray {
  readonly index: number
  readonly address: Pubkey
}

/** Returns the index of the array that holds a bin. */
export function arrayIndexOf(id: number): number {
  return Math.floor(id / BINS_OF_ARRAY)
}

/** Returns the arrays that hold the bins of a range, ordered from its first bin to its second. */
export function arraysBetween({ arrays }: DlmmPool, from: number, to: number): readonly BinArray[] {
  const [first, last] = [arrayIndexOf(Math.min(from, to)), arrayIndexOf(Math.max(from, to))]
  const between = arrays.filter(({ index }) => index >= first && index <= last)
  return from <= to ? between : between.reverse()
}

export function writePair(call: CallScript, pool: DlmmPool): void {
  const protocolShare = Number(PROTOCOL_SHARE)
  const stated = { ...pool, baseFactor: BASE_FACTOR, protocolShare, binStep: BIN_STEP }
  call.write(pool.address, pairAccount(stated))
}

/** Writes arrays of bins; a bin begins with its amounts, price and supply of liquidity. */
export function writeArrays(call: CallScript, pool: DlmmPool, arrays: readonly BinArray[]): void {
  for (const { index, address } of arrays) {
    const firstId = index * BINS_OF_ARRAY
    const bins = Array.from({ length: BINS_OF_ARRAY }, (_, at) => {
      const bin = pool.bins[firstId + at - pool.firstId]
      if (bin === undefined) return NO_BIN
      return binPart({ ...bin, price: binPrice(firstId + at, BIN_STEP), supply: pool.shares })
    })
    const stated = { index: BigInt(index), version: 2, pair: pool.address, bins }
    call.write(address, arrayAccount(stated))
  }
}
