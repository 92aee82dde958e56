import { bool, i32, option, pubkey, u128, u16, u32, u64, u8, vec } from '../codec.ts'
import { instruction } from '../layout.ts'

// Source: raydium-io/raydium-clmm, program source; raydium-io/raydium-idl.

const SWAP_ARGS = { amount: u64, otherAmountThreshold: u64, sqrtPriceLimitX64: u128, isBaseInput: bool }
const SWAP_ACCOUNTS = {
  payer: 0,
  poolState: 2,
  inputTokenAccount: 3,
  outputTokenAccount: 4,
  inputVault: 5,
  outputVault: 6
}

export const swap = instruction('swap', 'f8c69e91e17587c8', SWAP_ARGS, SWAP_ACCOUNTS)
export const swapV2 = instruction('swapV2', '2b04ed0b1ac91e62', SWAP_ARGS, SWAP_ACCOUNTS)

/**
 * Takes these accounts, then for every hop: configuration, pool, output account, vaults, output mint, observation, tick
 * arrays.
 */
export const swapRouterBaseIn = instruction(
  'swapRouterBaseIn',
  '457d73daf5baf2c4',
  { amountIn: u64, amountOutMinimum: u64 },
  { payer: 0, inputTokenAccount: 1, inputTokenMint: 2, firstHop: 6 }
)
/** Positions of a hop's accounts, relative to its pool. */
export const HOP = { poolState: 0, outputTokenAccount: 1, inputVault: 2, outputVault: 3, outputVaultMint: 4 }

const POOL_ACCOUNTS = {
  poolCreator: 0,
  ammConfig: 1,
  poolState: 2,
  tokenMint0: 3,
  tokenMint1: 4,
  tokenVault0: 5,
  tokenVault1: 6
}

export const createPool = instruction(
  'createPool',
  'e992d18ecf6840bc',
  { sqrtPriceX64: u128, openTime: u64 },
  POOL_ACCOUNTS
)
export const createCustomizablePool = instruction(
  'createCustomizablePool',
  '2b44d4a7592fa401',
  { sqrtPriceX64: u128 },
  POOL_ACCOUNTS
)
export const createPermissionedPool = instruction(
  'createPermissionedPool',
  '24f3b3232aef35e5',
  { sqrtPriceX64: u128 },
  {
    poolCreator: 1,
    ammConfig: 3,
    poolState: 4,
    tokenMint0: 5,
    tokenMint1: 6,
    tokenVault0: 7,
    tokenVault1: 8
  }
)

const RANGE_ARGS = {
  tickLowerIndex: i32,
  tickUpperIndex: i32,
  tickArrayLowerStartIndex: i32,
  tickArrayUpperStartIndex: i32,
  liquidity: u128,
  amount0Max: u64,
  amount1Max: u64
}
const WITH_METADATA = { withMetadata: bool, baseFlag: option(bool) }
const OPENED = { owner: 0, poolState: 5, personalPosition: 9, tokenVault0: 12, tokenVault1: 13 }

export const openPosition = instruction('openPosition', '87802f4d0f98f031', RANGE_ARGS, OPENED)
export const openPositionV2 = instruction(
  'openPositionV2',
  '4db84ad67056f1c7',
  RANGE_ARGS,
  OPENED,
  WITH_METADATA
)
/** Has the account list of the other openings without the metadata account. */
export const openPositionWithToken22Nft = instruction(
  'openPositionWithToken22Nft',
  '4dffae527d1dc92e',
  { ...RANGE_ARGS, ...WITH_METADATA },
  { owner: 0, poolState: 4, personalPosition: 8, tokenVault0: 11, tokenVault1: 12 }
)

const INCREASE_ARGS = { liquidity: u128, amount0Max: u64, amount1Max: u64 }
const INCREASED = { owner: 0, poolState: 2, personalPosition: 4, tokenVault0: 9, tokenVault1: 10 }

export const increaseLiquidity = instruction(
  'increaseLiquidity',
  '2e9cf3760dcdfbb2',
  INCREASE_ARGS,
  INCREASED
)
export const increaseLiquidityV2 = instruction(
  'increaseLiquidityV2',
  '851d59df45eeb00a',
  INCREASE_ARGS,
  INCREASED,
  { baseFlag: option(bool) }
)

