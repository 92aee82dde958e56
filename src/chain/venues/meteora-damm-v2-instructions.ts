import { bool, option, pubkey, struct, u128, u16, u32, u64, u8 } from '../codec.ts'
import { LayoutTable, instruction } from '../layout.ts'

// Source: IDL 0.2.5 of @meteora-ag/cp-amm-sdk 1.5.0; items removed since from its IDLs 0.1.3 and 0.1.5.

const SWAP = {
  pool: 1,
  inputTokenAccount: 2,
  outputTokenAccount: 3,
  tokenAVault: 4,
  tokenBVault: 5,
  tokenAMint: 6,
  tokenBMint: 7,
  payer: 8,
  referralTokenAccount: 11
}

export const swap = instruction('swap', 'f8c69e91e17587c8', { amountIn: u64, minimumAmountOut: u64 }, SWAP)
/** Mode 0 is exact in, 1 exact in that may end early, 2 exact out. */
export const swap2 = instruction(
  'swap2',
  '414b3f4ceb5b5b88',
  { amount0: u64, amount1: u64, swapMode: u8 },
  SWAP
)

const LIQUIDITY = { liquidityDelta: u128, tokenAAmountThreshold: u64, tokenBAmountThreshold: u64 }
const ADD = { pool: 0, position: 1, tokenAVault: 4, tokenBVault: 5, tokenAMint: 6, tokenBMint: 7, owner: 9 }
const REMOVE = {
  pool: 1,
  position: 2,
  tokenAVault: 5,
  tokenBVault: 6,
  tokenAMint: 7,
  tokenBMint: 8,
  owner: 10
}

export const addLiquidity = instruction('addLiquidity', 'b59d59438fb63448', LIQUIDITY, ADD)
export const REMOVES = [
  instruction('removeLiquidity', '5055d14818ceb16c', LIQUIDITY, REMOVE),
  instruction(
    'removeAllLiquidity',
    '0a333d2370691855',
    { tokenAAmountThreshold: u64, tokenBAmountThreshold: u64 },
    REMOVE
  )
] as const

const dynamicFeeParameters = struct({
  binStep: u16,
  binStepU128: u128,
  filterPeriod: u16,
  decayPeriod: u16,
  reductionFactor: u16,
  maxVolatilityAccumulator: u32,
  variableFeeControl: u32
})

/** The three bytes between the base fee and the dynamic one changed their meaning twice, never their size. */
export const poolFeeParameters = struct({
  cliffFeeNumerator: u64,
  firstFactor: u16,
  secondFactor: u64,
  thirdFactor: u64,
  baseFeeMode: u8,
  compoundingFeeBps: u16,
  padding: u8,
  dynamicFee: option(dynamicFeeParameters)
})

const CUSTOM_POOL = {
  poolFees: poolFeeParameters,
  sqrtMinPrice: u128,
  sqrtMaxPrice: u128,
  hasAlphaVault: bool,
  liquidity: u128,
  sqrtPrice: u128,
  activationType: u8,
  collectFeeMode: u8,
  activationPoint: option(u64)
}

export const CREATES = [
  instruction(
    'initializePool',
    '5fb40aac54aee828',
    { liquidity: u128, sqrtPrice: u128, activationPoint: option(u64) },
    { payer: 3, pool: 6, tokenAMint: 8, tokenBMint: 9, tokenAVault: 10, tokenBVault: 11 }
  ),
  instruction('initializePoolWithDynamicConfig', '955248c5fdfc440f', CUSTOM_POOL, {
    payer: 3,
    pool: 7,
    tokenAMint: 9,
    tokenBMint: 10,
    tokenAVault: 11,
    tokenBVault: 12
  }),
  instruction('initializeCustomizablePool', '14a1f118bdddb402', CUSTOM_POOL, {
    payer: 3,
    pool: 5,
    tokenAMint: 7,
    tokenBMint: 8,
    tokenAVault: 9,
    tokenBVault: 10
  })
] as const

const vestingParameters = struct({
  cliffPoint: option(u64),
  periodFrequency: u64,
  cliffUnlockLiquidity: u128,
  liquidityPerPeriod: u128,
  numberOfPeriod: u16
})

