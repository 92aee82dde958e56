import { bool, i32, option, pubkey, struct, u128, u16, u32, u64, u8, vec, type Fields } from '../codec.ts'
import { instruction, layout } from '../layout.ts'

// Source: the program's published interface, version 0.9.0.

const REMAINING = option(struct({ slices: vec(struct({ accountsType: u8, length: u8 })) }))

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

const ADAPTIVE_FEE = {
  filterPeriod: u16,
  decayPeriod: u16,
  reductionFactor: u16,
  adaptiveFeeControlFactor: u32,
  maxVolatilityAccumulator: u32,
  tickGroupSize: u16,
  majorSwapThresholdTicks: u16
}
const TICK_RANGE = { tickLowerIndex: i32, tickUpperIndex: i32 }
const NEW_TICK_RANGE = { newTickLowerIndex: i32, newTickUpperIndex: i32 }
const REWARD_EMISSIONS = { rewardIndex: u8, emissionsPerSecondX64: u128 }

/** Instructions that neither trade nor move liquidity. */
const OTHERS: readonly (readonly [name: string, discriminator: string, args?: Fields])[] = [
  // Used once, in December 2022: it corrected the recorded liquidity of pools without moving tokens. No published
  // interface has it.
  ['adminIncreaseLiquidity', 'e581999d996a61a0', { liquidity: u128 }],
  ['closeBundledPosition', '2924d8f51b556743', { bundleIndex: u16 }],
  ['closePosition', '7b86510031446262'],
  ['closePositionWithTokenExtensions', '01b6873b9b1963df'],
  ['collectFees', 'a498cf631eba13b6'],
  ['collectFeesV2', 'cf755fbfe5b4e20f', { remainingAccountsInfo: REMAINING }],
  ['collectProtocolFees', '1643176296b246dc'],
  ['collectProtocolFeesV2', '6780de8672c816c8', { remainingAccountsInfo: REMAINING }],
  ['collectReward', '4605845756ebb122', { rewardIndex: u8 }],
  ['collectRewardV2', 'b16b25b4a01331d1', { rewardIndex: u8, remainingAccountsInfo: REMAINING }],
  ['deletePositionBundle', '64196302d9ef7cad'],
  ['deleteTokenBadge', '35924408127511b9'],
  ['idlInclude', 'dffd79793cc1811f'],
  [
    'initializeAdaptiveFeeTier',
    '4d63d0c88d7b7530',
    {
      feeTierIndex: u16,
      tickSpacing: u16,
      initializePoolAuthority: pubkey,
      delegatedFeeAuthority: pubkey,
      defaultBaseFeeRate: u16,
      ...ADAPTIVE_FEE
    }
  ],
  [
    'initializeConfig',
    'd07f1501c2bec446',
    {
      feeAuthority: pubkey,
      collectProtocolFeesAuthority: pubkey,
      rewardEmissionsSuperAuthority: pubkey,
      defaultProtocolFeeRate: u16
    }
  ],
  ['initializeConfigExtension', '370935097239d134'],
  ['initializeDynamicTickArray', '2921a5c878e78e32', { startTickIndex: i32, idempotent: bool }],
  ['initializeFeeTier', 'b74a9ca070022a1e', { tickSpacing: u16, defaultFeeRate: u16 }],
  ['initializePositionBundle', '752df1951812c241'],
  ['initializePositionBundleWithMetadata', '5d7c10b3f98373f5'],
  ['initializeReward', '5f87c0c4f281e644', { rewardIndex: u8 }],
  ['initializeRewardV2', '5b014d32ebe58531', { rewardIndex: u8 }],
  ['initializeTickArray', '0bbcc1d68d5b95b8', { startTickIndex: i32 }],
  ['initializeTokenBadge', 'fd4dcd5f1be059df'],
  ['lockPosition', 'e33e02fcf70aabb9', { lockType: u8 }],
  ['migrateRepurposeRewardAuthoritySpace', 'd6a1f84f9862ace7'],
  ['openBundledPosition', 'a9717eabd5acd431', { bundleIndex: u16, ...TICK_RANGE }],
  ['openPosition', '87802f4d0f98f031', { positionBump: u8, ...TICK_RANGE }],
  ['openPositionWithMetadata', 'f21d86303a6e0e3c', { positionBump: u8, metadataBump: u8, ...TICK_RANGE }],
  [
    'openPositionWithTokenExtensions',
    'd42f5f5c726683fa',
    { ...TICK_RANGE, withTokenMetadataExtension: bool }
  ],
  ['resetPositionRange', 'a47bb48dc264a0af', NEW_TICK_RANGE],
  [
    'setAdaptiveFeeConstants',
    '859ed4bded0c4927',
    Object.fromEntries(Object.entries(ADAPTIVE_FEE).map(([name, codec]) => [name, option<unknown>(codec)]))
  ],
  ['setCollectProtocolFeesAuthority', '22965df48be1e943'],
  ['setConfigExtensionAuthority', '2c5ef17418bc3c8f'],
  ['setConfigFeatureFlag', '47ade41243f7d239', { featureFlag: u8, enabled: bool }],
  ['setDefaultBaseFeeRate', 'e54254fba486b707', { defaultBaseFeeRate: u16 }],
  ['setDefaultFeeRate', '76d7d69db6e5d0e4', { defaultFeeRate: u16 }],
  ['setDefaultProtocolFeeRate', '6bcdf9e297235600', { defaultProtocolFeeRate: u16 }],
  ['setDelegatedFeeAuthority', 'c1eae7938a39037a'],
  ['setFeeAuthority', '1f013257ed656184'],
  ['setFeeRate', '35f38941088c9e06', { feeRate: u16 }],
  ['setFeeRateByDelegatedFeeAuthority', '7979367283e6a268', { feeRate: u16 }],
  ['setInitializePoolAuthority', '7d2b7feb951a6aec'],
  ['setPresetAdaptiveFeeConstants', '84b94294535886c6', ADAPTIVE_FEE],
  ['setProtocolFeeRate', '5f0704329a4f9c83', { protocolFeeRate: u16 }],
  ['setRewardAuthority', '2227b7fc531c557f', { rewardIndex: u8 }],
  ['setRewardAuthorityBySuperAuthority', 'f09ac9c6945d3819', { rewardIndex: u8 }],
  ['setRewardEmissions', '0dc556a86db01bf4', REWARD_EMISSIONS],
  ['setRewardEmissionsSuperAuthority', 'cf05c8d17a3852b7'],
  ['setRewardEmissionsV2', '72e44820c130a066', REWARD_EMISSIONS],
  ['setTokenBadgeAttribute', 'e05841218a93f689', { attribute: u8, required: bool }],
  ['setTokenBadgeAuthority', 'cfca0420cd4f0db2'],
  ['transferLockedPosition', 'b379e52e438ac28a'],
  ['updateFeesAndRewards', '9ae6fa0decd14bdf']
]

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
  ...OTHERS.map(([name, discriminator, args]) => instruction(name, discriminator, args ?? {}, {}))
]

// The program logs events since February 2025.

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
  ...TICK_RANGE
})

export const EVENTS = [
  traded,
  poolInitialized,
  liquidityIncreased,
  liquidityDecreased,
  liquidityRepositioned,
  positionOpened
]
