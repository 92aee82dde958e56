import type { Pubkey } from '../../../chain/pubkey.ts'
import { fullRange, tickAtSqrtPrice } from '../curves/ticks.ts'
import type { CallScript, LedgerView } from '../script.ts'
import { decimalsOf, key, type Pair, type PoolSides } from './pool-sides.ts'
import type { Position } from './positions.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

const CONFIG = key('E64NGkDLLCdQ2yFNPcavaKptrEgmiQaNykUuLC1Qgwyp')
export const clmm = new Program(key('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'), 'log', {
  config: CONFIG
})

const poolAccount = account(
  1544,
  'f7ede3f5d7c3de46',
  `bump:u8@8 config:pubkey@9 creator:pubkey@41 mints:pubkey[2]@73 vaults:pubkey[2]@137
  observation:pubkey@201 decimals:u8[2]@233 tickSpacing:u16@235 liquidity:u128@237 sqrtPrice:u128@253
  tick:i32@269 growth:u128[2]@277 protocolFees:u64[2]@309`
)

export const TICK_SPACING = 60
/** The price range of all liquidity. */
export const RANGE = fullRange(TICK_SPACING)
/** Fee on the input in millionths, and the protocol's share of it. */
export const FEE = 2500
export const PROTOCOL_SHARE = 120_000n

/** A position with the fee growth up to which it was settled, and its unpaid fees. */
export interface ClmmPosition extends Position {
  growth: Pair
  owed: Pair
}

export interface ClmmPool extends PoolSides {
  readonly address: Pubkey
  readonly creator: Pubkey
  readonly observation: Pubkey
  /** Tick arrays of the lowest, the current and the highest prices. */
  readonly tickArrays: readonly [Pubkey, Pubkey, Pubkey]
  readonly protocolPosition: Pubkey
  sqrtPrice: bigint
  liquidity: bigint
  /** Fees per unit of liquidity since the start, in Q64.64. */
  growth: Pair
  protocolFees: Pair
  /** Fees of the positions, still in the vaults. */
  lpFees: Pair
  positions: ClmmPosition[]
}

export function writeState(call: CallScript, pool: ClmmPool, ledger: LedgerView): void {
  const stated = {
    ...pool,
    bump: 255,
    config: CONFIG,
    decimals: decimalsOf(pool, ledger),
    tickSpacing: TICK_SPACING,
    tick: tickAtSqrtPrice(pool.sqrtPrice)
  }
  call.write(pool.address, poolAccount(stated))
}
