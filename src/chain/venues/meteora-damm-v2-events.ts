import { bool, option, pubkey, struct, u128, u16, u32, u64, u8 } from '../codec.ts'
import { LayoutTable, layout, type Layout } from '../layout.ts'
import { poolFeeParameters } from './meteora-damm-v2-instructions.ts'

// Source: IDL 0.2.5 of @meteora-ag/cp-amm-sdk 1.5.0; items removed since from its IDLs 0.1.3 and 0.1.5.

/** Fees of a swap; before 0.2.0 the fourth was a partner's. */
export const swap2Event = layout('EvtSwap2', 'bd4233a826507599', {
  pool: pubkey,
  tradeDirection: u8,
  collectFeeMode: u8,
  hasReferral: bool,
  params: struct({ amount0: u64, amount1: u64, swapMode: u8 }),
  swapResult: struct({
    includedFeeInputAmount: u64,
    excludedFeeInputAmount: u64,
    amountLeft: u64,
    outputAmount: u64,
    nextSqrtPrice: u128,
    claimingFee: u64,
    protocolFee: u64,
    compoundingFee: u64,
    referralFee: u64
  }),
  includedTransferFeeAmountIn: u64,
  includedTransferFeeAmountOut: u64,
  excludedTransferFeeAmountOut: u64,
  currentTimestamp: u64,
  reserveAAmount: u64,
  reserveBAmount: u64
})

/** Until 0.1.4 the only event of a swap; 0.1.5 emits it together with EvtSwap2. */
export const swapEvent = layout('EvtSwap', '1b3c15d58aaabb93', {
  pool: pubkey,
  tradeDirection: u8,
  hasReferral: bool,
  params: struct({ amountIn: u64, minimumAmountOut: u64 }),
  swapResult: struct({
    outputAmount: u64,
    nextSqrtPrice: u128,
    lpFee: u64,
    protocolFee: u64,
    partnerFee: u64,
    referralFee: u64
  }),
  actualAmountIn: u64,
  currentTimestamp: u64
})

export const initializePoolEvent = layout('EvtInitializePool', 'e432f655cb428625', {
  pool: pubkey,
  tokenAMint: pubkey,
  tokenBMint: pubkey,
  creator: pubkey,
  payer: pubkey,
  alphaVault: pubkey,
  poolFees: poolFeeParameters,
  sqrtMinPrice: u128,
  sqrtMaxPrice: u128,
  activationType: u8,
  collectFeeMode: u8,
  liquidity: u128,
  sqrtPrice: u128,
  activationPoint: u64,
  tokenAFlag: u8,
  tokenBFlag: u8,
  tokenAAmount: u64,
  tokenBAmount: u64,
  totalAmountA: u64,
  totalAmountB: u64,
  poolType: u8
})

export const liquidityChangeEvent = layout('EvtLiquidityChange', 'c5ab4e7fe0d3570d', {
  pool: pubkey,
  position: pubkey,
  owner: pubkey,
  tokenAAmount: u64,
  tokenBAmount: u64,
  transferFeeIncludedTokenAAmount: u64,
  transferFeeIncludedTokenBAmount: u64,
  reserveAAmount: u64,
  reserveBAmount: u64,
  liquidityDelta: u128,
  tokenAAmountThreshold: u64,
  tokenBAmountThreshold: u64,
  changeType: u8
})

const LIQUIDITY = struct({ liquidityDelta: u128, tokenAAmountThreshold: u64, tokenBAmountThreshold: u64 })
export const addLiquidityEvent = layout('EvtAddLiquidity', 'aff2089d1ef7b9a9', {
  pool: pubkey,
  position: pubkey,
  owner: pubkey,
  params: LIQUIDITY,
  tokenAAmount: u64,
  tokenBAmount: u64,
  totalAmountA: u64,
  totalAmountB: u64
})
export const removeLiquidityEvent = layout('EvtRemoveLiquidity', '572e5862af60225b', {
  pool: pubkey,
  position: pubkey,
  owner: pubkey,
  params: LIQUIDITY,
  tokenAAmount: u64,
  tokenBAmount: u64
})

