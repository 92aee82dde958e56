import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import {
  buyFromCurve,
  isSoldOut,
  LAUNCH_SUPPLY,
  moveCurve,
  newLaunchCurve,
  raisedAtEnd,
  reservesOf,
  sellToCurve
} from '../curves/launch-curve.ts'
import { ceilDiv, floorSqrt } from '../curves/integers.ts'
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

// Source: MeteoraAg/dynamic-bonding-curve 0.1.10. Fees are on the quote and stay in its vault until claimed. The curve
// has one segment of constant liquidity, which is a product of virtual reserves.

const PROGRAM = key('dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN')
const AUTHORITY = key('FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM')
const CONFIG = programAddress(['config', NATIVE_MINT], PROGRAM)

const program = new Program(PROGRAM, 'self-call', {
  authority: AUTHORITY,
  config: CONFIG,
  metadataProgram: METADATA,
  nativeMint: NATIVE_MINT,
  dammV2: key('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG')
})
const createConfig = program.instruction('CreateConfig', 'c9cff3724b6f2fbd', '', 'config* creator! system')
const initializeVirtualPool = program.instruction(
  'InitializeVirtualPoolWithSplToken',
  '8c55d7b06636684f',
  'name:string symbol:string uri:string',
  `config authority creator! mint! nativeMint pool* baseVault* quoteVault* metadata* metadataProgram creator!
  token token system eventAuthority program`
)
// Without a referral its account is the program's own address.
const swap2 = program.instruction(
  'Swap2',
  '414b3f4ceb5b5b88',
  'amount0:u64 amount1?:u64 swapMode:u8',
  `authority config pool* userIn* userOut* baseVault* quoteVault* mint nativeMint trader! token token program
  eventAuthority program`
)
// Only the new pool's address is named; the authority fills the places of its other accounts.
const migrationDammV2 = program.instruction(
  'MigrationDammV2',
  '9ca9e66735e45040',
  '',
  `pool* authority config authority opened* authority authority authority authority authority authority
  authority dammV2 mint nativeMint authority authority baseVault* quoteVault* payer! token token authority
  system authority`
)
const launchEvent = program.event(
  'e432f655cb428625',
  'pool:pubkey config:pubkey creator:pubkey baseMint:pubkey poolType?:u8 activationPoint:u64'
)
const HEAD = 'pool:pubkey config:pubkey tradeDirection:u8 hasReferral?:bool'
const RESULT = `outputAmount:u64 nextSqrtPrice:u128 tradingFee:u64 protocolFee:u64 referralFee?:u64`
const swapEvent = program.event(
  '1b3c15d58aaabb93',
  `${HEAD} offered:u64 minimumAmountOut?:u64 actualInputAmount:u64 ${RESULT} amountIn:u64
  currentTimestamp:u64`
)
const swap2Event = program.event(
  'bd4233a826507599',
  `${HEAD} amount0:u64 amount1?:u64 swapMode:u8 includedFeeInputAmount:u64 excludedFeeInputAmount:u64
  amountLeft:u64 ${RESULT} quoteReserveAmount:u64 migrationThreshold:u64 currentTimestamp:u64`
)
const completeEvent = program.event(
  'e5e756549c864b18',
  'pool:pubkey config:pubkey baseReserve:u64 quoteReserve:u64'
)
const curveAccount = account(
  424,
  'd5e005d16245775c',
  `config:pubkey@72 creator:pubkey@104 mint:pubkey@136 baseVault:pubkey@168 quoteVault:pubkey@200
  baseReserve:u64@232 raised:u64@240 protocolFees:u64@256 partnerFees:u64@272 sqrtPrice:u128@280
  activation:u64@296 isMigrated:bool@305 progress:u8@308`
)
const configAccount = account(
  1048,
  '1a6c0e7b74e6812b',
  `quoteMint:pubkey@8 migrationOption:u8@233 decimals:u8@235 raised:u64@264`
)

/** Tag of the venue that the curve migrates to, in its configuration. */
const TO_DAMM_V2 = 1
const DECIMALS = 6
const SUPPLY = LAUNCH_SUPPLY * 10n ** BigInt(DECIMALS)
/** One percent, a fifth of which is the protocol's. */
const FEE_BPS = 100n
const ONE = 10_000n
const PROTOCOL_FIFTH = 5n
/** Exact in, filled partially if the curve has no more to sell. */
const PARTIAL_FILL = 1

export interface DbcCurve extends VaultedCurve {
  readonly activation: number
  protocolFees: bigint
  partnerFees: bigint
  isMigrated: boolean
}

/** Returns curves that graduate to pools of the given venue, DAMM v2. */
export function dbcCurves(destination: PoolVenue<MarketPool>): LaunchpadVenue<DbcCurve> {
  const own = { venue: 'meteora-dbc', paidIn: 'wrapped-sol', launch, migrate } as const
  return launchpad<DbcCurve>({ ...own, swap: swapOf(curveSides, quoteSwap, writeSwap) }, destination)

  function migrate(script: TransactionScript, curve: DbcCurve, world: VenueWorld): MarketPool {
    return migrateVaults(script, migrationDammV2, curve, AUTHORITY, destination, world, (call) => {
      curve.isMigrated = true
      writeState(call, curve)
    })
  }
}

