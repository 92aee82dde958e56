import type { Pubkey } from '../../../chain/pubkey.ts'
import { fullRange, tickAtSqrtPrice } from '../curves/ticks.ts'
import type { CallScript, LedgerView } from '../script.ts'
import { AccountBytes } from './account-bytes.ts'
import { key, type Pair, type PoolSides } from './pool-sides.ts'
import type { Position } from './positions.ts'
import { Program } from './program.ts'

const CONFIG = key('E64NGkDLLCdQ2yFNPcavaKptrEgmiQaNykUuLC1Qgwyp')
export const clmm = new Program(key('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'), 'log', {
  config: CONFIG
})

export const TICK_SPACING = 60
/** All liquidity spans the whole range. */
export const RANGE = fullRange(TICK_SPACING)
/** Of the input in millionths, and the protocol's part of that. */
export const FEE = 2500
export const PROTOCOL_SHARE = 120_000n

/** What a position earned up to a growth of fees, and has not been paid. */
export interface ClmmPosition extends Position {
  growth: Pair
  owed: Pair
}

export interface ClmmPool extends PoolSides {
  readonly address: Pubkey
  readonly creator: Pubkey
  readonly observation: Pubkey
  /** Of the lowest, the current and the highest prices. */
  readonly tickArrays: readonly [Pubkey, Pubkey, Pubkey]
  readonly protocolPosition: Pubkey
  sqrtPrice: bigint
  liquidity: bigint
  /** Fees per unit of liquidity since the start, in Q64.64. */
  growth: Pair
  protocolFees: Pair
  /** Fees of the positions that lie in the vaults. */
  lpFees: Pair
  positions: ClmmPosition[]
}

export function writeState(call: CallScript, pool: ClmmPool, ledger: LedgerView): void {
  const state = new AccountBytes(1544, 'f7ede3f5d7c3de46')
    .u8(8, 255)
    .key(9, CONFIG)
    .key(41, pool.creator)
    .key(73, pool.mints[0])
    .key(105, pool.mints[1])
    .key(137, pool.vaults[0])
    .key(169, pool.vaults[1])
    .key(201, pool.observation)
    .u8(233, ledger.mint(pool.mints[0]).decimals)
    .u8(234, ledger.mint(pool.mints[1]).decimals)
    .u16(235, TICK_SPACING)
    .u128(237, pool.liquidity)
    .u128(253, pool.sqrtPrice)
    .i32(269, tickAtSqrtPrice(pool.sqrtPrice))
    .u128(277, pool.growth[0])
    .u128(293, pool.growth[1])
    .u64(309, pool.protocolFees[0])
    .u64(317, pool.protocolFees[1])
  call.write(pool.address, state.bytes)
}
