import type { Pubkey } from '../../../chain/pubkey.ts'
import {
  OTHER_EVENTS,
  createPersonalPositionEvent,
  decreaseLiquidityEvent,
  increaseLiquidityEvent
} from '../../../chain/venues/raydium-clmm-events.ts'
import {
  decreaseLiquidityV2,
  increaseLiquidityV2,
  openPositionWithToken22Nft
} from '../../../chain/venues/raydium-clmm-instructions.ts'
import { liquidityWorth } from '../curves/concentrated.ts'
import { tickAtSqrtPrice } from '../curves/ticks.ts'
import { ASSOCIATED_TOKEN, MEMO, RENT_SYSVAR, SYSTEM, TOKEN, TOKEN_2022 } from '../../programs.ts'
import type { CallScript } from '../script.ts'
import type { VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import { PoolTransfers, userAccounts, type Caller, type Pair } from './pool-sides.ts'
import { mintPositionNft, newPosition } from './positions.ts'
import {
  PROGRAM,
  RANGE,
  TICK_SPACING,
  writeState,
  type ClmmPool,
  type ClmmPosition
} from './raydium-clmm-pool.ts'

const [, liquidityChangeEvent, liquidityCalculateEvent] = OTHER_EVENTS
const TICKS_OF_ARRAY = 60 * TICK_SPACING

/** Opens a position over the whole range, with liquidity at once. */
export function openPosition(
  script: Caller,
  pool: ClmmPool,
  owner: Pubkey,
  liquidity: bigint,
  world: VenueWorld
): void {
  const { ledger } = world
  const position: ClmmPosition = {
    ...newPosition(owner, world, 'associated'),
    growth: pool.growth,
    owed: [0n, 0n]
  }
  pool.positions.push(position)
  const amounts = grow(pool, position, liquidity)
  const accounts = [
    signs(owner),
    reads(owner),
    signs(position.nftMint),
    writes(position.nftAccount),
    writes(pool.address),
    writes(pool.protocolPosition),
    writes(pool.tickArrays[0]),
    writes(pool.tickArrays[2]),
    writes(position.address),
    ...userAccounts(pool, owner, ledger).map(writes),
    ...pool.vaults.map(writes),
    reads(RENT_SYSVAR),
    reads(SYSTEM),
    reads(TOKEN),
    reads(ASSOCIATED_TOKEN),
    reads(TOKEN_2022),
    ...pool.mints.map(reads)
  ]
  const data = openPositionWithToken22Nft.write({
    tickLowerIndex: RANGE.lowerTick,
    tickUpperIndex: RANGE.upperTick,
    tickArrayLowerStartIndex: arrayStart(RANGE.lowerTick),
    tickArrayUpperStartIndex: arrayStart(RANGE.upperTick),
    liquidity,
    amount0Max: amounts[0],
    amount1Max: amounts[1],
    withMetadata: false,
    baseFlag: null
  })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: OpenPositionWithToken22Nft')
    mintPositionNft(call, position, pool.address)
    payIn(call, pool, position, amounts, world)
    logChange(call, pool, liquidity, amounts, [0n, 0n])
    call.logData(
      createPersonalPositionEvent.write({
        poolState: pool.address,
        minter: owner,
        nftOwner: owner,
        tickLowerIndex: RANGE.lowerTick,
        tickUpperIndex: RANGE.upperTick,
        liquidity,
        depositAmount0: amounts[0],
        depositAmount1: amounts[1],
        depositAmount0TransferFee: 0n,
        depositAmount1TransferFee: 0n
      })
    )
    writePosition(call, pool, position)
    writeState(call, pool, ledger)
  })
}

export function increasePosition(
  script: Caller,
  pool: ClmmPool,
  position: ClmmPosition,
  liquidity: bigint,
  world: VenueWorld
): void {
  const { ledger } = world
  const { owner, nftMint } = position
  const amounts = grow(pool, position, liquidity)
  const accounts = [
    signs(owner),
    reads(position.nftAccount),
    writes(pool.address),
    writes(pool.protocolPosition),
    writes(position.address),
    writes(pool.tickArrays[0]),
    writes(pool.tickArrays[2]),
    ...userAccounts(pool, owner, ledger).map(writes),
    ...pool.vaults.map(writes),
    reads(TOKEN),
    reads(TOKEN_2022),
    ...pool.mints.map(reads)
  ]
  const [amount0, amount1] = amounts
  const data = increaseLiquidityV2.write({ liquidity, amount0Max: amount0, amount1Max: amount1 })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: IncreaseLiquidityV2')
    payIn(call, pool, position, amounts, world)
    logChange(call, pool, liquidity, amounts, [0n, 0n])
    const fees = { amount0TransferFee: 0n, amount1TransferFee: 0n }
    call.logData(
      increaseLiquidityEvent.write({ positionNftMint: nftMint, liquidity, amount0, amount1, ...fees })
    )
    writePosition(call, pool, position)
    writeState(call, pool, ledger)
  })
}

