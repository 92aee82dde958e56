import { samePubkey, type Pubkey } from '../../../chain/pubkey.ts'
import { liquidityOf, liquidityWorth, priceOf, sqrtPriceOf, stepOf } from '../curves/concentrated.ts'
import { ceilDiv } from '../curves/integers.ts'
import { SYSTEM, TOKEN_2022 } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import {
  addToSide,
  createVaults,
  moveBoth,
  newAddress,
  newSides,
  otherSide,
  startAmounts,
  timeOf,
  tokenPrograms,
  type Caller,
  type Pair,
  type PoolSides,
  type Side
} from './pool-sides.ts'
import { exchange, poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import {
  addLiquidity,
  mintPositionNft,
  newPosition,
  positionLiquidity,
  positionAddresses,
  type Position,
  type PositionChange
} from './positions.ts'
import {
  AUTHORITY,
  createPosition,
  createPositionEvent,
  decrease,
  increase,
  initializeCustomizablePool,
  initializePoolEvent,
  liquidityChangeEvent,
  poolAccount,
  positionAccount,
  swap2,
  swap2Event
} from './meteora-damm-v2-program.ts'

/** The program's full price range; liquidity is in Q64.64. */
const RANGE = { lower: 4295048016n, upper: 79226673521066979257578248091n }
const BITS = 64n
/** Fee in units of 1e-9, and the protocol's share of it in hundredths. */
const FEE = 2_500_000n
const BILLION = 1_000_000_000n
const PROTOCOL_SHARE = 20n

/** Modes of collecting fees: on the output, or always on the second token. */
const COLLECT_BOTH = 0
const COLLECT_ONLY_B = 1

export interface DammV2Pool extends PoolSides {
  readonly address: Pubkey
  readonly creator: Pubkey
  readonly collectFeeMode: number
  readonly activationPoint: bigint
  sqrtPrice: bigint
  liquidity: bigint
  /** Vault balances without unclaimed fees. */
  reserves: Pair
  protocolFees: Pair
  lpFees: Pair
  positions: Position[]
}

export const meteoraDammV2Pools = {
  venue: 'meteora-damm-v2',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: positionLiquidity<DammV2Pool>(RANGE, BITS, writeLiquidity),
  price: ({ sqrtPrice }: DammV2Pool): number => priceOf(sqrtPrice)
} satisfies PoolVenue<DammV2Pool>

function open(script: Caller, pool: NewPool, world: VenueWorld): DammV2Pool {
  const { ledger } = world
  const { creator } = pool
  const sides = newSides(pool, world, 'as-given')
  const offered = startAmounts(sides, pool)
  const sqrtPrice = sqrtPriceOf(offered)
  const liquidity = liquidityOf(offered, sqrtPrice, RANGE, BITS)
  const amounts = liquidityWorth(liquidity, sqrtPrice, RANGE, BITS, 'up')
  const position = newPosition(creator, world)
  position.liquidity = liquidity
  const opened: DammV2Pool = {
    ...sides,
    address: newAddress(world),
    creator,
    collectFeeMode: world.random.next() < 0.5 ? COLLECT_BOTH : COLLECT_ONLY_B,
    activationPoint: timeOf(script),
    sqrtPrice,
    liquidity,
    reserves: amounts,
    protocolFees: [0n, 0n],
    lpFees: [0n, 0n],
    positions: [position]
  }
  const { address, mints, collectFeeMode } = opened
  const terms = {
    cliffFeeNumerator: FEE,
    sqrtMinPrice: RANGE.lower,
    sqrtMaxPrice: RANGE.upper,
    liquidity,
    sqrtPrice,
    activationType: 1,
    collectFeeMode
  }
  const addresses = positionAddresses(opened, position, ledger)
  initializeCustomizablePool.call(script, addresses, terms, (call) => {
    createVaults(call, opened, AUTHORITY)
    openPosition(call, opened, position)
    moveBoth(call, addresses, 'in', creator, amounts)
    initializePoolEvent.emit(call, {
      ...terms,
      pool: address,
      tokenAMint: mints[0],
      tokenBMint: mints[1],
      creator,
      payer: creator,
      alphaVault: SYSTEM,
      activationPoint: opened.activationPoint,
      tokenAFlag: tokenFlag(addresses.programs[0]),
      tokenBFlag: tokenFlag(addresses.programs[1]),
      tokenAAmount: amounts[0],
      tokenBAmount: amounts[1],
      totalAmountA: amounts[0],
      totalAmountB: amounts[1],
      poolType: 1
    })
    writeState(call, opened, ledger)
  })
  return opened
}

function quoteSwap(pool: DammV2Pool, { from, to }: SwapRoute, amountIn: bigint) {
  const { liquidity, sqrtPrice, collectFeeMode } = pool
  const feeSide: Side = collectFeeMode === COLLECT_ONLY_B ? 1 : otherSide(from)
  const feeIn = feeSide === from ? ceilDiv(amountIn * FEE, BILLION) : 0n
  const paidIn = amountIn - feeIn
  const step = stepOf(paidIn, from === 0, liquidity, sqrtPrice, RANGE, BITS)
  if (step === null) return null
  const feeOut = feeSide === to ? ceilDiv(step.output * FEE, BILLION) : 0n
  const amountOut = step.output - feeOut
  return { amountOut, paidIn, taken: step.output, fee: feeIn + feeOut, feeSide, sqrtPrice: step.sqrtPrice }
}

function writeSwap(
  script: Caller,
  pool: DammV2Pool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>,
  { ledger }: VenueWorld
): void {
  const { from, to } = route
  const { amountIn, amountOut, paidIn, taken, fee, feeSide, sqrtPrice } = swapped
  const protocolFee = (fee * PROTOCOL_SHARE) / 100n
  const claimingFee = fee - protocolFee
  pool.sqrtPrice = sqrtPrice
  pool.reserves = addToSide(addToSide(pool.reserves, from, paidIn), to, -taken)
  pool.protocolFees = addToSide(pool.protocolFees, feeSide, protocolFee)
  pool.lpFees = addToSide(pool.lpFees, feeSide, claimingFee)
  swap2.call(script, { ...pool, ...route }, { amount0: amountIn }, (call) => {
    exchange(call, route, AUTHORITY, swapped)
    swap2Event.emit(call, {
      pool: pool.address,
      tradeDirection: from,
      collectFeeMode: pool.collectFeeMode,
      amount0: amountIn,
      includedFeeInputAmount: amountIn,
      excludedFeeInputAmount: paidIn,
      outputAmount: amountOut,
      nextSqrtPrice: sqrtPrice,
      claimingFee,
      protocolFee,
      includedTransferFeeAmountIn: amountIn,
      includedTransferFeeAmountOut: amountOut,
      excludedTransferFeeAmountOut: amountOut,
      currentTimestamp: timeOf(script),
      reserveAAmount: pool.reserves[0],
      reserveBAmount: pool.reserves[1]
    })
    writeState(call, pool, ledger)
  })
}

function writeLiquidity(
  script: Caller,
  pool: DammV2Pool,
  owner: Pubkey,
  { adds, liquidity, amounts, known }: PositionChange<Position>,
  world: VenueWorld
): void {
  const { ledger } = world
  const position = known ?? newPosition(owner, world)
  const addresses = positionAddresses(pool, position, ledger)
  if (known === undefined) {
    pool.positions.push(position)
    createPosition.call(script, addresses, {}, (call) => openPosition(call, pool, position))
  }
  const sign = adds ? 1n : -1n
  addLiquidity(pool, position, sign * liquidity)
  pool.reserves = [pool.reserves[0] + sign * amounts[0], pool.reserves[1] + sign * amounts[1]]
  const thresholds = adds ? { tokenAAmountThreshold: amounts[0], tokenBAmountThreshold: amounts[1] } : {}
  const args = { liquidityDelta: liquidity, ...thresholds }
  const instruction = adds ? increase : decrease
  instruction.call(script, addresses, args, (call) => {
    moveBoth(call, addresses, adds ? 'in' : 'out', adds ? owner : AUTHORITY, amounts)
    liquidityChangeEvent.emit(call, {
      ...args,
      pool: pool.address,
      position: position.address,
      owner,
      tokenAAmount: amounts[0],
      tokenBAmount: amounts[1],
      transferFeeIncludedTokenAAmount: amounts[0],
      transferFeeIncludedTokenBAmount: amounts[1],
      reserveAAmount: pool.reserves[0],
      reserveBAmount: pool.reserves[1],
      changeType: adds ? 0 : 1
    })
    writeState(call, pool, ledger)
  })
}

function openPosition(call: CallScript, pool: DammV2Pool, position: Position): void {
  const { owner, address, nftMint } = position
  mintPositionNft(call, position, AUTHORITY)
  createPositionEvent.emit(call, { pool: pool.address, owner, position: address, positionNftMint: nftMint })
  call.write(address, positionAccount({ pool: pool.address, nftMint }))
}

function tokenFlag(program: Pubkey): number {
  return samePubkey(program, TOKEN_2022) ? 1 : 0
}

function writeState(call: CallScript, pool: DammV2Pool, ledger: LedgerView): void {
  const tokenFlags = tokenPrograms(pool, ledger).map(tokenFlag)
  call.write(pool.address, poolAccount({ ...pool, ...RANGE, fee: FEE, tokenFlags, layoutVersion: 1 }))
}
