import { liquidityOf, priceOf, sqrtPriceOf, swapWithFee } from '../curves/concentrated.ts'
import { tickAtSqrtPrice } from '../curves/ticks.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import {
  addToSide,
  createVaults,
  newAddress,
  newSides,
  poolAddresses,
  startAmounts,
  timeOf,
  type Caller
} from './pool-sides.ts'
import { exchange, poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import { positionLiquidity } from './positions.ts'
import { decreasePosition, increasePosition, openPosition } from './raydium-clmm-positions.ts'
import {
  clmm,
  FEE,
  PROTOCOL_SHARE,
  RANGE,
  TICK_SPACING,
  writeState,
  type ClmmPool
} from './raydium-clmm-pool.ts'

// Source: raydium-io/raydium-clmm, program source. The swap's event precedes its transfers.

const createPool = clmm.instruction(
  'CreatePool',
  'e992d18ecf6840bc',
  'sqrtPriceX64:u128 openTime:u64',
  'creator! config pool* mints vaults* observation* bitmap* programs system rent'
)
const swapV2 = clmm.instruction(
  'SwapV2',
  '2b04ed0b1ac91e62',
  'amount:u64 otherAmountThreshold?:u64 sqrtPriceLimitX64?:u128 isBaseInput:bool',
  `trader! config pool* userIn* userOut* vaultIn* vaultOut* observation* token token2022 memo mintIn mintOut
  ticks*`
)
const poolCreatedEvent = clmm.event(
  '195e4b2f7063353f',
  `tokenMint0:pubkey tokenMint1:pubkey tickSpacing:u16 poolState:pubkey sqrtPriceX64:u128 tick:i32
  tokenVault0:pubkey tokenVault1:pubkey`
)
const swapEvent = clmm.event(
  '40c6cde8260871e2',
  `poolState:pubkey sender:pubkey tokenAccount0:pubkey tokenAccount1:pubkey amount0:u64 transferFee0?:u64
  amount1:u64 transferFee1?:u64 zeroForOne:bool sqrtPriceX64:u128 liquidity:u128 tick:i32 tradeFee0:u64
  tradeFee1:u64`
)

export const raydiumClmmPools = {
  venue: 'raydium-clmm',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: positionLiquidity<ClmmPool>(RANGE, 0n, (script, pool, owner, change, world) => {
    const { known, adds, liquidity } = change
    if (known === undefined) openPosition(script, pool, owner, liquidity, world)
    else (adds ? increasePosition : decreasePosition)(script, pool, known, liquidity, world)
  }),
  price({ sqrtPrice, baseSide }: ClmmPool): number {
    const price = priceOf(sqrtPrice)
    return baseSide === 0 ? price : 1 / price
  }
} satisfies PoolVenue<ClmmPool>

function open(script: Caller, pool: NewPool, world: VenueWorld): ClmmPool {
  const { ledger } = world
  const sides = newSides(pool, world, 'sorted')
  const offered = startAmounts(sides, pool)
  const sqrtPrice = sqrtPriceOf(offered)
  const opened: ClmmPool = {
    ...sides,
    address: newAddress(world),
    creator: pool.creator,
    observation: newAddress(world),
    tickArrays: [newAddress(world), newAddress(world), newAddress(world)],
    protocolPosition: newAddress(world),
    sqrtPrice,
    liquidity: 0n,
    growth: [0n, 0n],
    protocolFees: [0n, 0n],
    lpFees: [0n, 0n],
    positions: []
  }
  const { address, mints, vaults } = opened
  const addresses = { ...poolAddresses(opened, pool.creator, ledger), bitmap: newAddress(world) }
  createPool.call(script, addresses, { sqrtPriceX64: sqrtPrice, openTime: timeOf(script) }, (call) => {
    createVaults(call, opened, address)
    writeState(call, opened, ledger)
    poolCreatedEvent.emit(call, {
      tokenMint0: mints[0],
      tokenMint1: mints[1],
      tickSpacing: TICK_SPACING,
      poolState: address,
      sqrtPriceX64: sqrtPrice,
      tick: tickAtSqrtPrice(sqrtPrice),
      tokenVault0: vaults[0],
      tokenVault1: vaults[1]
    })
  })
  openPosition(script, opened, pool.creator, liquidityOf(offered, sqrtPrice, RANGE, 0n), world)
  return opened
}

function quoteSwap(pool: ClmmPool, { from }: SwapRoute, amountIn: bigint) {
  return swapWithFee(amountIn, from === 0, pool, RANGE, BigInt(FEE))
}

function writeSwap(
  script: Caller,
  pool: ClmmPool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>,
  { ledger }: VenueWorld
): void {
  const { from, trader, users } = route
  const { amountIn, amountOut, fee, sqrtPrice } = swapped
  const protocolFee = (fee * PROTOCOL_SHARE) / 1_000_000n
  const lpFee = fee - protocolFee
  pool.sqrtPrice = sqrtPrice
  pool.protocolFees = addToSide(pool.protocolFees, from, protocolFee)
  pool.lpFees = addToSide(pool.lpFees, from, lpFee)
  pool.growth = addToSide(pool.growth, from, (lpFee << 64n) / pool.liquidity)
  const addresses = { ...pool, ...route, ticks: pool.tickArrays[1] }
  swapV2.call(script, addresses, { amount: amountIn, isBaseInput: true }, (call) => {
    const [amount0, amount1] = from === 0 ? [amountIn, amountOut] : [amountOut, amountIn]
    swapEvent.emit(call, {
      poolState: pool.address,
      sender: trader,
      tokenAccount0: users[0],
      tokenAccount1: users[1],
      amount0,
      amount1,
      zeroForOne: from === 0,
      sqrtPriceX64: sqrtPrice,
      liquidity: pool.liquidity,
      tick: tickAtSqrtPrice(sqrtPrice),
      tradeFee0: from === 0 ? fee : 0n,
      tradeFee1: from === 0 ? 0n : fee
    })
    exchange(call, route, pool.address, swapped)
    writeState(call, pool, ledger)
  })
}