const OTHERS = [
  layout('EvtClaimPositionFee', 'c6b6b734610c3138', {
    pool: pubkey,
    position: pubkey,
    owner: pubkey,
    feeAClaimed: u64,
    feeBClaimed: u64
  }),
  layout('EvtClaimProtocolFee2', 'bb854209cda1540d', {
    pool: pubkey,
    receiverTokenAccount: pubkey,
    tokenMint: pubkey,
    amount: u64
  }),
  layout('EvtClaimReward', 'da5693c8ebbcd7e7', {
    pool: pubkey,
    position: pubkey,
    owner: pubkey,
    mintReward: pubkey,
    rewardIndex: u8,
    totalReward: u64
  }),
  layout('EvtCloseConfig', '241eef2d3a840e05', { config: pubkey, admin: pubkey }),
  layout('EvtClosePosition', '149190448f8ed6b2', {
    pool: pubkey,
    owner: pubkey,
    position: pubkey,
    positionNftMint: pubkey
  }),
  layout('EvtCreateConfig', '83cfb4aeb449a536', {}),
  layout(
    'EvtCreateDynamicConfig',
    'e7c50da4f8d58598',
    { config: pubkey, poolCreatorAuthority: pubkey, index: u64 },
    { permission: u128 }
  ),
  layout('EvtCreatePosition', '9c0f77c61db5dd37', {
    pool: pubkey,
    owner: pubkey,
    position: pubkey,
    positionNftMint: pubkey
  }),
  layout('EvtCreateTokenBadge', '8d788674221c72a0', { tokenMint: pubkey }),
  layout(
    'EvtFundReward',
    '68e9ed7ac7bf7955',
    {
      pool: pubkey,
      funder: pubkey,
      mintReward: pubkey,
      rewardIndex: u8,
      amount: u64,
      transferFeeExcludedAmountIn: u64
    },
    { rewardDurationEnd: u64, preRewardRate: u128, postRewardRate: u128 }
  ),
  layout('EvtInitializeReward', '815bbc03f634b9f9', { pool: pubkey, rewardMint: pubkey, funder: pubkey }),
  layout('EvtLockPosition', 'a83f6c53db5202c8', {
    pool: pubkey,
    position: pubkey,
    owner: pubkey,
    vesting: pubkey,
    cliffPoint: u64,
    periodFrequency: u64,
    cliffUnlockLiquidity: u128,
    liquidityPerPeriod: u128,
    numberOfPeriod: u16
  }),
  layout('EvtPermanentLockPosition', '918fa2dada50430b', {
    pool: pubkey,
    position: pubkey,
    lockLiquidityAmount: u128,
    totalPermanentLockedLiquidity: u128
  }),
  layout('EvtSetPoolStatus', '64d54a035f5be492', { pool: pubkey, status: u8 }),
  layout('EvtSplitPosition2', 'a520cbae4864e967', { pool: pubkey }),
  layout('EvtSplitPosition3', 'e875beda55a2cf4e', { pool: pubkey }),
  layout('EvtUpdateDelegatePermission', '42bc4b9796e8575d', {
    position: pubkey,
    owner: pubkey,
    permission: u32,
    delegate: option(pubkey)
  }),
  layout('EvtUpdatePoolFees', '4ca5f66666d99c2c', { pool: pubkey }),
  layout('EvtUpdateRewardDuration', '958741e781994139', {
    pool: pubkey,
    rewardIndex: u8,
    oldRewardDuration: u64,
    newRewardDuration: u64
  }),
  layout('EvtUpdateRewardFunder', '4c9ad00d2873f692', {
    pool: pubkey,
    rewardIndex: u8,
    oldFunder: pubkey,
    newFunder: pubkey
  }),
  layout('EvtWithdrawDeadLiquidityReward', 'e44296c32a3ea30d', {
    pool: pubkey,
    rewardMint: pubkey,
    amount: u64
  }),
  layout('EvtWithdrawIneligibleReward', 'f8d7b84e1fb4b3a8', {
    pool: pubkey,
    rewardMint: pubkey,
    amount: u64
  }),
  layout('EvtClaimPartnerFee', '76634d0ae2010157', { pool: pubkey, tokenAAmount: u64, tokenBAmount: u64 }),
  layout('EvtClaimProtocolFee', 'baf44bfbbc0d1921', { pool: pubkey, tokenAAmount: u64, tokenBAmount: u64 }),
  layout('EvtCloseClaimFeeOperator', '6f2725376ed8c217', { claimFeeOperator: pubkey, operator: pubkey }),
  layout('EvtCreateClaimFeeOperator', '1506997844741cb1', { operator: pubkey }),
  layout('EvtSplitPosition', 'b68a2afe1b5e52dd', { pool: pubkey })
]

export const METEORA_DAMM_V2_EVENTS = new LayoutTable<Layout<unknown>>([
  swap2Event,
  swapEvent,
  initializePoolEvent,
  liquidityChangeEvent,
  addLiquidityEvent,
  removeLiquidityEvent,
  ...OTHERS
])