const DECREASE_ARGS = { liquidity: u128, amount0Min: u64, amount1Min: u64 }
const DECREASED = { owner: 0, poolState: 3, personalPosition: 2, tokenVault0: 5, tokenVault1: 6 }

export const decreaseLiquidity = instruction(
  'decreaseLiquidity',
  'a026d06f685b2c01',
  DECREASE_ARGS,
  DECREASED
)
export const decreaseLiquidityV2 = instruction(
  'decreaseLiquidityV2',
  '3a7fbc3e4f52c460',
  DECREASE_ARGS,
  DECREASED
)

export const SWAPS = [swap, swapV2] as const
export const CREATIONS = [createPool, createCustomizablePool, createPermissionedPool] as const
export const OPENINGS = [openPosition, openPositionV2, openPositionWithToken22Nft] as const
export const INCREASES = [increaseLiquidity, increaseLiquidityV2] as const
export const DECREASES = [decreaseLiquidity, decreaseLiquidityV2] as const

const REQUESTED = { amount0Requested: u64, amount1Requested: u64 }
const DYNAMIC_FEE = {
  filterPeriod: u16,
  decayPeriod: u16,
  reductionFactor: u16,
  dynamicFeeControl: u32,
  maxVolatilityAccumulator: u32
}

/**
 * Instructions that neither trade nor move liquidity: closing empty positions, rewards, fee claims, settings, orders.
 */
export const UPKEEP = [
  instruction('closePosition', '7b86510031446262', {}, {}),
  instruction('closeProtocolPosition', 'c975989055556cb2', {}, {}),
  instruction(
    'createAmmConfig',
    '8934edd4d7756c68',
    { index: u16, tickSpacing: u16, tradeFeeRate: u32, protocolFeeRate: u32, fundFeeRate: u32 },
    {}
  ),
  instruction('updateAmmConfig', '313cae889a1c74c8', { param: u8, value: u32 }, {}),
  instruction('createDynamicFeeConfig', 'bd0eb5785576e33e', { index: u16, ...DYNAMIC_FEE }, {}),
  instruction('updateDynamicFeeConfig', '0707500802c784f0', DYNAMIC_FEE, {}),
  instruction('createSupportMintAssociated', '11fb415c88f20ea9', {}, {}),
  instruction('closeSupportMintAssociated', '6088b76348983683', {}, {}),
  instruction('createPermissionPda', '878802d889a9b5ca', {}, {}),
  instruction('closePermissionPda', '9c5420764587467b', {}, {}),
  instruction('updatePoolStatus', '82576c062ee0757b', { status: u8 }, {}),
  instruction('createOperationAccount', '3f5794216d230868', {}, {}),
  instruction('updateOperationAccount', '7f467728bce33d07', { param: u8, keys: vec(pubkey) }, {}),
  instruction('transferRewardOwner', '07160c53f22b3079', { newOwner: pubkey }, {}),
  instruction(
    'initializeReward',
    '5f87c0c4f281e644',
    { openTime: u64, endTime: u64, emissionsPerSecondX64: u128 },
    {}
  ),
  instruction('collectRemainingRewards', '12eda6c52210d590', { rewardIndex: u8 }, {}),
  instruction('updateRewardInfos', 'a3ace0340b9a6adf', {}, {}),
  instruction(
    'setRewardParams',
    '7034a74b20c9d389',
    { rewardIndex: u8, emissionsPerSecondX64: u128, openTime: u64, endTime: u64 },
    {}
  ),
  instruction('collectProtocolFee', '8888fcddc2427e59', REQUESTED, {}),
  instruction('collectFundFee', 'a78a4e95dfc2067e', REQUESTED, {}),
  instruction(
    'openLimitOrder',
    '9d20dab7471d1293',
    { nonceIndex: u8, zeroForOne: bool, tickIndex: i32, amount: u64 },
    {}
  ),
  instruction('increaseLimitOrder', 'b19059ecfaba7d63', { amount: u64 }, {}),
  instruction('decreaseLimitOrder', '759d3c674231a300', { amount: u64 }, {}),
  instruction('settleLimitOrder', 'cd4e74215c691a60', {}, {}),
  instruction('closeLimitOrder', '4c7c800fd55725fa', {}, {})
] as const
