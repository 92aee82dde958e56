import { i32, option, u16, u64, u8, vec } from '../codec.ts'
import { LayoutTable, instruction } from '../layout.ts'
import {
  unused,
  remainingAccountsInfo,
  liquidityParameter,
  liquidityParameterByStrategy,
  liquidityParameterByStrategyOneSide,
  liquidityParameterByWeight,
  liquidityOneSideParameter,
  addLiquiditySingleSidePreciseParameter,
  addLiquiditySingleSidePreciseParameter2,
  binLiquidityReduction,
  rebalanceLiquidityParams,
  customizableParams
} from './meteora-dlmm-structs.ts'
import { DLMM_UPKEEP } from './meteora-dlmm-upkeep.ts'

// Source: IDL 0.12.0 of @meteora-ag/dlmm 1.9.14; older forms from the IDLs 0.5.0, 0.8.6 and 0.9.1 of its releases.
// Amounts in arguments are limits or targets, never the exchanged amounts.

const SWAP = {
  lbPair: 0,
  reserveX: 2,
  reserveY: 3,
  userTokenIn: 4,
  userTokenOut: 5,
  tokenXMint: 6,
  tokenYMint: 7,
  hostFeeIn: 9,
  user: 10
}

export const EXACT_IN_SWAPS = [
  instruction('swap', 'f8c69e91e17587c8', { amountIn: u64, minAmountOut: u64 }, SWAP),
  instruction('swap2', '414b3f4ceb5b5b88', { amountIn: u64, minAmountOut: u64, remainingAccountsInfo }, SWAP),
  instruction(
    'swapWithPriceImpact',
    '38ade6d0ade49ccd',
    { amountIn: u64, activeId: option(i32), maxPriceImpactBps: u16 },
    SWAP
  ),
  instruction(
    'swapWithPriceImpact2',
    '4a62c0d6b1334b33',
    { amountIn: u64, activeId: option(i32), maxPriceImpactBps: u16, remainingAccountsInfo },
    SWAP
  )
] as const

export const EXACT_OUT_SWAPS = [
  instruction('swapExactOut', 'fa49652126cf4bb8', { maxInAmount: u64, outAmount: u64 }, SWAP),
  instruction(
    'swapExactOut2',
    '2bd7f784893cf351',
    { maxInAmount: u64, outAmount: u64, remainingAccountsInfo },
    SWAP
  )
] as const

const TWO_SIDED = {
  position: 0,
  lbPair: 1,
  reserveX: 5,
  reserveY: 6,
  tokenXMint: 7,
  tokenYMint: 8,
  sender: 11
}
/** The second versions list their bin arrays last. */
const TWO_SIDED_2 = { ...TWO_SIDED, sender: 9 }
const ONE_SIDED = { position: 0, lbPair: 1, userToken: 3, reserve: 4, tokenMint: 5, sender: 8 }

export const ADDS = [
  instruction('addLiquidity', 'b59d59438fb63448', { liquidityParameter }, TWO_SIDED),
  instruction(
    'addLiquidityByStrategy',
    '0703967f94283dc8',
    { liquidityParameter: liquidityParameterByStrategy },
    TWO_SIDED
  ),
  instruction(
    'addLiquidityByWeight',
    '1c8cee63e7a21595',
    { liquidityParameter: liquidityParameterByWeight },
    TWO_SIDED
  ),
  instruction(
    'addLiquidity2',
    'e4a24e1c46db7473',
    { liquidityParameter, remainingAccountsInfo },
    TWO_SIDED_2
  ),
  instruction(
    'addLiquidityByStrategy2',
    '03dd95da6f8d76d5',
    { liquidityParameter: liquidityParameterByStrategy, remainingAccountsInfo },
    TWO_SIDED_2
  ),
  instruction(
    'addLiquidityByWeight2',
    'd13b3f5b6fc899e4',
    { liquidityParameter: liquidityParameterByWeight, remainingAccountsInfo },
    TWO_SIDED_2
  )
] as const