/** Takes liquidity out; the fees that the position earned leave in the same transfers. */
export function decreasePosition(
  script: Caller,
  pool: ClmmPool,
  position: ClmmPosition,
  liquidity: bigint,
  { ledger }: VenueWorld
): void {
  const { owner, nftMint } = position
  const amounts = liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, 'down')
  settleFees(pool, position)
  const fees = position.owed
  position.owed = [0n, 0n]
  position.liquidity -= liquidity
  pool.liquidity -= liquidity
  pool.lpFees = [pool.lpFees[0] - fees[0], pool.lpFees[1] - fees[1]]
  if (position.liquidity === 0n) pool.positions = pool.positions.filter((each) => each !== position)
  const accounts = [
    signs(owner),
    reads(position.nftAccount),
    writes(position.address),
    writes(pool.address),
    writes(pool.protocolPosition),
    ...pool.vaults.map(writes),
    writes(pool.tickArrays[0]),
    writes(pool.tickArrays[2]),
    ...userAccounts(pool, owner, ledger).map(writes),
    reads(TOKEN),
    reads(TOKEN_2022),
    reads(MEMO),
    ...pool.mints.map(reads)
  ]
  const data = decreaseLiquidityV2.write({ liquidity, amount0Min: 0n, amount1Min: 0n })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: DecreaseLiquidityV2')
    const transfers = new PoolTransfers(call, pool, ledger)
    for (const side of [0, 1] as const) {
      transfers.payOut(side, owner, pool.address, amounts[side] + fees[side])
    }
    logChange(call, pool, -liquidity, amounts, fees)
    call.logData(
      decreaseLiquidityEvent.write({
        positionNftMint: nftMint,
        liquidity,
        decreaseAmount0: amounts[0],
        decreaseAmount1: amounts[1],
        feeAmount0: fees[0],
        feeAmount1: fees[1],
        rewardAmounts: [0n, 0n, 0n],
        transferFee0: 0n,
        transferFee1: 0n
      })
    )
    writePosition(call, pool, position)
    writeState(call, pool, ledger)
  })
}

/** Adds liquidity to a position; returns what it costs. */
function grow(pool: ClmmPool, position: ClmmPosition, liquidity: bigint): Pair {
  settleFees(pool, position)
  position.liquidity += liquidity
  pool.liquidity += liquidity
  return liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, 'up')
}

function settleFees(pool: ClmmPool, position: ClmmPosition): void {
  const earned = (side: 0 | 1): bigint =>
    position.owed[side] + (((pool.growth[side] - position.growth[side]) * position.liquidity) >> 64n)
  position.owed = [earned(0), earned(1)]
  position.growth = pool.growth
}

function payIn(
  call: CallScript,
  pool: ClmmPool,
  { owner }: ClmmPosition,
  amounts: Pair,
  { ledger }: VenueWorld
): void {
  const transfers = new PoolTransfers(call, pool, ledger)
  transfers.payIn(0, owner, amounts[0])
  transfers.payIn(1, owner, amounts[1])
}

function logChange(call: CallScript, pool: ClmmPool, change: bigint, amounts: Pair, fees: Pair): void {
  const tick = tickAtSqrtPrice(pool.sqrtPrice)
  call.logData(
    liquidityChangeEvent.write({
      poolState: pool.address,
      tick,
      tickLower: RANGE.lowerTick,
      tickUpper: RANGE.upperTick,
      liquidityBefore: pool.liquidity - change,
      liquidityAfter: pool.liquidity
    })
  )
  call.logData(
    liquidityCalculateEvent.write({
      poolLiquidity: pool.liquidity,
      poolSqrtPriceX64: pool.sqrtPrice,
      poolTick: tick,
      calcAmount0: amounts[0],
      calcAmount1: amounts[1],
      tradeFeeOwed0: fees[0],
      tradeFeeOwed1: fees[1],
      transferFee0: 0n,
      transferFee1: 0n
    })
  )
}

function arrayStart(tick: number): number {
  return Math.floor(tick / TICKS_OF_ARRAY) * TICKS_OF_ARRAY
}

function writePosition(call: CallScript, pool: ClmmPool, position: ClmmPosition): void {
  const state = new AccountBytes(281, '466f967ee60f1975')
    .u8(8, 255)
    .key(9, position.nftMint)
    .key(41, pool.address)
    .i32(73, RANGE.lowerTick)
    .i32(77, RANGE.upperTick)
    .u128(81, position.liquidity)
  call.write(position.address, state.bytes)
}
