import type { Pubkey } from '../../../chain/pubkey.ts'
import { liquidityWorth } from '../curves/concentrated.ts'
import { tickAtSqrtPrice } from '../curves/ticks.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { VenueWorld } from '../venue.ts'
import { moveBoth, type Caller, type Pair } from './pool-sides.ts'
import { addLiquidity, mintPositionNft, newPosition, positionAddresses } from './positions.ts'
import {
  clmm,
  RANGE,
  TICK_SPACING,
  writeState,
  type ClmmPool,
  type ClmmPosition
} from './raydium-clmm-pool.ts'
import { account } from './record.ts'

const openPositionWithToken22Nft = clmm.instruction(
  'OpenPositionWithToken22Nft',
  '4dffae527d1dc92e',
  `tickLowerIndex:i32 tickUpperIndex:i32 tickArrayLowerStartIndex:i32 tickArrayUpperStartIndex:i32
  liquidity:u128 amount0Max:u64 amount1Max:u64 withMetadata?:bool baseFlag?:option<bool>`,
  `owner! owner nftMint! nftAccount* pool* protocolPosition* edgeTicks* position* users* vaults* rent system
  token associatedToken token2022 mints`
)
const increaseLiquidityV2 = clmm.instruction(
  'IncreaseLiquidityV2',
  '851d59df45eeb00a',
  'liquidity:u128 amount0Max:u64 amount1Max:u64',
  'owner! nftAccount pool* protocolPosition* position* edgeTicks* users* vaults* token token2022 mints'
)
const decreaseLiquidityV2 = clmm.instruction(
  'DecreaseLiquidityV2',
  '3a7fbc3e4f52c460',
  'liquidity:u128 amount0Min?:u64 amount1Min?:u64',
  'owner! nftAccount position* pool* protocolPosition* vaults* edgeTicks* users* token token2022 memo mints'
)
const createPersonalPositionEvent = clmm.event(
  '641e57f9c4df9ace',
  `poolState:pubkey minter:pubkey nftOwner:pubkey tickLowerIndex:i32 tickUpperIndex:i32 liquidity:u128
  depositAmount0:u64 depositAmount1:u64 depositAmount0TransferFee?:u64 depositAmount1TransferFee?:u64`
)
const increaseLiquidityEvent = clmm.event(
  '314f69d420221e54',
  `positionNftMint:pubkey liquidity:u128 amount0:u64 amount1:u64 amount0TransferFee?:u64
  amount1TransferFee?:u64`
)
const decreaseLiquidityEvent = clmm.event(
  '3ade563a44325538',
  `positionNftMint:pubkey liquidity:u128 decreaseAmount0:u64 decreaseAmount1:u64 feeAmount0:u64
  feeAmount1:u64 rewardAmounts?:u64[3] transferFee0?:u64 transferFee1?:u64`
)
const liquidityChangeEvent = clmm.event(
  '7ef0afce9e58996b',
  'poolState:pubkey tick:i32 tickLower:i32 tickUpper:i32 liquidityBefore:u128 liquidityAfter:u128'
)
const liquidityCalculateEvent = clmm.event(
  'ed7094e63954b4a2',
  `poolLiquidity:u128 poolSqrtPriceX64:u128 poolTick:i32 calcAmount0:u64 calcAmount1:u64 tradeFeeOwed0:u64
  tradeFeeOwed1:u64 transferFee0?:u64 transferFee1?:u64`
)

const positionAccount = account(
  281,
  '466f967ee60f1975',
  `bump:u8@8 nftMint:pubkey@9 pool:pubkey@41 lowerTick:i32@73 upperTick:i32@77 liquidity:u128@81`
)

const TICKS_OF_ARRAY = 60 * TICK_SPACING

/** Opens a position over the full range, with its first liquidity. */
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
  const [amount0, amount1] = grow(pool, position, liquidity)
  const ticks = { tickLowerIndex: RANGE.lowerTick, tickUpperIndex: RANGE.upperTick }
  const args = {
    ...ticks,
    tickArrayLowerStartIndex: arrayStart(RANGE.lowerTick),
    tickArrayUpperStartIndex: arrayStart(RANGE.upperTick),
    liquidity,
    amount0Max: amount0,
    amount1Max: amount1
  }
  const addresses = addressesOf(pool, position, ledger)
  openPositionWithToken22Nft.call(script, addresses, args, (call) => {
    mintPositionNft(call, position, pool.address)
    moveBoth(call, addresses, 'in', owner, [amount0, amount1])
    logChange(call, pool, liquidity, [amount0, amount1], [0n, 0n])
    createPersonalPositionEvent.emit(call, {
      ...ticks,
      poolState: pool.address,
      minter: owner,
      nftOwner: owner,
      liquidity,
      depositAmount0: amount0,
      depositAmount1: amount1
    })
    writeBoth(call, pool, position, ledger)
  })
}

