import { bool, i128, i64, pubkey, string, u16, u64, u8 } from '../codec.ts'
import { layout, type Layout } from '../layout.ts'

// Source: as for the instructions. Bodies only ever grew at the end, by the groups listed here in order.

const PARTIES = {
  pool: pubkey,
  user: pubkey,
  userBaseTokenAccount: pubkey,
  userQuoteTokenAccount: pubkey
}
const FEE_RECIPIENT = { protocolFeeRecipient: pubkey, protocolFeeRecipientTokenAccount: pubkey }
const RESERVES = {
  userBaseTokenReserves: u64,
  userQuoteTokenReserves: u64,
  poolBaseTokenReserves: u64,
  poolQuoteTokenReserves: u64
}
const CREATOR = { coinCreator: pubkey, coinCreatorFeeBasisPoints: u64, coinCreatorFee: u64 }
const CASHBACK = { cashbackFeeBasisPoints: u64, cashback: u64 }
const BUYBACK = { buybackFeeBasisPoints: u64, buybackFee: u64 }
const VIRTUAL = { virtualQuoteReserves: i128 }
const BOOST = { canBoost: bool }
const SUPPLY = { baseSupply: u64 }
const HOLDERS = { holderRewardsBps: u64, holderRewards: u64 }
const UNCLAIMED = { creatorFeeUnclaimed: u64 }

/** A buy, with the pool's reserves before it. */
export const buyEvent = layout(
  'BuyEvent',
  '67f4521f2cf57777',
  {
    timestamp: i64,
    baseAmountOut: u64,
    maxQuoteAmountIn: u64,
    ...RESERVES,
    quoteAmountIn: u64,
    lpFeeBasisPoints: u64,
    lpFee: u64,
    protocolFeeBasisPoints: u64,
    protocolFee: u64,
    quoteAmountInWithLpFee: u64,
    userQuoteAmountIn: u64,
    ...PARTIES,
    ...FEE_RECIPIENT
  },
  CREATOR,
  {
    trackVolume: bool,
    totalUnclaimedTokens: u64,
    totalClaimedTokens: u64,
    currentSolVolume: u64,
    lastUpdateTimestamp: i64
  },
  { minBaseAmountOut: u64, ixName: string },
  CASHBACK,
  BUYBACK,
  VIRTUAL,
  BOOST,
  SUPPLY,
  HOLDERS,
  UNCLAIMED
)

/** A sale, with the pool's reserves before it. */
export const sellEvent = layout(
  'SellEvent',
  '3e2f370aa503dc2a',
  {
    timestamp: i64,
    baseAmountIn: u64,
    minQuoteAmountOut: u64,
    ...RESERVES,
    quoteAmountOut: u64,
    lpFeeBasisPoints: u64,
    lpFee: u64,
    protocolFeeBasisPoints: u64,
    protocolFee: u64,
    quoteAmountOutWithoutLpFee: u64,
    userQuoteAmountOut: u64,
    ...PARTIES,
    ...FEE_RECIPIENT
  },
  CREATOR,
  CASHBACK,
  BUYBACK,
  VIRTUAL,
  BOOST,
  SUPPLY,
  HOLDERS,
  UNCLAIMED
)

export const createPoolEvent = layout(
  'CreatePoolEvent',
  'b1310cd2a076a774',
  {
    timestamp: i64,
    index: u16,
    creator: pubkey,
    baseMint: pubkey,
    quoteMint: pubkey,
    baseMintDecimals: u8,
    quoteMintDecimals: u8,
    baseAmountIn: u64,
    quoteAmountIn: u64,
    poolBaseAmount: u64,
    poolQuoteAmount: u64,
    minimumLiquidity: u64,
    initialLiquidity: u64,
    lpTokenAmountOut: u64,
    poolBump: u8,
    pool: pubkey,
    lpMint: pubkey,
    userBaseTokenAccount: pubkey,
    userQuoteTokenAccount: pubkey
  },
  { coinCreator: pubkey },
  { isMayhemMode: bool },
  { creatorFeeBps: u64, canEditCreatorFee: bool },
  { isHolderReward: bool }
)

export const depositEvent = layout('DepositEvent', '78f83d531f8e6b90', {
  timestamp: i64,
  lpTokenAmountOut: u64,
  maxBaseAmountIn: u64,
  maxQuoteAmountIn: u64,
  ...RESERVES,
  baseAmountIn: u64,
  quoteAmountIn: u64,
  lpMintSupply: u64,
  ...PARTIES,
  userPoolTokenAccount: pubkey
})

