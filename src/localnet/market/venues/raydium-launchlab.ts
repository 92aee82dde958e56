import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import {
  buyFromCurve,
  isSoldOut,
  LAUNCH_SUPPLY,
  moveCurve,
  newLaunchCurve,
  raisedAtEnd,
  sellToCurve
} from '../curves/launch-curve.ts'
import { ceilDiv } from '../curves/integers.ts'
import { programAddress } from '../../../signing/program-address.ts'
import type { CallScript, TransactionScript } from '../script.ts'
import type { LaunchpadVenue, MarketPool, NewCurve, PoolVenue, VenueWorld } from '../venue.ts'
import {
  METADATA,
  curveSides,
  launchpad,
  migrateVaults,
  mintIntoVault,
  type VaultedCurve
} from './launchpad.ts'
import { key, type Caller } from './pool-sides.ts'
import { exchange, swapOf, type SwapRoute, type Swapped } from './pool-swap.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: IDL 0.2.0 in raydium-io/raydium-docs. Fees stay in the quote vault until they are claimed.

const AUTHORITY = key('WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh')
const GLOBAL_CONFIG = key('6s1xP3hpbAfFoNtUNF8mfHsjr2Bd97JxFJRWLbL6aHuX')
const PLATFORM_CONFIG = key('FfYek5vEz23cMkWsdJwG2oa6EphsvXSHrGpdALN4g6W1')

const program = new Program(key('LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj'), 'self-call', {
  authority: AUTHORITY,
  globalConfig: GLOBAL_CONFIG,
  platformConfig: PLATFORM_CONFIG,
  metadataProgram: METADATA,
  nativeMint: NATIVE_MINT,
  cpmm: key('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C')
})
// Tag 0 means a constant product curve, and fees in the quote.
const LAUNCH = `decimals:u8 name:string symbol:string uri:string curve?:u8 supply:u64 totalBaseSell:u64
  totalQuoteFundRaising:u64 migrateType:u8 totalLockedAmount?:u64 cliffPeriod?:u64 unlockPeriod?:u64
  ammFeeOn?:u8`
const initializeV2 = program.instruction(
  'InitializeV2',
  '4399af27da102620',
  LAUNCH,
  `creator! creator globalConfig platformConfig authority pool* mint! nativeMint baseVault* quoteVault*
  metadata* token token metadataProgram system rent eventAuthority program`
)
const SWAP_ARGS = 'amountIn:u64 minimumAmountOut?:u64 shareFeeRate?:u64'
const SWAP_ACCOUNTS = `trader! authority globalConfig platformConfig pool* users* baseVault* quoteVault* mint
  nativeMint token token eventAuthority program`
const buyExactIn = program.instruction('BuyExactIn', 'faea0d7bd59c13ec', SWAP_ARGS, SWAP_ACCOUNTS)
const sellExactIn = program.instruction('SellExactIn', '9527de9bd37c981a', SWAP_ARGS, SWAP_ACCOUNTS)
// Only the new pool's address is named; the authority fills the places of its other accounts.
const migrateToCpswap = program.instruction(
  'MigrateToCpswap',
  '885cc8671cda908c',
  '',
  `payer! mint nativeMint platformConfig cpmm opened* authority authority authority authority authority
  authority authority authority authority authority authority authority pool* globalConfig baseVault*
  quoteVault* authority token token associatedToken system rent authority`
)
const poolCreateEvent = program.event(
  '97d7e20976a173ae',
  `poolState:pubkey creator:pubkey config:pubkey ${LAUNCH}`
)
const tradeEvent = program.event(
  'bddb7fd34ee661ee',
  `poolState:pubkey totalBaseSell:u64 virtualBase:u64 virtualQuote:u64 realBaseBefore:u64
  realQuoteBefore:u64 realBaseAfter:u64 realQuoteAfter:u64 amountIn:u64 amountOut:u64 protocolFee:u64
  platformFee:u64 creatorFee?:u64 shareFee?:u64 tradeDirection:u8 poolStatus:u8 exactIn:bool`
)

const curveAccount = account(
  429,
  'f7ede3f5d7c3de46',
  `bump:u8@16 status:u8@17 decimals:u8@18 quoteDecimals:u8@19 migrateType:u8@20 supply:u64@21
  forSale:u64@29 virtualBase:u64@37 virtualQuote:u64@45 sold:u64@53 raised:u64@61 raisedAtEnd:u64@69
  protocolFees:u64@77 platformFees:u64@85 globalConfig:pubkey@141 platformConfig:pubkey@173 mint:pubkey@205
  quoteMint:pubkey@237 baseVault:pubkey@269 quoteVault:pubkey@301 creator:pubkey@333`
)

const DECIMALS = 6
const SUPPLY = LAUNCH_SUPPLY * 10n ** BigInt(DECIMALS)
const PROTOCOL_RATE = 2500n
const PLATFORM_RATE = 10_000n
const MILLION = 1_000_000n
const TO_CPMM = 1
const STATUS = { fund: 0, migrate: 1, trade: 2 } as const

export interface LaunchlabCurve extends VaultedCurve {
  /** Fees in the quote vault. */
  protocolFees: bigint
  platformFees: bigint
  status: keyof typeof STATUS
}

