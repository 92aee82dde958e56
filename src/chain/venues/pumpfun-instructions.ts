import { bool, pubkey, string, u64 } from '../codec.ts'
import { instruction, type InstructionLayout } from '../layout.ts'

// Source: pump-fun/pump-public-docs (idl and docs) and @pump-fun/pump-sdk. `OptionBool` and `OptionU64` of the IDL
// have one field and no tag byte. Account lists only ever grew at the end.

const CURVE_V1 = { feeRecipient: 1, mint: 2, bondingCurve: 3, baseVault: 4, userBase: 5, user: 6 } as const
const CURVE_V2 = {
  mint: 1,
  quoteMint: 2,
  bondingCurve: 10,
  baseVault: 11,
  quoteVault: 12,
  user: 13,
  userBase: 14,
  userQuote: 15
} as const
const CURVE_V3 = {
  mint: 1,
  quoteMint: 2,
  bondingCurve: 5,
  baseVault: 6,
  quoteVault: 7,
  user: 8,
  userBase: 9,
  userQuote: 10
} as const

const BUY_OUT = { amount: u64, maxSolCost: u64 }
const BUY_IN = { spendableQuoteIn: u64, minTokensOut: u64 }
const SELL = { amount: u64, minSolOutput: u64 }
const TRACK = { trackVolume: bool }
const PARTIAL = { partialFill: bool }

export const buy = instruction('buy', '66063d1201daebea', BUY_OUT, CURVE_V1, TRACK)
export const buyExactSolIn = instruction('buyExactSolIn', '38fc74089edfcd5f', BUY_IN, CURVE_V1, TRACK)
export const sell = instruction('sell', '33e685a4017f83ad', SELL, CURVE_V1)
export const buyV2 = instruction('buyV2', 'b817ee6167c5d33d', BUY_OUT, CURVE_V2)
export const buyExactQuoteInV2 = instruction('buyExactQuoteInV2', 'c2ab1c46684d5b2f', BUY_IN, CURVE_V2)
export const sellV2 = instruction('sellV2', '5df6823ce7e940b2', SELL, CURVE_V2)
export const buyV3 = instruction('buyV3', '07051dc4f5176550', BUY_OUT, CURVE_V3, PARTIAL)
export const buyExactQuoteInV3 = instruction(
  'buyExactQuoteInV3',
  'e1f7501ed5b38488',
  BUY_IN,
  CURVE_V3,
  PARTIAL
)
export const sellV3 = instruction('sellV3', '1c92de7726c469d5', SELL, CURVE_V3)
/** Called only by PumpSwap's multi_hop_swap; its events and account list show what it traded. */
export const multiHopCurveSwap = instruction('multiHopCurveSwap', 'e19a7516d756f667', {}, {})

/** The side that the trader fixed, by trade instruction. */
export const EXACT_SIDES: ReadonlyMap<InstructionLayout | undefined, 'in' | 'out'> = new Map<
  InstructionLayout,
  'in' | 'out'
>([
  [buy, 'out'],
  [buyExactSolIn, 'in'],
  [sell, 'in'],
  [buyV2, 'out'],
  [buyExactQuoteInV2, 'in'],
  [sellV2, 'in'],
  [buyV3, 'out'],
  [buyExactQuoteInV3, 'in'],
  [sellV3, 'in'],
  [multiHopCurveSwap, 'in']
])

const NAMED = { name: string, symbol: string, uri: string }

export const create = instruction(
  'create',
  '181ec828051c0777',
  NAMED,
  { mint: 0, bondingCurve: 2, baseVault: 3, user: 7 },
  { creator: pubkey }
)
export const createV2 = instruction(
  'createV2',
  'd6904cec5f8b31b4',
  { ...NAMED, creator: pubkey, isMayhemMode: bool },
  { mint: 0, bondingCurve: 2, baseVault: 3, user: 5 },
  { isCashbackEnabled: bool },
  { creatorFeeBps: u64 },
  { isHolderReward: bool }
)
const migrate = instruction('migrate', '9beae792ec9ea21e', {}, { mint: 2, bondingCurve: 3, user: 5, pool: 9 })
const migrateV2 = instruction(
  'migrateV2',
  'bbcb121fceedfe29',
  {},
  { mint: 2, quoteMint: 3, bondingCurve: 4, user: 7, pool: 10 }
)

/** Instructions that neither trade nor launch nor migrate. */
const OTHERS = {
  addQuoteControlMint: '020e3d8aaa8e0e5f',
  addQuoteMint: '6f79153828185ed1',
  adminCto: '7d7ed6864de5bc59',
  adminSetCreator: '4519ab8e39ef0d04',
  adminSetIdlAuthority: '08d960e79068c005',
  adminUpdateTokenIncentives: 'd10b7357d5177ccc',
  claimCashback: '253a237ebe35e4c5',
  claimCashbackV2: '7af3cc415e741d37',
  claimTokenIncentives: '1004471ccc01281b',
  closeUserVolumeAccumulator: 'f945a4da9667548a',
  collectCreatorFee: '1416567bc61cdb84',
  collectCreatorFeeV2: 'cf118af204221338',
  distributeCreatorFees: 'a572670079cef751',
  distributeCreatorFeesV2: 'ffcb134ff444089f',
  distributeFeeToHolders: '623691610246ad2b',
  extendAccount: 'ea66c2cb96483ee5',
  getMinimumDistributableFee: '75e17fca865f4423',
  initUserVolumeAccumulator: '5e06ca73ff60e8b7',
  initialize: 'afaf6d1f0d989bed',
  initializeQuoteControl: 'ef49f5add1b15442',
  migrateBondingCurveCreator: '577c34bf3426d6e8',
  removeQuoteControlMint: 'df07fd1a51a5daa6',
  removeQuoteMint: 'b141df2658d19e9b',
  setCreator: 'fe94ff70cf8eaaa5',
  setMayhemVirtualParams: '3da9bcbf99952a61',
  setMetaplexCreator: '8a60aed93055c5f6',
  setParams: '1beab2349302bb8d',
  setQuoteControlAdmin: '3e4fa1d3a5aad6d2',
  setReservedFeeRecipients: '6faca2e87259d58e',
  setVirtualQuoteReserves: '6587bf6809581460',
  sweepCreatorFee: '20f6bf3408c949ba',
  sweepProtocolFee: '0830be07b644b7e5',
  syncUserVolumeAccumulator: '561fc057a3574fee',
  toggleCashbackEnabled: '7367e0ffbd5956c3',
  toggleCreateV2: '1cffe6f0ac6bcbab',
  toggleMayhemMode: '01096fd0641fffa3',
  updateBuybackConfig: 'fbe0ab92a01a71e9',
  updateCreatorFeeConfig: '3dafa0f9424288af',
  updateGlobalAuthority: 'e3b54ac4d01561d5',
  updateHolderRewardConfig: 'e1fc4204c723ec10',
  withdraw: 'b712469c946da122'
}

export const PUMPFUN_INSTRUCTIONS: readonly InstructionLayout[] = [
  buy,
  buyExactSolIn,
  sell,
  buyV2,
  buyExactQuoteInV2,
  sellV2,
  buyV3,
  buyExactQuoteInV3,
  sellV3,
  multiHopCurveSwap,
  create,
  createV2,
  migrate,
  migrateV2,
  ...Object.entries(OTHERS).map(([name, discriminator]) => instruction(name, discriminator, {}, {}))
]