export const withdrawEvent = layout('WithdrawEvent', '1609851aa02c47c0', {
  timestamp: i64,
  lpTokenAmountIn: u64,
  minBaseAmountOut: u64,
  minQuoteAmountOut: u64,
  ...RESERVES,
  baseAmountOut: u64,
  quoteAmountOut: u64,
  lpMintSupply: u64,
  ...PARTIES,
  userPoolTokenAccount: pubkey
})

/** A payout of fees that earlier trades left in the pool. */
const sweepEvent = layout('SweepPoolFeeEvent', '82a42461e48287a5', {
  timestamp: i64,
  pool: pubkey,
  baseMint: pubkey,
  quoteMint: pubkey,
  recipient: pubkey,
  payer: pubkey,
  amount: u64,
  bucket: u8
})

const boostEvent = layout('BoostBuyAndBurnEvent', '3f451c16305cc2b9', {
  timestamp: i64,
  mint: pubkey,
  bondingCurve: pubkey,
  pool: pubkey,
  authority: pubkey,
  quoteAmountInRequested: u64,
  quoteAmountInUsed: u64,
  baseAmountBurned: u64,
  virtualQuoteReserves: i128,
  realQuoteReservesAfter: u64,
  baseReservesAfter: u64,
  boostVaultRemaining: u64
})

const initBoostEvent = layout('InitBoostEvent', 'ae7c4af90451f611', {
  timestamp: i64,
  mint: pubkey,
  bondingCurve: pubkey,
  pool: pubkey,
  virtualQuoteReserves: i128,
  realQuoteReservesAfter: u64
})

/** Events that are not a trade, launch, migration or liquidity change. */
const OTHER_EVENTS = {
  AdminCtoPoolEvent: '2f23a3f9969d937a',
  AdminSetCoinCreatorEvent: '2ddc5d181961ac68',
  AdminSetCoinCreatorFeeEditableEvent: 'bfc67fbc6dae0969',
  AdminUpdateTokenIncentivesEvent: '93fa6c78f71d43de',
  ClaimCashbackEvent: 'e2d6f62107f293e5',
  ClaimTokenIncentivesEvent: '4facf631cd5bcee8',
  CloseUserVolumeAccumulatorEvent: '929fbdac925838f4',
  CollectCoinCreatorFeeEvent: 'e8f5c2eeeada3a59',
  CreateConfigEvent: '6b34598137e25116',
  DisableEvent: '6bfdc14ce4ca1b68',
  ExtendAccountEvent: '6161d7905d92167c',
  InitUserVolumeAccumulatorEvent: '86240d48e86582d8',
  MigratePoolCoinCreatorEvent: 'aadd52c793a5f72e',
  ReservedFeeRecipientsEvent: '2bbcfa12dd4bbb5f',
  SetBondingCurveCoinCreatorEvent: 'f2e7eb664163bdd3',
  SetBoostAuthorityEvent: '5980f08d5bca4769',
  SetCoinCreatorFeeBpsEvent: 'e68af19e1ce8e4d3',
  SetMetaplexCoinCreatorEvent: '966bc77b7ccf66e4',
  SyncUserVolumeAccumulatorEvent: 'c57aa77c74515bff',
  UpdateAdminEvent: 'e198ab57f63f42ea',
  UpdateCreatorFeeConfigEvent: '98c67c7c6af67fbf',
  UpdateFeeConfigEvent: '5a1741233ef4bcd0'
}

export const PUMPSWAP_EVENTS = [
  buyEvent,
  sellEvent,
  createPoolEvent,
  depositEvent,
  withdrawEvent,
  sweepEvent,
  boostEvent,
  initBoostEvent,
  ...Object.entries(OTHER_EVENTS).map(([name, discriminator]) => layout(name, discriminator, {}))
]

type Body<L> = L extends Layout<infer T> ? T : never
export type BuyBody = Body<typeof buyEvent>
export type SellBody = Body<typeof sellEvent>
export type CreatePoolBody = Body<typeof createPoolEvent>
export type DepositBody = Body<typeof depositEvent>
export type WithdrawBody = Body<typeof withdrawEvent>