/** Instructions that neither trade nor move liquidity. */
const OTHERS = [
  instruction('claimPositionFee', 'b4269a118521a2d3', {}, {}),
  instruction('claimProtocolFee2', 'ebc23645410aec70', { maxAmount: u64 }, {}),
  instruction('claimReward', '955fb5f25e5a9ea2', { rewardIndex: u8, skipReward: u8 }, {}),
  instruction('closeConfig', '9109489d5f7d3d55', {}, {}),
  instruction('closeOperatorAccount', 'ab09d54a7817031d', {}, {}),
  instruction('closePosition', '7b86510031446262', {}, {}),
  instruction('closeTokenBadge', '6c92566eb3fe0a68', {}, {}),
  instruction('createConfig', 'c9cff3724b6f2fbd', {}, {}),
  instruction('createDynamicConfig', '51fb7a4e4239d052', {}, {}),
  instruction('createOperatorAccount', 'dd40f695f099e5a3', { permission: u128 }, {}),
  instruction('createPosition', '30d7c59960cbb485', {}, {}),
  instruction('createTokenBadge', '58ce005b3caf9776', {}, {}),
  instruction('dummyIx', 'ea5fb0b9072a239f', {}, {}),
  instruction('fixConfigFeeParams', '261ed851fab1f3fe', {}, {}),
  instruction('fixPoolFeeParams', '846251c42c3a78c1', {}, {}),
  instruction('fixPoolLayoutVersion', 'a69e452351a7c8d7', {}, {}),
  instruction('fundReward', 'bc32f9a55d97263f', { rewardIndex: u8, amount: u64, carryForward: bool }, {}),
  instruction(
    'initializeReward',
    '5f87c0c4f281e644',
    { rewardIndex: u8, rewardDuration: u64, funder: pubkey },
    {}
  ),
  instruction('lockInnerPosition', '481331cc127a175a', { params: vestingParameters }, {}),
  instruction('lockPosition', 'e33e02fcf70aabb9', { params: vestingParameters }, {}),
  instruction('permanentLockPosition', 'a5b07d06e7abbad5', { permanentLockLiquidity: u128 }, {}),
  instruction('refreshVesting', '095ed80e74ccf700', {}, {}),
  instruction('setPoolStatus', '705787df53cc8435', { status: u8 }, {}),
  instruction('splitPosition', 'acf1dd8aa11dfd2a', {}, {}),
  instruction('splitPosition2', 'dd93e4cf8cd41177', { numerator: u32 }, {}),
  instruction('updateDelegatePermission', 'afa5384000fb592f', { permission: u32 }, {}),
  instruction('updatePoolFees', '76d9cbb33c084659', {}, {}),
  instruction('updateRewardDuration', '8aaec4a9d5ebfe6b', { rewardIndex: u8, newDuration: u64 }, {}),
  instruction('updateRewardFunder', 'd31c3020d7a02317', { rewardIndex: u8, newFunder: pubkey }, {}),
  instruction('withdrawDeadLiquidityReward', '7963e05bb20e1684', { rewardIndex: u8 }, {}),
  instruction('withdrawIneligibleReward', '94ce2ac3f7316708', { rewardIndex: u8 }, {}),
  // Removed from the program.
  instruction('claimPartnerFee', '61ce27695e5e7e94', { maxAmountA: u64, maxAmountB: u64 }, {}),
  instruction('claimProtocolFee', 'a5e4853063f9ff21', { maxAmountA: u64, maxAmountB: u64 }, {}),
  instruction('closeClaimFeeOperator', '268652d85f7c1163', {}, {}),
  instruction('createClaimFeeOperator', 'a93ecf6b3abba26d', {}, {}),
  // Seen in transactions, but in no published IDL.
  instruction('zapProtocolFee', 'd59bbb2238b65bf0', { maxAmount: u64 }, {})
]

export const METEORA_DAMM_V2_INSTRUCTIONS = new LayoutTable([
  swap,
  swap2,
  addLiquidity,
  ...REMOVES,
  ...CREATES,
  ...OTHERS
])
