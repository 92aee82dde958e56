import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import {
  COMPLETE_EVENTS,
  LAUNCH_EVENTS,
  LAUNCHES,
  migrationDammV2,
  swap2,
  SWAP_2_EVENTS,
  swapEvent
} from '../../../chain/venues/meteora-dbc-layouts.ts'
import {
  buyFromCurve,
  curvePrice,
  isSoldOut,
  LAUNCH_SUPPLY,
  moveCurve,
  newLaunchCurve,
  raisedAtEnd,
  reservesOf,
  sellToCurve,
  type LaunchCurve
} from '../curves/launch-curve.ts'
import { ceilDiv, floorSqrt } from '../curves/integers.ts'
import { programAddress } from '../program-address.ts'
import { SYSTEM, TOKEN } from '../../programs.ts'
import type { AccountUse, CallScript, TransactionScript } from '../script.ts'
import type { Executed, LaunchpadVenue, MarketPool, NewCurve, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import { migrateVaults } from './migration.ts'
import { key, type Caller } from './pool-sides.ts'
import { SelfCall } from './self-call.ts'

// Source: MeteoraAg/dynamic-bonding-curve 0.1.10. Fees are taken of the quote and stay in its vault until claimed. The
// curve has one segment of constant liquidity, which is a product of reserves that it pretends to have.

const PROGRAM = key('dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN')
const AUTHORITY = key('FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM')
const METADATA = key('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
const DAMM_V2 = key('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG')
const CONFIG = programAddress(['config', NATIVE_MINT], PROGRAM)
const CREATE_CONFIG = Uint8Array.fromHex('c9cff3724b6f2fbd')
const events = new SelfCall(PROGRAM)
const [initializeWithSplToken] = LAUNCHES
const [swap2Event] = SWAP_2_EVENTS
const [completeEvent] = COMPLETE_EVENTS
const [launchEvent] = LAUNCH_EVENTS

const DECIMALS = 6
const SUPPLY = LAUNCH_SUPPLY * 10n ** BigInt(DECIMALS)
/** One percent, a fifth of it the protocol's. */
const FEE_BPS = 100n
const ONE = 10_000n
const PROTOCOL_FIFTH = 5n
/** Exact in that may end early, where the curve has no more to sell. */
const PARTIAL_FILL = 1

export interface DbcCurve extends LaunchCurve {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly baseVault: Pubkey
  readonly quoteVault: Pubkey
  readonly creator: Pubkey
  readonly activation: number
  protocolFees: bigint
  partnerFees: bigint
  isMigrated: boolean
}

/** Curves that graduate to pools of the given venue, DAMM v2. */
export function dbcCurves(destination: PoolVenue<MarketPool>): LaunchpadVenue<DbcCurve> {
  return {
    venue: 'meteora-dbc',
    paidIn: 'wrapped-sol',
    launch,
    swap,
    price: curvePrice,
    mintOf: ({ mint }) => mint,
    isComplete: isSoldOut,
    graduate: (script, curve, world) => ({
      venue: destination.venue,
      pool: graduate(script, curve, world, destination)
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
    script.call(PROGRAM, [writes(CONFIG), signs(creator), reads(SYSTEM)], CREATE_CONFIG, (call) =>
      writeConfig(call, curve)
    )
  }
  const accounts = [
    reads(CONFIG),
    reads(AUTHORITY),
    signs(creator),
    { address: mint, signer: true, writable: true },
    reads(NATIVE_MINT),
    writes(address),
    writes(curve.baseVault),
    writes(curve.quoteVault),
    writes(programAddress(['metadata', METADATA, mint], METADATA)),
    reads(METADATA),
    signs(creator),
    reads(TOKEN),
    reads(TOKEN),
    reads(SYSTEM),
    reads(events.authority),
    reads(PROGRAM)
  ]
  script.call(PROGRAM, accounts, initializeWithSplToken.write({ name, symbol, uri }), (call) => {
    call.log('Instruction: InitializeVirtualPoolWithSplToken')
    call.createMint({ address: mint, decimals: DECIMALS, authority: AUTHORITY })
    call.createTokenAccount(curve.baseVault, AUTHORITY, mint)
    call.createTokenAccount(curve.quoteVault, AUTHORITY, NATIVE_MINT)
    call.mintTo({ mint, to: curve.baseVault, authority: AUTHORITY, amount: SUPPLY })
    call.dropMintAuthority(mint, AUTHORITY)
    writeState(call, curve)
    const event = { pool: address, config: CONFIG, creator, baseMint: mint, poolType: 0 }
    events.state(call, launchEvent.write({ ...event, activationPoint: BigInt(call.slot) }))
  })
  return curve
}

function swap(
  script: Caller,
  curve: DbcCurve,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const trade = isBuy ? quoteBuy(curve, amountIn) : quoteSale(curve, amountIn)
  if (trade === null || curve.isMigrated) return null
  const { base, quote, paid, received, fee } = trade
  const { mint, baseVault, quoteVault } = curve
  const userBase = ledger.tokenAccountOf(trader, mint)
  const userQuote = ledger.tokenAccountOf(trader, NATIVE_MINT)
  const accounts = [
    reads(AUTHORITY),
    reads(CONFIG),
    writes(curve.address),
    writes(isBuy ? userQuote : userBase),
    writes(isBuy ? userBase : userQuote),
    writes(baseVault),
    writes(quoteVault),
    reads(mint),
    reads(NATIVE_MINT),
    signs(trader),
    reads(TOKEN),
    reads(TOKEN),
    reads(PROGRAM),
    reads(events.authority),
    reads(PROGRAM)
  ]
  const data = swap2.write({ amount0: amountIn, amount1: 0n, swapMode: PARTIAL_FILL })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: Swap2')
    moveCurve(curve, isBuy ? base : -base, isBuy ? quote : -quote)
    const protocolFee = fee / PROTOCOL_FIFTH
    curve.protocolFees += protocolFee
    curve.partnerFees += fee - protocolFee
    if (isBuy) {
      call.transfer({ mint: NATIVE_MINT, from: userQuote, to: quoteVault, authority: trader, amount: paid })
      call.transfer({ mint, from: baseVault, to: userBase, authority: AUTHORITY, amount: base })
    } else {
      const out = { mint: NATIVE_MINT, from: quoteVault, to: userQuote, authority: AUTHORITY }
      call.transfer({ mint, from: userBase, to: baseVault, authority: trader, amount: base })
      call.transfer({ ...out, amount: received })
    }
    writeState(call, curve)
    stateSwap(call, curve, { isBuy, amountIn, paid, received, fee, protocolFee })
  })
  return { amountIn: paid, amountOut: received }
}

function stateSwap(
  call: CallScript,
  curve: DbcCurve,
  swapped: {
    readonly isBuy: boolean
    readonly amountIn: bigint
    readonly paid: bigint
    readonly received: bigint
    readonly fee: bigint
    readonly protocolFee: bigint
  }
): void {
  const { isBuy, amountIn, paid, received, fee, protocolFee } = swapped
  const currentTimestamp = BigInt(call.blockTime)
  const head = {
    pool: curve.address,
    config: CONFIG,
    tradeDirection: isBuy ? 1 : 0,
    hasReferral: false
  }
  const result = {
    outputAmount: received,
    nextSqrtPrice: sqrtPrice(curve),
    tradingFee: fee - protocolFee,
    protocolFee,
    referralFee: 0n
  }
  const net = isBuy ? paid - fee : paid
  events.state(
    call,
    swapEvent.write({
      ...head,
      params: { amountIn, minimumAmountOut: 0n },
      swapResult: { actualInputAmount: net, ...result },
      amountIn: paid,
      currentTimestamp
    })
  )
  events.state(
    call,
    swap2Event.write({
      ...head,
      swapParameters: { amount0: amountIn, amount1: 0n, swapMode: PARTIAL_FILL },
      swapResult: {
        includedFeeInputAmount: paid,
        excludedFeeInputAmount: net,
        amountLeft: amountIn - paid,
        ...result
      },
      quoteReserveAmount: curve.raised,
      migrationThreshold: raisedAtEnd(curve),
      currentTimestamp
    })
  )
  if (!isSoldOut(curve)) return
  const reserves = { baseReserve: SUPPLY - curve.sold, quoteReserve: curve.raised }
  events.state(call, completeEvent.write({ pool: curve.address, config: CONFIG, ...reserves }))
}

/** Base and quote are the curve's, paid and received the trader's. */
function quoteBuy(curve: DbcCurve, amountIn: bigint) {
  const fee = ceilDiv(amountIn * FEE_BPS, ONE)
  const bought = buyFromCurve(curve, amountIn - fee)
  if (bought === null) return null
  const { base, quote } = bought
  const paid = quote === amountIn - fee ? amountIn : ceilDiv(quote * ONE, ONE - FEE_BPS)
  return { base, quote, paid, received: base, fee: paid - quote }
}

function quoteSale(curve: DbcCurve, amountIn: bigint) {
  const quote = sellToCurve(curve, amountIn)
  if (quote === null) return null
  const fee = ceilDiv(quote * FEE_BPS, ONE)
  return quote <= fee ? null : { base: amountIn, quote, paid: amountIn, received: quote - fee, fee }
}

function graduate(
  script: TransactionScript,
  curve: DbcCurve,
  world: VenueWorld,
  destination: PoolVenue<MarketPool>
): MarketPool {
  const { mint, baseVault, quoteVault } = curve
  // The pool's addresses are known once it is open; they stand in the list then.
  const accounts: AccountUse[] = Array.from({ length: 25 }, () => reads(AUTHORITY))
  const place = (at: number, use: AccountUse): void => void (accounts[at] = use)
  place(0, writes(curve.address))
  place(2, reads(CONFIG))
  place(12, reads(DAMM_V2))
  place(13, reads(mint))
  place(14, reads(NATIVE_MINT))
  place(17, writes(baseVault))
  place(18, writes(quoteVault))
  place(19, signs(script.payer))
  place(20, reads(TOKEN))
  place(21, reads(TOKEN))
  place(23, reads(SYSTEM))
  let pool: MarketPool | null = null
  script.call(PROGRAM, accounts, migrationDammV2.discriminator, (call) => {
    call.log('Instruction: MigrationDammV2')
    pool = migrateVaults(call, curve, AUTHORITY, destination, world)
    place(4, writes(pool.address))
    curve.isMigrated = true
    writeState(call, curve)
  })
  return pool!
}

/** Square root of the price as a fraction of 2^64. */
function sqrtPrice(curve: DbcCurve): bigint {
  const [base, quote] = reservesOf(curve)
  return floorSqrt((quote << 128n) / base)
}

function writeState(call: CallScript, curve: DbcCurve): void {
  const ended = isSoldOut(curve)
  const state = new AccountBytes(424, 'd5e005d16245775c')
    .key(72, CONFIG)
    .key(104, curve.creator)
    .key(136, curve.mint)
    .key(168, curve.baseVault)
    .key(200, curve.quoteVault)
    .u64(232, SUPPLY - curve.sold)
    .u64(240, curve.raised)
    .u64(256, curve.protocolFees)
    .u64(272, curve.partnerFees)
    .u128(280, sqrtPrice(curve))
    .u64(296, BigInt(curve.activation))
    .u8(305, curve.isMigrated ? 1 : 0)
    .u8(308, curve.isMigrated ? 3 : ended ? 1 : 0)
  call.write(curve.address, state.bytes)
}

function writeConfig(call: CallScript, curve: DbcCurve): void {
  call.log('Instruction: CreateConfig')
  const config = new AccountBytes(1048, '1a6c0e7b74e6812b')
    .key(8, NATIVE_MINT)
    .u8(232, 0)
    .u8(233, 1)
    .u8(235, DECIMALS)
    .u64(264, raisedAtEnd(curve))
  call.write(CONFIG, config.bytes)
}
