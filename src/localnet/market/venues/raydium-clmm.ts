import type { Pubkey } from '../../../chain/pubkey.ts'
import { OTHER_EVENTS, swapEvent } from '../../../chain/venues/raydium-clmm-events.ts'
import { createPool, swapV2 } from '../../../chain/venues/raydium-clmm-instructions.ts'
import { liquidityOf, liquidityWorth, priceOf, sqrtPriceOf, swapWithFee } from '../curves/concentrated.ts'
import { tickAtSqrtPrice } from '../curves/ticks.ts'
import { MEMO, RENT_SYSVAR, SYSTEM, TOKEN, TOKEN_2022 } from '../../programs.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { reads, signs, writes } from './account-uses.ts'
import {
  PoolTransfers,
  U64_MAX,
  canMove,
  newAddress,
  newSides,
  otherSide,
  sideIn,
  startAmounts,
  timeOf,
  tokenPrograms,
  userAccounts,
  vaultBalances,
  withSide,
  type Caller
} from './pool-sides.ts'
import { POSITION_LIMIT, liquidityChange, positionOf } from './positions.ts'
import { decreasePosition, increasePosition, openPosition } from './raydium-clmm-positions.ts'
import {
  CONFIG,
  FEE,
  PROGRAM,
  PROTOCOL_SHARE,
  RANGE,
  TICK_SPACING,
  writeState,
  type ClmmPool
} from './raydium-clmm-pool.ts'

// Source: raydium-io/raydium-clmm, program source. The swap's event stands before its transfers.

const [poolCreatedEvent] = OTHER_EVENTS

export const raydiumClmmPools = {
  venue: 'raydium-clmm',
  open,
  swap,
  changeLiquidity,
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
  const accounts = [
    signs(pool.creator),
    reads(CONFIG),
    writes(address),
    ...mints.map(reads),
    ...vaults.map(writes),
    writes(opened.observation),
    writes(newAddress(world)),
    ...tokenPrograms(opened, ledger).map(reads),
    reads(SYSTEM),
    reads(RENT_SYSVAR)
  ]
  const data = createPool.write({ sqrtPriceX64: sqrtPrice, openTime: timeOf(script) })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: CreatePool')
    call.createTokenAccount(vaults[0], address, mints[0])
    call.createTokenAccount(vaults[1], address, mints[1])
    writeState(call, opened, ledger)
    call.logData(
      poolCreatedEvent.write({
        tokenMint0: mints[0],
        tokenMint1: mints[1],
        tickSpacing: TICK_SPACING,
        poolState: address,
        sqrtPriceX64: sqrtPrice,
        tick: tickAtSqrtPrice(sqrtPrice),
        tokenVault0: vaults[0],
        tokenVault1: vaults[1]
      })
    )
  })
  openPosition(script, opened, pool.creator, liquidityOf(offered, sqrtPrice, RANGE, 0n), world)
  return opened
}

function swap(
  script: Caller,
  pool: ClmmPool,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const quote = swapWithFee(amountIn, from === 0, pool, RANGE, BigInt(FEE))
  if (quote === null || vaultBalances(pool, ledger)[from] + amountIn > U64_MAX) return null
  const { amountOut, fee } = quote
  const protocolFee = (fee * PROTOCOL_SHARE) / 1_000_000n
  const lpFee = fee - protocolFee
  pool.sqrtPrice = quote.sqrtPrice
  pool.protocolFees = withSide(pool.protocolFees, from, pool.protocolFees[from] + protocolFee)
  pool.lpFees = withSide(pool.lpFees, from, pool.lpFees[from] + lpFee)
  pool.growth = withSide(pool.growth, from, pool.growth[from] + (lpFee << 64n) / pool.liquidity)
  const users = userAccounts(pool, trader, ledger)
  const accounts = [
    signs(trader),
    reads(CONFIG),
    writes(pool.address),
    writes(users[from]),
    writes(users[to]),
    writes(pool.vaults[from]),
    writes(pool.vaults[to]),
    writes(pool.observation),
    reads(TOKEN),
    reads(TOKEN_2022),
    reads(MEMO),
    reads(pool.mints[from]),
    reads(pool.mints[to]),
    writes(pool.tickArrays[1])
  ]
  const data = swapV2.write({
    amount: amountIn,
    otherAmountThreshold: 0n,
    sqrtPriceLimitX64: 0n,
    isBaseInput: true
  })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: SwapV2')
    call.logData(
      swapEvent.write({
        poolState: pool.address,
        sender: trader,
        tokenAccount0: users[0],
        tokenAccount1: users[1],
        amount0: from === 0 ? amountIn : amountOut,
        transferFee0: 0n,
        amount1: from === 0 ? amountOut : amountIn,
        transferFee1: 0n,
        zeroForOne: from === 0,
        sqrtPriceX64: pool.sqrtPrice,
        liquidity: pool.liquidity,
        tick: tickAtSqrtPrice(pool.sqrtPrice),
        tradeFee0: from === 0 ? fee : 0n,
        tradeFee1: from === 0 ? 0n : fee
      })
    )
    const transfers = new PoolTransfers(call, pool, ledger)
    transfers.payIn(from, trader, amountIn)
    transfers.payOut(to, trader, pool.address, amountOut)
    writeState(call, pool, ledger)
  })
  return { amountIn, amountOut }
}

function changeLiquidity(
  script: Caller,
  pool: ClmmPool,
  by: Pubkey,
  thousandths: number,
  world: VenueWorld
): void {
  const adds = thousandths > 0
  const known = positionOf(pool.positions, by)
  const liquidity = liquidityChange(thousandths, pool.liquidity, known)
  const amounts = liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, adds ? 'up' : 'down')
  if (!canMove(pool, world.ledger, by, adds, amounts)) return
  if (known !== undefined) {
    if (adds) increasePosition(script, pool, known, liquidity, world)
    else decreasePosition(script, pool, known, liquidity, world)
  } else if (pool.positions.length < POSITION_LIMIT) openPosition(script, pool, by, liquidity, world)
}
