import { bool, i32, pubkey, u128, u16, u64, u8 } from '../codec.ts'
import { layout } from '../layout.ts'

// Source: the program's published interface, version 0.9.0. The program logs events since February 2025.

export const traded = layout('Traded', 'e1ca49af932ba096', {
  whirlpool: pubkey,
  aToB: bool,
  preSqrtPrice: u128,
  postSqrtPrice: u128,
  inputAmount: u64,
  outputAmount: u64,
  inputTransferFee: u64,
  outputTransferFee: u64,
  lpFee: u64,
  protocolFee: u64
})

export const poolInitialized = layout('PoolInitialized', '6476ad570cc6fee5', {
  whirlpool: pubkey,
  whirlpoolsConfig: pubkey,
  tokenMintA: pubkey,
  tokenMintB: pubkey,
  tickSpacing: u16,
  tokenProgramA: pubkey,
  tokenProgramB: pubkey,
  decimalsA: u8,
  decimalsB: u8,
  initialSqrtPrice: u128
})

const LIQUIDITY_CHANGED = {
  whirlpool: pubkey,
  position: pubkey,
  tickLowerIndex: i32,
  tickUpperIndex: i32,
  liquidity: u128,
  tokenAAmount: u64,
  tokenBAmount: u64,
  tokenATransferFee: u64,
  tokenBTransferFee: u64
}
export const liquidityIncreased = layout('LiquidityIncreased', '1e0790b566fe9ba1', LIQUIDITY_CHANGED)
export const liquidityDecreased = layout('LiquidityDecreased', 'a601244770cab5ab', LIQUIDITY_CHANGED)

export const liquidityRepositioned = layout('LiquidityRepositioned', '5f82b584fb32c326', {
  whirlpool: pubkey,
  position: pubkey,
  existingRangeTickLowerIndex: i32,
  existingRangeTickUpperIndex: i32,
  newRangeTickLowerIndex: i32,
  newRangeTickUpperIndex: i32,
  existingRangeLiquidity: u128,
  newRangeLiquidity: u128,
  existingRangeTokenAAmount: u64,
  existingRangeTokenBAmount: u64,
  newRangeTokenAAmount: u64,
  newRangeTokenBAmount: u64,
  tokenATransferAmount: u64,
  tokenATransferFee: u64,
  isTokenATransferFromOwner: bool,
  tokenBTransferAmount: u64,
  tokenBTransferFee: u64,
  isTokenBTransferFromOwner: bool
})

export const positionOpened = layout('PositionOpened', 'edaff3e693756579', {
  whirlpool: pubkey,
  position: pubkey,
  tickLowerIndex: i32,
  tickUpperIndex: i32
})

export const EVENTS = [
  traded,
  poolInitialized,
  liquidityIncreased,
  liquidityDecreased,
  liquidityRepositioned,
  positionOpened
]