export function increasePosition(
  script: Caller,
  pool: ClmmPool,
  position: ClmmPosition,
  liquidity: bigint,
  { ledger }: VenueWorld
): void {
  const [amount0, amount1] = grow(pool, position, liquidity)
  const addresses = addressesOf(pool, position, ledger)
  const args = { liquidity, amount0Max: amount0, amount1Max: amount1 }
  increaseLiquidityV2.call(script, addresses, args, (call) => {
    moveBoth(call, addresses, 'in', position.owner, [amount0, amount1])
    logChange(call, pool, liquidity, [amount0, amount1], [0n, 0n])
    increaseLiquidityEvent.emit(call, { positionNftMint: position.nftMint, liquidity, amount0, amount1 })
    writeBoth(call, pool, position, ledger)
  })
}

/** Removes liquidity; the fees that the position earned leave in the same transfers. */
export function decreasePosition(
  script: Caller,
  pool: ClmmPool,
  position: ClmmPosition,
  liquidity: bigint,
  { ledger }: VenueWorld
): void {
  const [amount0, amount1] = liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, 'down')
  settleFees(pool, position)
  const fees = position.owed
  position.owed = [0n, 0n]
  addLiquidity(pool, position, -liquidity)
  pool.lpFees = [pool.lpFees[0] - fees[0], pool.lpFees[1] - fees[1]]
  const addresses = addressesOf(pool, position, ledger)
  decreaseLiquidityV2.call(script, addresses, { liquidity }, (call) => {
    moveBoth(call, addresses, 'out', pool.address, [amount0 + fees[0], amount1 + fees[1]])
    logChange(call, pool, -liquidity, [amount0, amount1], fees)
    decreaseLiquidityEvent.emit(call, {
      positionNftMint: position.nftMint,
      liquidity,
      decreaseAmount0: amount0,
      decreaseAmount1: amount1,
      feeAmount0: fees[0],
      feeAmount1: fees[1]
    })
    writeBoth(call, pool, position, ledger)
  })
}

function addressesOf(pool: ClmmPool, position: ClmmPosition, ledger: LedgerView) {
  const [lowest, , highest] = pool.tickArrays
  return { ...positionAddresses(pool, position, ledger), edgeTicks: [lowest, highest] }
}

/** Adds liquidity to a position; returns its cost. */
function grow(pool: ClmmPool, position: ClmmPosition, liquidity: bigint): Pair {
  settleFees(pool, position)
  addLiquidity(pool, position, liquidity)
  return liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, 'up')
}

function settleFees(pool: ClmmPool, position: ClmmPosition): void {
  const earned = (side: 0 | 1): bigint =>
    position.owed[side] + (((pool.growth[side] - position.growth[side]) * position.liquidity) >> 64n)
  position.owed = [earned(0), earned(1)]
  position.growth = pool.growth
}

function logChange(call: CallScript, pool: ClmmPool, change: bigint, amounts: Pair, fees: Pair): void {
  const { address, sqrtPrice, liquidity } = pool
  const tick = tickAtSqrtPrice(sqrtPrice)
  liquidityChangeEvent.emit(call, {
    poolState: address,
    tick,
    tickLower: RANGE.lowerTick,
    tickUpper: RANGE.upperTick,
    liquidityBefore: liquidity - change,
    liquidityAfter: liquidity
  })
  liquidityCalculateEvent.emit(call, {
    poolLiquidity: liquidity,
    poolSqrtPriceX64: sqrtPrice,
    poolTick: tick,
    calcAmount0: amounts[0],
    calcAmount1: amounts[1],
    tradeFeeOwed0: fees[0],
    tradeFeeOwed1: fees[1]
  })
}

function arrayStart(tick: number): number {
  return Math.floor(tick / TICKS_OF_ARRAY) * TICKS_OF_ARRAY
}

/** Writes the accounts of a position and of its pool. */
function writeBoth(call: CallScript, pool: ClmmPool, position: ClmmPosition, ledger: LedgerView): void {
  const stated = { ...position, ...RANGE, bump: 255, pool: pool.address }
  call.write(position.address, positionAccount(stated))
  writeState(call, pool, ledger)
}
