import { bool, option, pubkey, string, struct, u16, u64, u8, type ByteReader, type Codec } from '../codec.ts'
import { instruction, layout, type Layout } from '../layout.ts'

// Source: IDL 0.2.0 in raydium-io/raydium-docs; raydium-sdk-v2. The program states events by calling itself.

/** An enumeration without fields, read as the names of its variants. */
function variant<const N extends string>(...names: readonly N[]): Codec<N | 'unknown'> {
  return {
    type: `enum<${names.join(', ')}>`,
    read: (reader) => names[reader.u8()] ?? 'unknown',
    write: (writer, value) => writer.uint(BigInt(names.indexOf(value as N)), 1)
  }
}

export interface CurveParams {
  readonly curve: 'constant' | 'fixed' | 'linear'
  readonly supply: bigint
  /** Null except for the constant product. */
  readonly totalBaseSell: bigint | null
  readonly totalQuoteFundRaising: bigint
  /** Destination of the migration: 0 for AMM v4, 1 for CPMM. */
  readonly migrateType: number
}

const CURVES = ['constant', 'fixed', 'linear'] as const

const curveParams: Codec<CurveParams> = {
  type: 'curve parameters',
  read(reader: ByteReader) {
    const curve = CURVES[reader.u8()]
    if (curve === undefined) reader.short = true
    return {
      curve: curve ?? 'constant',
      supply: reader.u64(),
      totalBaseSell: curve === 'constant' ? reader.u64() : null,
      totalQuoteFundRaising: reader.u64(),
      migrateType: reader.u8()
    }
  },
  write(writer, value) {
    writer.uint(BigInt(CURVES.indexOf(value.curve)), 1)
    writer.uint(value.supply, 8)
    if (value.curve === 'constant') writer.uint(value.totalBaseSell ?? 0n, 8)
    writer.uint(value.totalQuoteFundRaising, 8)
    writer.uint(BigInt(value.migrateType), 1)
  }
}

const mintParams = struct({ decimals: u8, name: string, symbol: string, uri: string })
const vestingParams = struct({ totalLockedAmount: u64, cliffPeriod: u64, unlockPeriod: u64 })
const ammFeeOn = variant('quoteToken', 'bothToken')
const transferFeeParams = struct({ transferFeeBasisPoints: u16, maximumFee: u64 })

const LAUNCH = { baseMintParam: mintParams, curveParam: curveParams, vestingParam: vestingParams }
const LAUNCH_ACCOUNTS = {
  payer: 0,
  creator: 1,
  platformConfig: 3,
  poolState: 5,
  baseMint: 6,
  quoteMint: 7,
  baseVault: 8,
  quoteVault: 9
}

export const INITIALIZES = [
  instruction('initialize', 'afaf6d1f0d989bed', LAUNCH, LAUNCH_ACCOUNTS),
  instruction('initializeV2', '4399af27da102620', LAUNCH, LAUNCH_ACCOUNTS, { ammFeeOn }),
  instruction(
    'initializeWithToken2022',
    '25be7ede2c9aab11',
    LAUNCH,
    LAUNCH_ACCOUNTS,
    { ammFeeOn },
    { transferFeeExtensionParam: option(transferFeeParams) }
  )
] as const

const EXACT_IN = { amountIn: u64, minimumAmountOut: u64, shareFeeRate: u64 }
const EXACT_OUT = { amountOut: u64, maximumAmountIn: u64, shareFeeRate: u64 }
const TRADE_ACCOUNTS = {
  payer: 0,
  platformConfig: 3,
  poolState: 4,
  userBaseToken: 5,
  userQuoteToken: 6,
  baseVault: 7,
  quoteVault: 8,
  baseTokenMint: 9,
  quoteTokenMint: 10
}

export const buyExactIn = instruction('buyExactIn', 'faea0d7bd59c13ec', EXACT_IN, TRADE_ACCOUNTS)
export const buyExactOut = instruction('buyExactOut', '18d3742869039938', EXACT_OUT, TRADE_ACCOUNTS)
export const sellExactIn = instruction('sellExactIn', '9527de9bd37c981a', EXACT_IN, TRADE_ACCOUNTS)
export const sellExactOut = instruction('sellExactOut', '5fc8472208090ba6', EXACT_OUT, TRADE_ACCOUNTS)
export const TRADES = [buyExactIn, buyExactOut, sellExactIn, sellExactOut] as const

