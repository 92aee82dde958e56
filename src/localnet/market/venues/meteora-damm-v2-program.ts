import { key } from './pool-sides.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: MeteoraAg/damm-v2, program source; IDL 0.2.5 of @meteora-ag/cp-amm-sdk 1.5.0. Token A is the traded token.

export const AUTHORITY = key('HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC')

const program = new Program(key('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'), 'self-call', {
  authority: AUTHORITY
})
const POOL_FEES = `cliffFeeNumerator:u64 firstFactor?:u16 secondFactor?:u64 thirdFactor?:u64 baseFeeMode?:u8
  compoundingFeeBps?:u16 padding?:u8 dynamicFee?:option<bytes>`
export const initializeCustomizablePool = program.instruction(
  'InitializeCustomizablePool',
  '14a1f118bdddb402',
  `${POOL_FEES} sqrtMinPrice:u128 sqrtMaxPrice:u128 hasAlphaVault?:bool liquidity:u128 sqrtPrice:u128
  activationType:u8 collectFeeMode:u8 activationPoint?:option<u64>`,
  `owner nftMint! nftAccount* owner! authority pool* position* mints vaults* users* programs token2022 system
  eventAuthority program`
)
export const createPosition = program.instruction(
  'CreatePosition',
  '30d7c59960cbb485',
  '',
  `owner nftMint! nftAccount* pool* position* authority owner! token2022 system eventAuthority program`
)
// Without a referral its account is the program's own address.
export const swap2 = program.instruction(
  'Swap2',
  '414b3f4ceb5b5b88',
  'amount0:u64 amount1?:u64 swapMode?:u8',
  `authority pool* userIn* userOut* vaults* mints trader! programs program eventAuthority program`
)
const THRESHOLDS = 'tokenAAmountThreshold?:u64 tokenBAmountThreshold?:u64'
const LIQUIDITY_ACCOUNTS = `pool* position* users* vaults* mints nftAccount owner! programs
  eventAuthority program`
export const increase = program.instruction(
  'AddLiquidity',
  'b59d59438fb63448',
  `liquidityDelta:u128 ${THRESHOLDS}`,
  LIQUIDITY_ACCOUNTS
)
export const decrease = program.instruction(
  'RemoveLiquidity',
  '5055d14818ceb16c',
  `liquidityDelta:u128 ${THRESHOLDS}`,
  `authority ${LIQUIDITY_ACCOUNTS}`
)
export const initializePoolEvent = program.event(
  'e432f655cb428625',
  `pool:pubkey tokenAMint:pubkey tokenBMint:pubkey creator:pubkey payer:pubkey alphaVault:pubkey ${POOL_FEES}
  sqrtMinPrice:u128 sqrtMaxPrice:u128 activationType:u8 collectFeeMode:u8 liquidity:u128 sqrtPrice:u128
  activationPoint:u64 tokenAFlag:u8 tokenBFlag:u8 tokenAAmount:u64 tokenBAmount:u64 totalAmountA:u64
  totalAmountB:u64 poolType:u8`
)
export const createPositionEvent = program.event(
  '9c0f77c61db5dd37',
  'pool:pubkey owner:pubkey position:pubkey positionNftMint:pubkey'
)
export const swap2Event = program.event(
  'bd4233a826507599',
  `pool:pubkey tradeDirection:u8 collectFeeMode:u8 hasReferral?:bool amount0:u64 amount1?:u64 swapMode?:u8
  includedFeeInputAmount:u64 excludedFeeInputAmount:u64 amountLeft?:u64 outputAmount:u64 nextSqrtPrice:u128
  claimingFee:u64 protocolFee:u64 compoundingFee?:u64 referralFee?:u64 includedTransferFeeAmountIn:u64
  includedTransferFeeAmountOut:u64 excludedTransferFeeAmountOut:u64 currentTimestamp:u64 reserveAAmount:u64
  reserveBAmount:u64`
)
export const liquidityChangeEvent = program.event(
  'c5ab4e7fe0d3570d',
  `pool:pubkey position:pubkey owner:pubkey tokenAAmount:u64 tokenBAmount:u64
  transferFeeIncludedTokenAAmount:u64 transferFeeIncludedTokenBAmount:u64 reserveAAmount:u64
  reserveBAmount:u64 liquidityDelta:u128 ${THRESHOLDS} changeType:u8`
)

export const poolAccount = account(
  1112,
  'f19a6d0411b16dbc',
  `fee:u64@8 mints:pubkey[2]@168 vaults:pubkey[2]@232 liquidity:u128@360 protocolFees:u64[2]@392
  lower:u128@424 upper:u128@440 sqrtPrice:u128@456 activationPoint:u64@472 tokenFlags:u8[2]@482
  collectFeeMode:u8@484 creator:pubkey@648 reserves:u64[2]@680 layoutVersion:u8@696`
)
export const positionAccount = account(408, 'aabc8fe47a40f7d0', 'pool:pubkey@8 nftMint:pubkey@40')
