import { bool, pubkey, u16, u64 } from '../codec.ts'
import { instruction, type InstructionLayout } from '../layout.ts'

// Source: pump-fun/pump-public-docs (idl and docs) and @pump-fun/pump-sdk. `OptionBool` and `OptionU64` of the IDL
// have one field and no tag byte. Account lists only ever grew at the end.

/** Accounts of the trade instructions, identical in both versions. */
const TRADE = {
  pool: 0,
  user: 1,
  baseMint: 3,
  quoteMint: 4,
  userBase: 5,
  userQuote: 6,
  baseVault: 7,
  quoteVault: 8
} as const

const BUY_OUT = { baseAmountOut: u64, maxQuoteAmountIn: u64 }
const BUY_IN = { spendableQuoteIn: u64, minBaseAmountOut: u64 }
const SELL = { baseAmountIn: u64, minQuoteAmountOut: u64 }
const TRACK = { trackVolume: bool }

export const buy = instruction('buy', '66063d1201daebea', BUY_OUT, TRADE, TRACK)
export const buyExactQuoteIn = instruction('buyExactQuoteIn', 'c62e1552b4d9e870', BUY_IN, TRADE, TRACK)
export const sell = instruction('sell', '33e685a4017f83ad', SELL, TRADE)
export const buyV2 = instruction('buyV2', 'b817ee6167c5d33d', BUY_OUT, TRADE)
export const buyExactQuoteInV2 = instruction('buyExactQuoteInV2', 'c2ab1c46684d5b2f', BUY_IN, TRADE)
export const sellV2 = instruction('sellV2', '5df6823ce7e940b2', SELL, TRADE)
/** Takes 16 accounts, then five per hop: base mint, quote mint, pool or curve, base vault, quote vault. */
export const multiHopSwap = instruction(
  'multiHopSwap',
  '2b644913e9f66f94',
  { amountIn: u64, minAmountOut: u64 },
  { user: 0, userIn: 1, userOut: 2 }
)

/** The side that the trader fixed, by trade instruction. */
export const EXACT_SIDES: ReadonlyMap<InstructionLayout | undefined, 'in' | 'out'> = new Map<
  InstructionLayout,
  'in' | 'out'
>([
  [buy, 'out'],
  [buyExactQuoteIn, 'in'],
  [sell, 'in'],
  [buyV2, 'out'],
  [buyExactQuoteInV2, 'in'],
  [sellV2, 'in'],
  [multiHopSwap, 'in']
])

const LIQUIDITY = {
  pool: 0,
  user: 2,
  baseMint: 3,
  quoteMint: 4,
  lpMint: 5,
  userBase: 6,
  userQuote: 7,
  baseVault: 9,
  quoteVault: 10
} as const

export const createPool = instruction(
  'createPool',
  'e992d18ecf6840bc',
  { index: u16, baseAmountIn: u64, quoteAmountIn: u64 },
  { pool: 0, creator: 2, baseMint: 3, quoteMint: 4, lpMint: 5, baseVault: 9, quoteVault: 10 },
  { coinCreator: pubkey },
  { isMayhemMode: bool },
  { isCashbackCoin: bool },
  { creatorFeeBps: u64 },
  { canEditCreatorFee: bool },
  { isHolderReward: bool }
)
export const deposit = instruction(
  'deposit',
  'f223c68952e1f2b6',
  { lpTokenAmountOut: u64, maxBaseAmountIn: u64, maxQuoteAmountIn: u64 },
  LIQUIDITY
)
export const withdraw = instruction(
  'withdraw',
  'b712469c946da122',
  { lpTokenAmountIn: u64, minBaseAmountOut: u64, minQuoteAmountOut: u64 },
  LIQUIDITY
)
const initBoost = instruction('initBoost', '8ce9215e845ac28f', {}, { pool: 0, baseMint: 3, quoteMint: 4 })
/** Lets a vault buy from the pool and burn the tokens: it states a BuyEvent, but has no trader. */
export const boostBuyAndBurn = instruction(
  'boostBuyAndBurn',
  '694406af000723a2',
  { quoteAmountIn: u64, minBaseAmountBurned: u64 },
  { pool: 0, baseMint: 3, quoteMint: 4 }
)

/** Instructions that neither trade nor change liquidity. */
const OTHERS = {
  adminCtoPool: '2d3da597680031bd',
  adminSetCoinCreator: 'f228759149606968',
  // In version 1.20.0 of @pump-fun/pump-swap-sdk only; replaced by adminCtoPool in September 2026.
  adminSetCoinCreatorFeeEditable: 'cc4156cf6e54ef68',
  adminUpdateTokenIncentives: 'd10b7357d5177ccc',
  claimCashback: '253a237ebe35e4c5',
  claimCashbackV2: '7af3cc415e741d37',
  claimTokenIncentives: '1004471ccc01281b',
  closeUserVolumeAccumulator: 'f945a4da9667548a',
  collectCoinCreatorFee: 'a039592ab58b2b42',
  createConfig: 'c9cff3724b6f2fbd',
  disable: 'b9adbb5ad80feee9',
  extendAccount: 'ea66c2cb96483ee5',
  initUserVolumeAccumulator: '5e06ca73ff60e8b7',
  migratePoolCoinCreator: 'd0089f044aaf103a',
  setBoostAuthority: 'e3954c2a8227eacd',
  setCoinCreator: 'd295802dbc3a4eaf',
  // Like adminSetCoinCreatorFeeEditable.
  setCoinCreatorFeeBps: '4259caed08769ea9',
  setReservedFeeRecipients: '6faca2e87259d58e',
  sweepCreatorFee: '20f6bf3408c949ba',
  sweepProtocolFee: '0830be07b644b7e5',
  syncUserVolumeAccumulator: '561fc057a3574fee',
  toggleBoost: '75a1a04adf897663',
  toggleCashbackEnabled: '7367e0ffbd5956c3',
  toggleMayhemMode: '01096fd0641fffa3',
  transferCreatorFeesToPump: '8b348655e4e56cf1',
  transferCreatorFeesToPumpV2: '01214eb921432c5c',
  updateAdmin: 'a1b028d53cb8b3e4',
  updateBuybackConfig: 'fbe0ab92a01a71e9',
  updateCreatorFeeConfig: '3dafa0f9424288af',
  updateFeeConfig: '68b867f258976b14'
}

export const PUMPSWAP_INSTRUCTIONS: readonly InstructionLayout[] = [
  buy,
  buyExactQuoteIn,
  sell,
  buyV2,
  buyExactQuoteInV2,
  sellV2,
  multiHopSwap,
  createPool,
  deposit,
  withdraw,
  initBoost,
  boostBuyAndBurn,
  ...Object.entries(OTHERS).map(([name, discriminator]) => instruction(name, discriminator, {}, {}))
]
