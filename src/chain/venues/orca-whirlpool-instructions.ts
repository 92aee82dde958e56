import { bool, i32, option, u128, u16, u64, u8 } from '../codec.ts'
import { instruction } from '../layout.ts'
import { REMAINING } from './orca-whirlpool-structs.ts'
import { WHIRLPOOL_UPKEEP } from './orca-whirlpool-upkeep.ts'

// Source: the program's published interface, version 0.9.0.

const SWAP_ARGS = {
  amount: u64,
  otherAmountThreshold: u64,
  sqrtPriceLimit: u128,
  amountSpecifiedIsInput: bool,
  aToB: bool
}
const TWO_HOP_ARGS = {
  amount: u64,
  otherAmountThreshold: u64,
  amountSpecifiedIsInput: bool,
  aToBOne: bool,
  aToBTwo: bool,
  sqrtPriceLimitOne: u128,
  sqrtPriceLimitTwo: u128
}

export const swap = instruction('swap', 'f8c69e91e17587c8', SWAP_ARGS, {
  tokenAuthority: 1,
  whirlpool: 2,
  tokenOwnerAccountA: 3,
  tokenVaultA: 4,
  tokenOwnerAccountB: 5,
  tokenVaultB: 6
})

export const swapV2 = instruction(
  'swapV2',
  '2b04ed0b1ac91e62',
  { ...SWAP_ARGS, remainingAccountsInfo: REMAINING },
  {
    tokenAuthority: 3,
    whirlpool: 4,
    tokenMintA: 5,
    tokenMintB: 6,
    tokenOwnerAccountA: 7,
    tokenVaultA: 8,
    tokenOwnerAccountB: 9,
    tokenVaultB: 10
  }
)

export const twoHopSwap = instruction('twoHopSwap', 'c360ed6c44a2dbe6', TWO_HOP_ARGS, {
  tokenAuthority: 1,
  whirlpoolOne: 2,
  whirlpoolTwo: 3,
  tokenOwnerAccountOneA: 4,
  tokenVaultOneA: 5,
  tokenOwnerAccountOneB: 6,
  tokenVaultOneB: 7,
  tokenOwnerAccountTwoA: 8,
  tokenVaultTwoA: 9,
  tokenOwnerAccountTwoB: 10,
  tokenVaultTwoB: 11
})

export const twoHopSwapV2 = instruction(
  'twoHopSwapV2',
  'ba8fd11dfe02c275',
  { ...TWO_HOP_ARGS, remainingAccountsInfo: REMAINING },
  {
    whirlpoolOne: 0,
    whirlpoolTwo: 1,
    tokenMintInput: 2,
    tokenMintIntermediate: 3,
    tokenMintOutput: 4,
    tokenOwnerAccountInput: 8,
    tokenVaultOneInput: 9,
    tokenVaultOneIntermediate: 10,
    tokenVaultTwoIntermediate: 11,
    tokenVaultTwoOutput: 12,
    tokenOwnerAccountOutput: 13,
    tokenAuthority: 14
  }
)

const LIQUIDITY = {
  whirlpool: 0,
  positionAuthority: 2,
  position: 3,
  tokenOwnerAccountA: 5,
  tokenOwnerAccountB: 6,
  tokenVaultA: 7,
  tokenVaultB: 8
}
const LIQUIDITY_V2 = {
  whirlpool: 0,
  positionAuthority: 4,
  position: 5,
  tokenMintA: 7,
  tokenMintB: 8,
  tokenOwnerAccountA: 9,
  tokenOwnerAccountB: 10,
  tokenVaultA: 11,
  tokenVaultB: 12
}
const INCREASE_ARGS = { liquidityAmount: u128, tokenMaxA: u64, tokenMaxB: u64 }
const DECREASE_ARGS = { liquidityAmount: u128, tokenMinA: u64, tokenMinB: u64 }

export const increaseLiquidity = instruction(
  'increaseLiquidity',
  '2e9cf3760dcdfbb2',
  INCREASE_ARGS,
  LIQUIDITY
)
export const increaseLiquidityV2 = instruction(
  'increaseLiquidityV2',
  '851d59df45eeb00a',
  { ...INCREASE_ARGS, remainingAccountsInfo: REMAINING },
  LIQUIDITY_V2
)
export const increaseLiquidityByTokenAmountsV2 = instruction(
  'increaseLiquidityByTokenAmountsV2',
  'effb097cd2c6352b',
  {
    method: u8,
    tokenMaxA: u64,
    tokenMaxB: u64,
    minSqrtPrice: u128,
    maxSqrtPrice: u128,
    remainingAccountsInfo: REMAINING
  },
  LIQUIDITY_V2
)
export const decreaseLiquidity = instruction(
  'decreaseLiquidity',
  'a026d06f685b2c01',
  DECREASE_ARGS,
  LIQUIDITY
)
export const decreaseLiquidityV2 = instruction(
  'decreaseLiquidityV2',
  '3a7fbc3e4f52c460',
  { ...DECREASE_ARGS, remainingAccountsInfo: REMAINING },
  LIQUIDITY_V2
)
export const repositionLiquidityV2 = instruction(
  'repositionLiquidityV2',
  'bfa9e00b83139efd',
  {
    newTickLowerIndex: i32,
    newTickUpperIndex: i32,
    method: u8,
    newLiquidityAmount: u128,
    existingRangeTokenMinA: u64,
    existingRangeTokenMinB: u64,
    newRangeTokenMaxA: u64,
    newRangeTokenMaxB: u64,
    remainingAccountsInfo: REMAINING
  },
  {
    whirlpool: 0,
    positionAuthority: 4,
    position: 6,
    tokenMintA: 8,
    tokenMintB: 9,
    tokenOwnerAccountA: 10,
    tokenOwnerAccountB: 11,
    tokenVaultA: 12,
    tokenVaultB: 13
  }
)

export const initializePool = instruction(
  'initializePool',
  '5fb40aac54aee828',
  { whirlpoolBump: u8, tickSpacing: u16, initialSqrtPrice: u128 },
  { tokenMintA: 1, tokenMintB: 2, funder: 3, whirlpool: 4, tokenVaultA: 5, tokenVaultB: 6 }
)
export const initializePoolV2 = instruction(
  'initializePoolV2',
  'cf2d57f21b3fcc43',
  { tickSpacing: u16, initialSqrtPrice: u128 },
  { tokenMintA: 1, tokenMintB: 2, funder: 5, whirlpool: 6, tokenVaultA: 7, tokenVaultB: 8 }
)
export const initializePoolWithAdaptiveFee = instruction(
  'initializePoolWithAdaptiveFee',
  '8f5e604cac7c77c7',
  { initialSqrtPrice: u128, tradeEnableTimestamp: option(u64) },
  { tokenMintA: 1, tokenMintB: 2, funder: 5, whirlpool: 7, tokenVaultA: 9, tokenVaultB: 10 }
)

export const INSTRUCTIONS = [
  swap,
  swapV2,
  twoHopSwap,
  twoHopSwapV2,
  increaseLiquidity,
  increaseLiquidityV2,
  increaseLiquidityByTokenAmountsV2,
  decreaseLiquidity,
  decreaseLiquidityV2,
  repositionLiquidityV2,
  initializePool,
  initializePoolV2,
  initializePoolWithAdaptiveFee,
  ...WHIRLPOOL_UPKEEP
]