export const REMOVES = [
  instruction(
    'removeLiquidity',
    '5055d14818ceb16c',
    { binLiquidityRemoval: vec(binLiquidityReduction) },
    TWO_SIDED
  ),
  instruction(
    'removeLiquidityByRange',
    '1a526698f04a691a',
    { fromBinId: i32, toBinId: i32, bpsToRemove: u16 },
    TWO_SIDED
  ),
  instruction('removeAllLiquidity', '0a333d2370691855', {}, TWO_SIDED),
  instruction(
    'removeLiquidity2',
    'e6d7527ff165e392',
    { binLiquidityRemoval: vec(binLiquidityReduction), remainingAccountsInfo },
    TWO_SIDED_2
  ),
  instruction(
    'removeLiquidityByRange2',
    'cc02c391359191cd',
    { fromBinId: i32, toBinId: i32, bpsToRemove: u16, remainingAccountsInfo },
    TWO_SIDED_2
  )
] as const

export const ONE_SIDED_ADDS = [
  instruction(
    'addLiquidityByStrategyOneSide',
    '2905eeaf64e106cd',
    { liquidityParameter: liquidityParameterByStrategyOneSide },
    ONE_SIDED
  ),
  instruction(
    'addLiquidityOneSide',
    '5e9b6797465fdca5',
    { liquidityParameter: liquidityOneSideParameter },
    ONE_SIDED
  ),
  instruction(
    'addLiquidityOneSidePrecise',
    'a1c26754ab47fa9a',
    { parameter: addLiquiditySingleSidePreciseParameter },
    ONE_SIDED
  ),
  instruction(
    'addLiquidityOneSidePrecise2',
    '2133a3c975627de7',
    { liquidityParameter: addLiquiditySingleSidePreciseParameter2, remainingAccountsInfo },
    { ...ONE_SIDED, sender: 6 }
  )
] as const

export const rebalanceLiquidity = instruction(
  'rebalanceLiquidity',
  '5c04b0c177b95309',
  { params: rebalanceLiquidityParams, remainingAccountsInfo },
  TWO_SIDED_2
)

const PAIR = { lbPair: 0, tokenXMint: 2, tokenYMint: 3, reserveX: 4, reserveY: 5, funder: 8 }

/** Creations that state the base fee of the pair. */
export const CUSTOMIZABLE_PAIRS = [
  instruction(
    'initializeCustomizablePermissionlessLbPair',
    '2e2729876fb7c840',
    { params: customizableParams },
    PAIR
  ),
  instruction(
    'initializeCustomizablePermissionlessLbPair2',
    'f349817e3313f16b',
    { params: customizableParams },
    PAIR
  )
] as const

/** Creations whose fee is stored in an account, or whose arguments changed their meaning between versions. */
export const OTHER_PAIRS = [
  instruction('initializeLbPair', '2d9aedd2dd0fa65c', { activeId: i32, binStep: u16 }, PAIR),
  instruction('initializeLbPair2', '493b2478ed536cc6', { activeId: i32, padding: unused }, PAIR),
  instruction(
    'initializePermissionLbPair',
    '6c66d555fb033515',
    { activeId: i32, binStep: u16 },
    { lbPair: 1, tokenXMint: 3, tokenYMint: 4, reserveX: 5, reserveY: 6, funder: 8 },
    { baseFactor: u16, baseFeePowerFactor: u8, activationType: u8, protocolShare: u16 },
    { concreteFunctionType: u8, collectFeeMode: u8 }
  )
] as const

export const METEORA_DLMM_INSTRUCTIONS = new LayoutTable([
  ...EXACT_IN_SWAPS,
  ...EXACT_OUT_SWAPS,
  ...ADDS,
  ...REMOVES,
  ...ONE_SIDED_ADDS,
  rebalanceLiquidity,
  ...CUSTOMIZABLE_PAIRS,
  ...OTHER_PAIRS,
  ...DLMM_UPKEEP
])
