import { bool, i64, pubkey, string, struct, u16, u64, u8, vec } from '../codec.ts'
import { layout, type Layout } from '../layout.ts'

// Source: as for the instructions. Bodies only ever grew at the end, by the groups listed here in order.

export const createEvent = layout(
  'CreateEvent',
  '1b72a94ddeeb6376',
  { name: string, symbol: string, uri: string, mint: pubkey, bondingCurve: pubkey, user: pubkey },
  { creator: pubkey, timestamp: i64 },
  { virtualTokenReserves: u64, virtualSolReserves: u64, realTokenReserves: u64, tokenTotalSupply: u64 },
  { tokenProgram: pubkey, isMayhemMode: bool },
  { isCashbackEnabled: bool },
  { quoteMint: pubkey, virtualQuoteReserves: u64 },
  { creatorFeeBps: u64, isHolderReward: bool },
  { depth: u8 }
)

export const tradeEvent = layout(
  'TradeEvent',
  'bddb7fd34ee661ee',
  {
    mint: pubkey,
    solAmount: u64,
    tokenAmount: u64,
    isBuy: bool,
    user: pubkey,
    timestamp: i64,
    virtualSolReserves: u64,
    virtualTokenReserves: u64
  },
  { realSolReserves: u64, realTokenReserves: u64 },
  {
    feeRecipient: pubkey,
    feeBasisPoints: u64,
    fee: u64,
    creator: pubkey,
    creatorFeeBasisPoints: u64,
    creatorFee: u64
  },
  {
    trackVolume: bool,
    totalUnclaimedTokens: u64,
    totalClaimedTokens: u64,
    currentSolVolume: u64,
    lastUpdateTimestamp: i64
  },
  { ixName: string },
  { mayhemMode: bool },
  { cashbackFeeBasisPoints: u64, cashback: u64 },
  {
    buybackFeeBasisPoints: u64,
    buybackFee: u64,
    shareholders: vec(struct({ address: pubkey, shareBps: u16 })),
    quoteMint: pubkey,
    quoteAmount: u64,
    virtualQuoteReserves: u64,
    realQuoteReserves: u64
  },
  { holderRewardsBps: u64, holderRewards: u64 },
  { creatorFeeUnclaimed: u64 }
)

export const completeEvent = layout(
  'CompleteEvent',
  '5f72619cd42e9808',
  { user: pubkey, mint: pubkey, bondingCurve: pubkey, timestamp: i64 },
  { quoteMint: pubkey }
)

export const postCompleteBuyEvent = layout('PostCompleteBuyEvent', '6fb06d8b316cd5fb', {
  user: pubkey,
  mint: pubkey,
  bondingCurve: pubkey,
  quoteMint: pubkey,
  timestamp: i64,
  baseOut: u64,
  quoteIn: u64,
  feeBasisPoints: u64,
  fee: u64,
  creatorFeeBasisPoints: u64,
  creatorFee: u64,
  buybackFee: u64,
  poolBaseReservesBefore: u64,
  poolQuoteReservesBefore: u64,
  poolBaseReservesAfter: u64,
  poolQuoteReservesAfter: u64
})

export const migrationEvent = layout(
  'CompletePumpAmmMigrationEvent',
  'bde95db95c94ea94',
  {
    user: pubkey,
    mint: pubkey,
    mintAmount: u64,
    solAmount: u64,
    poolMigrationFee: u64,
    bondingCurve: pubkey,
    timestamp: i64,
    pool: pubkey
  },
  { quoteMint: pubkey }
)

/** A payout of fees that earlier trades left on the curve. */
const sweepEvent = layout('SweepBondingCurveFeeEvent', '742b4dbd117a482b', {
  timestamp: i64,
  mint: pubkey,
  bondingCurve: pubkey,
  quoteMint: pubkey,
  recipient: pubkey,
  amount: u64,
  bucket: u8
})

/** A price change without a trade. */
const mayhemEvent = layout('UpdateMayhemVirtualParamsEvent', '757be4b6a1a8dcd6', {
  timestamp: i64,
  mint: pubkey,
  virtualTokenReserves: u64,
  virtualSolReserves: u64,
  newVirtualTokenReserves: u64,
  newVirtualSolReserves: u64,
  realTokenReserves: u64,
  realSolReserves: u64
})

/** Events that are not a trade, launch, migration or liquidity change. */
const OTHER_EVENTS = {
  AddQuoteControlMintEvent: 'a4af574a582d213e',
  AdminCtoEvent: '6e7ce262aaff1178',
  AdminSetCreatorEvent: '4045c0681d1e196b',
  AdminSetIdlAuthorityEvent: 'f53b46224bb96d5c',
  AdminUpdateTokenIncentivesEvent: '93fa6c78f71d43de',
  ClaimCashbackEvent: 'e2d6f62107f293e5',
  ClaimTokenIncentivesEvent: '4facf631cd5bcee8',
  CloseUserVolumeAccumulatorEvent: '929fbdac925838f4',
  CollectCreatorFeeEvent: '7a027f010ebf0caf',
  DistributeCreatorFeesEvent: 'a537817004b3ca28',
  DistributeFeeToHoldersEvent: 'e3bed7ceb0b4a584',
  ExtendAccountEvent: '6161d7905d92167c',
  InitUserVolumeAccumulatorEvent: '86240d48e86582d8',
  MigrateBondingCurveCreatorEvent: '9ba768dcd56cf303',
  MinimumDistributableFeeEvent: 'a8d884efebb63134',
  RemoveQuoteControlMintEvent: '2e21568600d5d130',
  ReservedFeeRecipientsEvent: '2bbcfa12dd4bbb5f',
  SetCreatorEvent: 'ed347b25f5fb48d2',
  SetMetaplexCreatorEvent: '8ecb06207f69bfa2',
  SetParamsEvent: 'dfc39ff63e308f83',
  SetQuoteControlAdminEvent: '4af88d45ca511ef7',
  SyncUserVolumeAccumulatorEvent: 'c57aa77c74515bff',
  UpdateCreatorFeeConfigEvent: '98c67c7c6af67fbf',
  UpdateGlobalAuthorityEvent: 'b6c3892a23cecff7'
}

export const PUMPFUN_EVENTS = [
  createEvent,
  tradeEvent,
  completeEvent,
  postCompleteBuyEvent,
  migrationEvent,
  sweepEvent,
  mayhemEvent,
  ...Object.entries(OTHER_EVENTS).map(([name, discriminator]) => layout(name, discriminator, {}))
]

type Body<L> = L extends Layout<infer T> ? T : never
export type CreateBody = Body<typeof createEvent>
export type TradeBody = Body<typeof tradeEvent>
export type CompleteBody = Body<typeof completeEvent>
export type PostCompleteBody = Body<typeof postCompleteBuyEvent>
export type MigrationBody = Body<typeof migrationEvent>