export const migrateToAmm = instruction(
  'migrateToAmm',
  'cf52c091fecf91df',
  { baseLotSize: u64, quoteLotSize: u64, marketVaultSignerNonce: u8 },
  { payer: 0, baseMint: 1, quoteMint: 2, destination: 13, poolState: 23 }
)
/** Takes 28 accounts, or 29 with a permission before the last half: the curve's position counts from the end. */
export const migrateToCpswap = instruction('migrateToCpswap', '885cc8671cda908c', {}, (count) =>
  count < 28 ? null : { payer: 0, baseMint: 1, quoteMint: 2, destination: 5, poolState: count - 11 }
)

/** Fee claims, vesting and settings. */
export const UPKEEP = [
  instruction('claimCreatorFee', '1a618acb84ab8dfc', {}, {}),
  instruction('claimPlatformFee', '9c27d0874ced3d48', {}, {}),
  instruction('claimPlatformFeeFromVault', '75f1c6a8f8da501d', {}, {}),
  instruction('claimVestedToken', '3121681ebd9d4f23', {}, {}),
  instruction('collectFee', '3cadf767045d8230', {}, {}),
  instruction('collectMigrateFee', 'ffba96dfeb76c9ba', {}, {}),
  instruction('createConfig', 'c9cff3724b6f2fbd', {}, {}),
  instruction('updateConfig', '1d9efcbf0a53db63', { param: u8, value: u64 }, {}),
  instruction('createPlatformConfig', 'b05ac4affd71dc14', {}, {}),
  instruction('updatePlatformConfig', 'c33c4c81922d438f', {}, {}),
  instruction('updatePlatformCurveParam', '8a908afadc800439', {}, {}),
  instruction('removePlatformCurveParam', '1b1e3ea95de01891', { index: u8 }, {}),
  instruction('createPlatformGlobalAccess', 'a25b92c75d85eaed', {}, {}),
  instruction('closePlatformGlobalAccess', '7bb4b8816fb9bb3b', {}, {}),
  instruction('createPlatformVestingAccount', '9247ad4562130f6a', {}, {}),
  instruction('createVestingAccount', '81b2020dd9ace6da', { shareAmount: u64 }, {})
] as const

const RESERVES = {
  poolState: pubkey,
  totalBaseSell: u64,
  virtualBase: u64,
  virtualQuote: u64,
  realBaseBefore: u64,
  realQuoteBefore: u64,
  realBaseAfter: u64,
  realQuoteAfter: u64,
  amountIn: u64,
  amountOut: u64,
  protocolFee: u64,
  platformFee: u64
}
const OUTCOME = {
  shareFee: u64,
  tradeDirection: variant('buy', 'sell'),
  poolStatus: variant('fund', 'migrate', 'trade')
}

const TRADE_EVENT = 'bddb7fd34ee661ee'
const newTradeEvent = layout('TradeEvent', TRADE_EVENT, {
  ...RESERVES,
  creatorFee: u64,
  ...OUTCOME,
  exactIn: bool
})
const oldTradeEvent = layout('TradeEvent', TRADE_EVENT, { ...RESERVES, ...OUTCOME })

export type TradeStated = NonNullable<ReturnType<typeof oldTradeEvent.read>>['value'] & {
  readonly creatorFee?: bigint
  readonly exactIn?: boolean
}

/** Has 139 bytes since the creator fee was inserted in the middle, 130 before. The size distinguishes the versions. */
export const tradeEvent: Layout<TradeStated> = {
  name: newTradeEvent.name,
  discriminator: newTradeEvent.discriminator,
  fields: newTradeEvent.fields,
  appended: [],
  read: (bytes, offset) =>
    bytes.length - offset >= 139 ? newTradeEvent.read(bytes, offset) : oldTradeEvent.read(bytes, offset),
  write: ({ creatorFee, exactIn, ...value }) =>
    creatorFee === undefined || exactIn === undefined
      ? oldTradeEvent.write(value)
      : newTradeEvent.write({ ...value, creatorFee, exactIn })
}

export const poolCreateEvent = layout(
  'PoolCreateEvent',
  '97d7e20976a173ae',
  { poolState: pubkey, creator: pubkey, config: pubkey, ...LAUNCH },
  { ammFeeOn }
)

export const OTHER_EVENTS = [
  layout('ClaimVestedEvent', '15c2725778d3e220', {
    poolState: pubkey,
    beneficiary: pubkey,
    claimAmount: u64
  }),
  layout('CreateVestingEvent', '96980bb334d2bf7d', {
    poolState: pubkey,
    beneficiary: pubkey,
    shareAmount: u64
  })
] as const
