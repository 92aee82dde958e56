import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import {
  buyExactIn,
  INITIALIZES,
  migrateToCpswap,
  poolCreateEvent,
  sellExactIn,
  tradeEvent
} from '../../../chain/venues/raydium-launchlab-layouts.ts'
import {
  buyFromCurve,
  curvePrice,
  isSoldOut,
  LAUNCH_SUPPLY,
  moveCurve,
  newLaunchCurve,
  raisedAtEnd,
  sellToCurve,
  type LaunchCurve
} from '../curves/launch-curve.ts'
import { ceilDiv } from '../curves/integers.ts'
import { programAddress } from '../program-address.ts'
import { ASSOCIATED_TOKEN, RENT_SYSVAR, SYSTEM, TOKEN } from '../../programs.ts'
import type { AccountUse, CallScript, TransactionScript } from '../script.ts'
import type { Executed, LaunchpadVenue, MarketPool, NewCurve, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import { migrateVaults } from './migration.ts'
import { key, type Caller } from './pool-sides.ts'
import { SelfCall } from './self-call.ts'

// Source: IDL 0.2.0 in raydium-io/raydium-docs. Fees stay in the quote vault until they are claimed.

const PROGRAM = key('LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj')
const AUTHORITY = key('WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh')
const GLOBAL_CONFIG = key('6s1xP3hpbAfFoNtUNF8mfHsjr2Bd97JxFJRWLbL6aHuX')
const PLATFORM_CONFIG = key('FfYek5vEz23cMkWsdJwG2oa6EphsvXSHrGpdALN4g6W1')
const METADATA = key('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
const CPMM = key('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C')
const events = new SelfCall(PROGRAM)
const [, initializeV2] = INITIALIZES

const DECIMALS = 6
const SUPPLY = LAUNCH_SUPPLY * 10n ** BigInt(DECIMALS)
const PROTOCOL_RATE = 2500n
const PLATFORM_RATE = 10_000n
const MILLION = 1_000_000n
const STATUS = { fund: 0, migrate: 1, trade: 2 } as const

export interface LaunchlabCurve extends LaunchCurve {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly baseVault: Pubkey
  readonly quoteVault: Pubkey
  readonly creator: Pubkey
  /** Fees that lie in the quote vault. */
  protocolFees: bigint
  platformFees: bigint
  status: keyof typeof STATUS
}

/** Curves that graduate to pools of the given venue, Raydium's constant product. */
export function launchlabCurves(destination: PoolVenue<MarketPool>): LaunchpadVenue<LaunchlabCurve> {
  return {
    venue: 'raydium-launchlab',
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
  { random }: VenueWorld
): LaunchlabCurve {
  const mint = random.bytes(32)
  const address = programAddress(['pool', mint, NATIVE_MINT], PROGRAM)
  const curve: LaunchlabCurve = {
    ...newLaunchCurve(DECIMALS),
    address,
    mint,
    baseVault: programAddress(['pool_vault', address, mint], PROGRAM),
    quoteVault: programAddress(['pool_vault', address, NATIVE_MINT], PROGRAM),
    creator,
    protocolFees: 0n,
    platformFees: 0n,
    status: 'fund'
  }
  const accounts = [
    signs(creator),
    reads(creator),
    reads(GLOBAL_CONFIG),
    reads(PLATFORM_CONFIG),
    reads(AUTHORITY),
    writes(address),
    { address: mint, signer: true, writable: true },
    reads(NATIVE_MINT),
    writes(curve.baseVault),
    writes(curve.quoteVault),
    writes(programAddress(['metadata', METADATA, mint], METADATA)),
    reads(TOKEN),
    reads(TOKEN),
    reads(METADATA),
    reads(SYSTEM),
    reads(RENT_SYSVAR),
    reads(events.authority),
    reads(PROGRAM)
  ]
  const stated = {
    baseMintParam: { decimals: DECIMALS, name, symbol, uri },
    curveParam: {
      curve: 'constant' as const,
      supply: SUPPLY,
      totalBaseSell: curve.forSale,
      totalQuoteFundRaising: raisedAtEnd(curve),
      migrateType: 1
    },
    vestingParam: { totalLockedAmount: 0n, cliffPeriod: 0n, unlockPeriod: 0n },
    ammFeeOn: 'quoteToken' as const
  }
  script.call(PROGRAM, accounts, initializeV2.write(stated), (call) => {
    call.log('Instruction: InitializeV2')
    call.createMint({ address: mint, decimals: DECIMALS, authority: AUTHORITY })
    call.createTokenAccount(curve.baseVault, AUTHORITY, mint)
    call.createTokenAccount(curve.quoteVault, AUTHORITY, NATIVE_MINT)
    call.mintTo({ mint, to: curve.baseVault, authority: AUTHORITY, amount: SUPPLY })
    call.dropMintAuthority(mint, AUTHORITY)
    writeState(call, curve)
    const event = { poolState: address, creator, config: GLOBAL_CONFIG, ...stated }
    events.state(call, poolCreateEvent.write(event))
  })
  return curve
}

function swap(
  script: Caller,
  curve: LaunchlabCurve,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const trade = isBuy ? quoteBuy(curve, amountIn) : quoteSale(curve, amountIn)
  if (trade === null || curve.status !== 'fund') return null
  const { base, quote, paid, received, protocolFee, platformFee } = trade
  const { mint, baseVault, quoteVault } = curve
  const userBase = ledger.tokenAccountOf(trader, mint)
  const userQuote = ledger.tokenAccountOf(trader, NATIVE_MINT)
  const accounts: AccountUse[] = [
    signs(trader),
    reads(AUTHORITY),
    reads(GLOBAL_CONFIG),
    reads(PLATFORM_CONFIG),
    writes(curve.address),
    writes(userBase),
    writes(userQuote),
    writes(baseVault),
    writes(quoteVault),
    reads(mint),
    reads(NATIVE_MINT),
    reads(TOKEN),
    reads(TOKEN),
    reads(events.authority),
    reads(PROGRAM)
  ]
  const args = { amountIn, minimumAmountOut: 0n, shareFeeRate: 0n }
  const data = isBuy ? buyExactIn.write(args) : sellExactIn.write(args)
  script.call(PROGRAM, accounts, data, (call) => {
    call.log(`Instruction: ${isBuy ? 'BuyExactIn' : 'SellExactIn'}`)
    const before = { realBaseBefore: curve.sold, realQuoteBefore: curve.raised }
    moveCurve(curve, isBuy ? base : -base, isBuy ? quote : -quote)
    curve.protocolFees += protocolFee
    curve.platformFees += platformFee
    if (isSoldOut(curve)) curve.status = 'migrate'
    events.state(
      call,
      tradeEvent.write({
        poolState: curve.address,
        totalBaseSell: curve.forSale,
        virtualBase: curve.virtualBase,
        virtualQuote: curve.virtualQuote,
        ...before,
        realBaseAfter: curve.sold,
        realQuoteAfter: curve.raised,
        amountIn: paid,
        amountOut: received,
        protocolFee,
        platformFee,
        creatorFee: 0n,
        shareFee: 0n,
        tradeDirection: isBuy ? 'buy' : 'sell',
        poolStatus: curve.status,
        exactIn: true
      })
    )
    const baseMove = { mint, amount: base }
    const quoteMove = { mint: NATIVE_MINT, amount: isBuy ? paid : received }
    if (isBuy) {
      call.transfer({ ...quoteMove, from: userQuote, to: quoteVault, authority: trader })
      call.transfer({ ...baseMove, from: baseVault, to: userBase, authority: AUTHORITY })
    } else {
      call.transfer({ ...baseMove, from: userBase, to: baseVault, authority: trader })
      call.transfer({ ...quoteMove, from: quoteVault, to: userQuote, authority: AUTHORITY })
    }
    writeState(call, curve)
  })
  return { amountIn: paid, amountOut: received }
}

/** Base and quote are the curve's, paid and received the trader's. */
function quoteBuy(curve: LaunchlabCurve, amountIn: bigint) {
  const fees = feesOf(amountIn)
  const bought = buyFromCurve(curve, amountIn - fees.protocolFee - fees.platformFee)
  if (bought === null) return null
  const { base, quote } = bought
  if (quote + fees.protocolFee + fees.platformFee === amountIn) {
    return { base, quote, paid: amountIn, received: base, ...fees }
  }
  // The last buy pays for what is left, and the fees of that.
  const gross = ceilDiv(quote * MILLION, MILLION - PROTOCOL_RATE - PLATFORM_RATE)
  const protocolFee = (gross * PROTOCOL_RATE) / MILLION
  return { base, quote, paid: gross, received: base, protocolFee, platformFee: gross - quote - protocolFee }
}

function quoteSale(curve: LaunchlabCurve, amountIn: bigint) {
  const quote = sellToCurve(curve, amountIn)
  if (quote === null) return null
  const fees = feesOf(quote)
  const received = quote - fees.protocolFee - fees.platformFee
  return received <= 0n ? null : { base: amountIn, quote, paid: amountIn, received, ...fees }
}

function feesOf(quote: bigint) {
  return {
    protocolFee: ceilDiv(quote * PROTOCOL_RATE, MILLION),
    platformFee: ceilDiv(quote * PLATFORM_RATE, MILLION)
  }
}

function graduate(
  script: TransactionScript,
  curve: LaunchlabCurve,
  world: VenueWorld,
  destination: PoolVenue<MarketPool>
): MarketPool {
  const { mint, baseVault, quoteVault } = curve
  // The pool's addresses are known once it is open; they stand in the list then.
  const accounts: AccountUse[] = Array.from({ length: 29 }, () => reads(AUTHORITY))
  const place = (at: number, use: AccountUse): void => void (accounts[at] = use)
  place(0, signs(script.payer))
  place(1, reads(mint))
  place(2, reads(NATIVE_MINT))
  place(3, reads(PLATFORM_CONFIG))
  place(4, reads(CPMM))
  place(18, writes(curve.address))
  place(19, reads(GLOBAL_CONFIG))
  place(20, writes(baseVault))
  place(21, writes(quoteVault))
  place(23, reads(TOKEN))
  place(24, reads(TOKEN))
  place(25, reads(ASSOCIATED_TOKEN))
  place(26, reads(SYSTEM))
  place(27, reads(RENT_SYSVAR))
  let pool: MarketPool | null = null
  script.call(PROGRAM, accounts, migrateToCpswap.discriminator, (call) => {
    call.log('Instruction: MigrateToCpswap')
    pool = migrateVaults(call, curve, AUTHORITY, destination, world)
    place(5, writes(pool.address))
    curve.status = 'trade'
    writeState(call, curve)
  })
  return pool!
}

function writeState(call: CallScript, curve: LaunchlabCurve): void {
  const state = new AccountBytes(429, 'f7ede3f5d7c3de46')
    .u8(16, 255)
    .u8(17, STATUS[curve.status])
    .u8(18, DECIMALS)
    .u8(19, 9)
    .u8(20, 1)
    .u64(21, SUPPLY)
    .u64(29, curve.forSale)
    .u64(37, curve.virtualBase)
    .u64(45, curve.virtualQuote)
    .u64(53, curve.sold)
    .u64(61, curve.raised)
    .u64(69, raisedAtEnd(curve))
    .u64(77, curve.protocolFees)
    .u64(85, curve.platformFees)
    .key(141, GLOBAL_CONFIG)
    .key(173, PLATFORM_CONFIG)
    .key(205, curve.mint)
    .key(237, NATIVE_MINT)
    .key(269, curve.baseVault)
    .key(301, curve.quoteVault)
    .key(333, curve.creator)
  call.write(curve.address, state.bytes)
}