function launch(
  script: TransactionScript,
  { creator, name, symbol, uri }: NewCurve,
  { ledger, random }: VenueWorld
): DbcCurve {
  const mint = random.bytes(32)
  const address = programAddress(['pool', CONFIG, mint, NATIVE_MINT], PROGRAM)
  const curve: DbcCurve = {
    ...newLaunchCurve(DECIMALS),
    address,
    mint,
    baseVault: programAddress(['token_vault', mint, address], PROGRAM),
    quoteVault: programAddress(['token_vault', NATIVE_MINT, address], PROGRAM),
    creator,
    activation: script.slot,
    protocolFees: 0n,
    partnerFees: 0n,
    isMigrated: false
  }
  if (ledger.data(CONFIG) === null) {
    createConfig.call(script, { creator }, {}, (call) => writeConfig(call, curve))
  }
  const metadata = programAddress(['metadata', METADATA, mint], METADATA)
  const addresses = { ...curve, pool: address, metadata }
  initializeVirtualPool.call(script, addresses, { name, symbol, uri }, (call) => {
    mintIntoVault(call, curve, AUTHORITY, DECIMALS, SUPPLY)
    writeState(call, curve)
    const named = { pool: address, config: CONFIG, creator, baseMint: mint }
    launchEvent.emit(call, { ...named, activationPoint: BigInt(call.slot) })
  })
  return curve
}

/** Quotes a swap: base and quote are the curve's amounts, amountIn and amountOut the trader's. */
function quoteSwap(curve: DbcCurve, { from }: SwapRoute, offered: bigint) {
  if (curve.isMigrated) return null
  if (from === 1) {
    const spent = offered - ceilDiv(offered * FEE_BPS, ONE)
    const bought = buyFromCurve(curve, spent)
    if (bought === null) return null
    const { base, quote } = bought
    const amountIn = quote === spent ? offered : ceilDiv(quote * ONE, ONE - FEE_BPS)
    return { base, quote, amountIn, amountOut: base, fee: amountIn - quote, offered }
  }
  const quote = sellToCurve(curve, offered)
  if (quote === null) return null
  const fee = ceilDiv(quote * FEE_BPS, ONE)
  return { base: -offered, quote: -quote, amountIn: offered, amountOut: quote - fee, fee, offered }
}

function writeSwap(
  script: Caller,
  curve: DbcCurve,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>
): void {
  const { base, quote, fee, offered } = swapped
  const addresses = { ...curve, ...route }
  swap2.call(script, addresses, { amount0: offered, swapMode: PARTIAL_FILL }, (call) => {
    moveCurve(curve, base, quote)
    const protocolFee = fee / PROTOCOL_FIFTH
    curve.protocolFees += protocolFee
    curve.partnerFees += fee - protocolFee
    exchange(call, route, AUTHORITY, swapped)
    writeState(call, curve)
    emitSwap(call, curve, route, swapped, protocolFee)
  })
}

function emitSwap(
  call: CallScript,
  curve: DbcCurve,
  { from }: SwapRoute,
  { amountIn, amountOut, fee, offered }: Swapped<typeof quoteSwap>,
  protocolFee: bigint
): void {
  const net = from === 1 ? amountIn - fee : amountIn
  const stated = {
    pool: curve.address,
    config: CONFIG,
    tradeDirection: from,
    outputAmount: amountOut,
    nextSqrtPrice: sqrtPrice(curve),
    tradingFee: fee - protocolFee,
    protocolFee,
    currentTimestamp: BigInt(call.blockTime)
  }
  swapEvent.emit(call, { ...stated, offered, actualInputAmount: net, amountIn })
  swap2Event.emit(call, {
    ...stated,
    amount0: offered,
    swapMode: PARTIAL_FILL,
    includedFeeInputAmount: amountIn,
    excludedFeeInputAmount: net,
    amountLeft: offered - amountIn,
    quoteReserveAmount: curve.raised,
    migrationThreshold: raisedAtEnd(curve)
  })
  if (!isSoldOut(curve)) return
  const reserves = { baseReserve: SUPPLY - curve.sold, quoteReserve: curve.raised }
  completeEvent.emit(call, { pool: curve.address, config: CONFIG, ...reserves })
}

/** Returns the square root of the price as a fraction of 2^64. */
function sqrtPrice(curve: DbcCurve): bigint {
  const [base, quote] = reservesOf(curve)
  return floorSqrt((quote << 128n) / base)
}

function writeState(call: CallScript, curve: DbcCurve): void {
  const stated = {
    ...curve,
    config: CONFIG,
    baseReserve: SUPPLY - curve.sold,
    sqrtPrice: sqrtPrice(curve),
    activation: BigInt(curve.activation),
    progress: curve.isMigrated ? 3 : isSoldOut(curve) ? 1 : 0
  }
  call.write(curve.address, curveAccount(stated))
}

function writeConfig(call: CallScript, curve: DbcCurve): void {
  const stated = {
    quoteMint: NATIVE_MINT,
    migrationOption: TO_DAMM_V2,
    decimals: DECIMALS,
    raised: raisedAtEnd(curve)
  }
  call.write(CONFIG, configAccount(stated))
}