/** Returns curves that graduate to pools of the given venue, Raydium's constant product. */
export function launchlabCurves(destination: PoolVenue<MarketPool>): LaunchpadVenue<LaunchlabCurve> {
  const own = { venue: 'raydium-launchlab', paidIn: 'wrapped-sol', launch, migrate } as const
  return launchpad<LaunchlabCurve>({ ...own, swap: swapOf(curveSides, quoteSwap, writeSwap) }, destination)

  function migrate(script: TransactionScript, curve: LaunchlabCurve, world: VenueWorld): MarketPool {
    return migrateVaults(script, migrateToCpswap, curve, AUTHORITY, destination, world, (call) => {
      curve.status = 'trade'
      writeState(call, curve)
    })
  }
}

function launch(
  script: TransactionScript,
  { creator, name, symbol, uri }: NewCurve,
  { random }: VenueWorld
): LaunchlabCurve {
  const mint = random.bytes(32)
  const address = programAddress(['pool', mint, NATIVE_MINT], program.address)
  const curve: LaunchlabCurve = {
    ...newLaunchCurve(DECIMALS),
    address,
    mint,
    baseVault: programAddress(['pool_vault', address, mint], program.address),
    quoteVault: programAddress(['pool_vault', address, NATIVE_MINT], program.address),
    creator,
    protocolFees: 0n,
    platformFees: 0n,
    status: 'fund'
  }
  const terms = {
    decimals: DECIMALS,
    name,
    symbol,
    uri,
    supply: SUPPLY,
    totalBaseSell: curve.forSale,
    totalQuoteFundRaising: raisedAtEnd(curve),
    migrateType: TO_CPMM
  }
  const metadata = programAddress(['metadata', METADATA, mint], METADATA)
  initializeV2.call(script, { ...curve, pool: address, metadata }, terms, (call) => {
    mintIntoVault(call, curve, AUTHORITY, DECIMALS, SUPPLY)
    writeState(call, curve)
    poolCreateEvent.emit(call, { poolState: address, creator, config: GLOBAL_CONFIG, ...terms })
  })
  return curve
}

/** Quotes a swap: base and quote are the curve's amounts, amountIn and amountOut the trader's. */
function quoteSwap(curve: LaunchlabCurve, { from }: SwapRoute, offered: bigint) {
  if (curve.status !== 'fund') return null
  if (from === 1) return quoteBuy(curve, offered)
  const quote = sellToCurve(curve, offered)
  if (quote === null) return null
  const fees = feesOf(quote)
  const amountOut = quote - fees.protocolFee - fees.platformFee
  return { base: -offered, quote: -quote, amountIn: offered, amountOut, offered, ...fees }
}

function quoteBuy(curve: LaunchlabCurve, offered: bigint) {
  const fees = feesOf(offered)
  const spent = offered - fees.protocolFee - fees.platformFee
  const bought = buyFromCurve(curve, spent)
  if (bought === null) return null
  const { base, quote } = bought
  if (quote === spent) return { base, quote, amountIn: offered, amountOut: base, offered, ...fees }
  // The last buy pays for the remaining tokens and the fees on them.
  const amountIn = ceilDiv(quote * MILLION, MILLION - PROTOCOL_RATE - PLATFORM_RATE)
  const protocolFee = (amountIn * PROTOCOL_RATE) / MILLION
  const platformFee = amountIn - quote - protocolFee
  return { base, quote, amountIn, amountOut: base, offered, protocolFee, platformFee }
}

function feesOf(quote: bigint) {
  return {
    protocolFee: ceilDiv(quote * PROTOCOL_RATE, MILLION),
    platformFee: ceilDiv(quote * PLATFORM_RATE, MILLION)
  }
}

function writeSwap(
  script: Caller,
  curve: LaunchlabCurve,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>
): void {
  const { base, quote, amountIn, amountOut, offered, protocolFee, platformFee } = swapped
  const isBuy = route.from === 1
  const instruction = isBuy ? buyExactIn : sellExactIn
  instruction.call(script, { ...curve, ...route }, { amountIn: offered }, (call) => {
    const before = { realBaseBefore: curve.sold, realQuoteBefore: curve.raised }
    moveCurve(curve, base, quote)
    curve.protocolFees += protocolFee
    curve.platformFees += platformFee
    if (isSoldOut(curve)) curve.status = 'migrate'
    tradeEvent.emit(call, {
      ...before,
      poolState: curve.address,
      totalBaseSell: curve.forSale,
      virtualBase: curve.virtualBase,
      virtualQuote: curve.virtualQuote,
      realBaseAfter: curve.sold,
      realQuoteAfter: curve.raised,
      amountIn,
      amountOut,
      protocolFee,
      platformFee,
      tradeDirection: isBuy ? 0 : 1,
      poolStatus: STATUS[curve.status],
      exactIn: true
    })
    exchange(call, route, AUTHORITY, swapped)
    writeState(call, curve)
  })
}

function writeState(call: CallScript, curve: LaunchlabCurve): void {
  const stated = {
    ...curve,
    bump: 255,
    status: STATUS[curve.status],
    decimals: DECIMALS,
    quoteDecimals: 9,
    migrateType: TO_CPMM,
    supply: SUPPLY,
    raisedAtEnd: raisedAtEnd(curve),
    globalConfig: GLOBAL_CONFIG,
    platformConfig: PLATFORM_CONFIG,
    quoteMint: NATIVE_MINT
  }
  call.write(curve.address, curveAccount(stated))
}
