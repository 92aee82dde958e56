import type { Pubkey } from '../../../chain/pubkey.ts'
import { binPrice, type Bin } from '../curves/bins.ts'
import type { CallScript } from '../script.ts'
import { AccountBytes } from './account-bytes.ts'
import type { Pair, PoolSides } from './pool-sides.ts'

/** Between two bins, in basis points: twice the fee, so that one bin is always within the fee of a price. */
export const BIN_STEP = 50
/** Bins on either side of the first price: a position's 70 hold them. */
export const BINS_EACH_SIDE = 34
/** The base fee in units of 1e-9 is factor × step × 10; of it the protocol's part in ten-thousandths. */
export const BASE_FACTOR = 5000
export const FEE = BigInt(BASE_FACTOR * BIN_STEP * 10)
export const PROTOCOL_SHARE = 1000n

const BINS_OF_ARRAY = 70
const BIN_SIZE = 144

export interface DlmmPosition {
  readonly owner: Pubkey
  readonly address: Pubkey
  /** Of all bins alike: who adds, adds to each in proportion. */
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
  /** Fees of the positions, which nobody has claimed. */
  lpFees: Pair
  positions: DlmmPosition[]
}

export interface BinArray {
  readonly index: number
  readonly address: Pubkey
}

/** Index of the array that holds a bin. */
export function arrayIndexOf(id: number): number {
  return Math.floor(id / BINS_OF_ARRAY)
}

/** The arrays that hold the bins between two, in the order from the one to the other. */
export function arraysBetween({ arrays }: DlmmPool, from: number, to: number): readonly BinArray[] {
  const [first, last] = [arrayIndexOf(Math.min(from, to)), arrayIndexOf(Math.max(from, to))]
  const between = arrays.filter(({ index }) => index >= first && index <= last)
  return from <= to ? between : between.reverse()
}

export function writePair(call: CallScript, pool: DlmmPool): void {
  const state = new AccountBytes(904, '210b3162b565b10d')
    .u16(8, BASE_FACTOR)
    .u16(32, Number(PROTOCOL_SHARE))
    .i32(76, pool.activeId)
    .u16(80, BIN_STEP)
    .key(88, pool.mints[0])
    .key(120, pool.mints[1])
    .key(152, pool.vaults[0])
    .key(184, pool.vaults[1])
    .u64(216, pool.protocolFees[0])
    .u64(224, pool.protocolFees[1])
    .key(848, pool.creator)
  call.write(pool.address, state.bytes)
}

/** A bin array: its index, its pair, then 70 bins with amounts, price and supply of liquidity first. */
export function writeArrays(call: CallScript, pool: DlmmPool, arrays: readonly BinArray[]): void {
  for (const { index, address } of arrays) {
    const state = new AccountBytes(10_136, '5c8e5cdc059446b5')
      .u64(8, BigInt(index))
      .u8(16, 2)
      .key(24, pool.address)
    for (let at = 0; at < BINS_OF_ARRAY; at++) {
      const id = index * BINS_OF_ARRAY + at
      const bin = pool.bins[id - pool.firstId]
      if (bin === undefined) continue
      const offset = 56 + at * BIN_SIZE
      state
        .u64(offset, bin.x)
        .u64(offset + 8, bin.y)
        .u128(offset + 16, binPrice(id, BIN_STEP))
        .u128(offset + 32, pool.shares)
    }
    call.write(address, state.bytes)
  }
}
