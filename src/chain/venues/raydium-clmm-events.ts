import { array, bool, i32, pubkey, u128, u16, u64 } from '../codec.ts'
import { layout } from '../layout.ts'

// Source: raydium-io/raydium-clmm, program source; raydium-io/raydium-idl. Events are in the log.

/** Amounts are net of transfer fees on both sides; trade fees were appended in 2026. */
export const swapEvent = layout(
  'SwapEvent',
  '40c6cde8260871e2',
  {
    poolState: pubkey,
    sender: pubkey,
    tokenAccount0: pubkey,
    tokenAccount1: pubkey,
    amount0: u64,
    transferFee0: u64,
    amount1: u64,
    transferFee1: u64,
    zeroForOne: bool,
    sqrtPriceX64: u128,
    liquidity: u128,
    tick: i32
  },
  { tradeFee0: u64, tradeFee1: u64 }
)
export type SwapStated = NonNullable<ReturnType<typeof swapEvent.read>>['value']

export const createPersonalPositionEvent = layout('CreatePersonalPositionEvent', '641e57f9c4df9ace', {
  poolState: pubkey,
  minter: pubkey,
  nftOwner: pubkey,
  tickLowerIndex: i32,
  tickUpperIndex: i32,
  liquidity: u128,
  depositAmount0: u64,
  depositAmount1: u64,
  depositAmount0TransferFee: u64,
  depositAmount1TransferFee: u64
})

export const increaseLiquidityEvent = layout('IncreaseLiquidityEvent', '314f69d420221e54', {
  positionNftMint: pubkey,
  liquidity: u128,
  amount0: u64,
  amount1: u64,
  amount0TransferFee: u64,
  amount1TransferFee: u64
})

/** The amounts leave the pool for the liquidity; the owed fees leave in the same transfers. */
export const decreaseLiquidityEvent = layout('DecreaseLiquidityEvent', '3ade563a44325538', {
  positionNftMint: pubkey,
  liquidity: u128,
  decreaseAmount0: u64,
  decreaseAmount1: u64,
  feeAmount0: u64,
  feeAmount1: u64,
  rewardAmounts: array(u64, 3),
  transferFee0: u64,
  transferFee1: u64
})

const ORDER = { poolId: pubkey, limitOrder: pubkey, zeroForOne: bool, tickIndex: i32, totalAmount: u64 }

export const OTHER_EVENTS = [
  layout('PoolCreatedEvent', '195e4b2f7063353f', {
    tokenMint0: pubkey,
    tokenMint1: pubkey,
    tickSpacing: u16,
    poolState: pubkey,
    sqrtPriceX64: u128,
    tick: i32,
    tokenVault0: pubkey,
    tokenVault1: pubkey
  }),
  layout('LiquidityChangeEvent', '7ef0afce9e58996b', {
    poolState: pubkey,
    tick: i32,
    tickLower: i32,
    tickUpper: i32,
    liquidityBefore: u128,
    liquidityAfter: u128
  }),
  layout('LiquidityCalculateEvent', 'ed7094e63954b4a2', {
    poolLiquidity: u128,
    poolSqrtPriceX64: u128,
    poolTick: i32,
    calcAmount0: u64,
    calcAmount1: u64,
    tradeFeeOwed0: u64,
    tradeFeeOwed1: u64,
    transferFee0: u64,
    transferFee1: u64
  }),
  layout('ConfigChangeEvent', 'f7bd07776a705f97', {}),
  layout('CollectPersonalFeeEvent', 'a6ae69c051a15369', {}),
  layout('CollectProtocolFeeEvent', 'ce57114f2d29d53d', {}),
  layout('UpdateRewardInfosEvent', '6d7fba4e724125ec', {}),
  layout('OpenLimitOrderEvent', '6a18475539a99ed8', { ...ORDER, transferFee: u64 }),
  layout('IncreaseLimitOrderEvent', '0b780dccc75713c8', { ...ORDER, increasedAmount: u64, transferFee: u64 }),
  layout('DecreaseLimitOrderEvent', '463028dddbedd4a3', {}),
  layout('SettleLimitOrderEvent', '58774da47d7c0ac2', { ...ORDER, filledAmount: u64, settledAmountOut: u64 })
] as const
