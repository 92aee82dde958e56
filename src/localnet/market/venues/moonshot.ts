import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import {
  buy,
  migrateFunds,
  migrationEvent,
  sell,
  tokenMint,
  tradeEvent
} from '../../../chain/venues/moonshot-layouts.ts'
import {
  buyFromCurve,
  curvePrice,
  isSoldOut,
  LAUNCH_SUPPLY,
  moveCurve,
  newLaunchCurve,
  sellToCurve,
  type LaunchCurve
} from '../curves/launch-curve.ts'
import { ceilDiv } from '../curves/integers.ts'
import { programAddress } from '../program-address.ts'
import { ASSOCIATED_TOKEN, SYSTEM, TOKEN } from '../../programs.ts'
import type { CallScript, TransactionScript } from '../script.ts'
import type { Executed, LaunchpadVenue, MarketPool, NewCurve, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import { key, type Caller } from './pool-sides.ts'

// Source: IDL_V4 of @wen-moon-ser/moonshot-sdk. The curve's account holds the lamports; events stand in the log.

const PROGRAM = key('MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG')
const CONFIG = key('36Eru7v11oU5Pfrojyn5oY3nETA1a1iqsw2WUu6afkM9')
const BACKEND = key('Cb8Fnhp95f9dLxB3sYkNCbN3Mjxuc3v2uQZ7uVeqvNGB')
const DEX_FEE = key('3udvfL24waJcLhskRAsStNMoNUvtyXdxrWQz4hgi953N')
const HELIO_FEE = key('5K5RtTWzzLp4P8Npi84ocf7F1vBsAu29N1irG4iiUnzt')
const METADATA = key('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')

const DECIMALS = 9
const SUPPLY = LAUNCH_SUPPLY * 10n ** BigInt(DECIMALS)
/** One percent, four fifths of it the exchange's and the rest the payment provider's. */
const FEE_BPS = 100n
const ONE = 10_000n
const MIGRATION_FEE = 500_000_000n
const EXACT_IN = 0
/** Constant product, first version; to Raydium. */
const CURVE_TYPE = 1
const TO_RAYDIUM = 0

export interface MoonshotCurve extends LaunchCurve {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly vault: Pubkey
  readonly creator: Pubkey
  /** Tokens that it holds: all, less what was sold; none once migrated. */
  held: bigint
}

/** Curves whose funds go to a migration authority, which opens a pool of the given venue, Raydium's. */
export function moonshotCurves(destination: PoolVenue<MarketPool>): LaunchpadVenue<MoonshotCurve> {
  return {
    venue: 'moonshot',
    paidIn: 'lamports',
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
): MoonshotCurve {
  const mint = random.bytes(32)
  const address = programAddress(['token', mint], PROGRAM)
  const vault = programAddress([address, TOKEN, mint], ASSOCIATED_TOKEN)
  const curve = { ...newLaunchCurve(DECIMALS), address, mint, vault, creator, held: SUPPLY }
  const accounts = [
    signs(creator),
    { address: BACKEND, signer: true },
    writes(address),
    { address: mint, signer: true, writable: true },
    writes(programAddress(['metadata', METADATA, mint], METADATA)),
    writes(vault),
    reads(CONFIG),
    reads(TOKEN),
    reads(ASSOCIATED_TOKEN),
    reads(METADATA),
    reads(SYSTEM)
  ]
  const args = {
    name,
    symbol,
    uri,
    decimals: DECIMALS,
    collateralCurrency: 0,
    amount: SUPPLY,
    curveType: CURVE_TYPE,
    migrationTarget: TO_RAYDIUM
  }
  script.call(PROGRAM, accounts, tokenMint.write(args), (call) => {
    call.log('Instruction: TokenMint')
    call.createMint({ address: mint, decimals: DECIMALS, authority: address })
    writeState(call, curve)
    call.ensureTokenAccount(address, mint)
    call.mintTo({ mint, to: vault, authority: address, amount: SUPPLY })
    call.dropMintAuthority(mint, address)
  })
  return curve
}

function swap(
  script: Caller,
  curve: MoonshotCurve,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const trade = isBuy ? quoteBuy(curve, amountIn) : quoteSale(curve, amountIn)
  if (trade === null) return null
  const { tokens, collateral, fees } = trade
  const helioFee = fees / 5n
  const dexFee = fees - helioFee
  const { mint, vault, address } = curve
  const userTokens = ledger.tokenAccountOf(trader, mint)
  const accounts = [
    signs(trader),
    writes(userTokens),
    writes(address),
    writes(vault),
    writes(DEX_FEE),
    writes(HELIO_FEE),
    reads(mint),
    reads(CONFIG),
    reads(TOKEN),
    reads(ASSOCIATED_TOKEN),
    reads(SYSTEM)
  ]
  const asked = isBuy
    ? { tokenAmount: tokens, collateralAmount: amountIn }
    : { tokenAmount: amountIn, collateralAmount: collateral }
  const args = { ...asked, fixedSide: EXACT_IN, slippageBps: 500n }
  script.call(PROGRAM, accounts, isBuy ? buy.write(args) : sell.write(args), (call) => {
    call.log(`Instruction: ${isBuy ? 'Buy' : 'Sell'}`)
    if (isBuy) {
      call.transfer({ mint, from: vault, to: userTokens, authority: address, amount: tokens })
      call.transferLamports(trader, address, collateral)
      call.transferLamports(trader, DEX_FEE, dexFee)
      call.transferLamports(trader, HELIO_FEE, helioFee)
    } else {
      call.transfer({ mint, from: userTokens, to: vault, authority: trader, amount: tokens })
      call.takeLamports(address, trader, collateral - fees)
      call.takeLamports(address, DEX_FEE, dexFee)
      call.takeLamports(address, HELIO_FEE, helioFee)
    }
    moveCurve(curve, isBuy ? tokens : -tokens, isBuy ? collateral : -collateral)
    curve.held = SUPPLY - curve.sold
    writeState(call, curve)
    call.logData(
      tradeEvent.write({
        amount: tokens,
        collateralAmount: collateral,
        dexFee,
        helioFee,
        allocation: curve.held,
        curve: address,
        costToken: NATIVE_MINT,
        sender: trader,
        type: isBuy ? 0 : 1,
        label: isBuy ? 'buy' : 'sell'
      })
    )
  })
  return isBuy
    ? { amountIn: collateral + fees, amountOut: tokens }
    : { amountIn: tokens, amountOut: collateral - fees }
}

function quoteBuy(curve: MoonshotCurve, amountIn: bigint) {
  const spent = (amountIn * ONE) / (ONE + FEE_BPS)
  const bought = buyFromCurve(curve, spent)
  if (bought === null) return null
  const fees = (bought.quote * FEE_BPS) / ONE
  return { tokens: bought.base, collateral: bought.quote, fees }
}

function quoteSale(curve: MoonshotCurve, amountIn: bigint) {
  const collateral = sellToCurve(curve, amountIn)
  if (collateral === null) return null
  const fees = ceilDiv(collateral * FEE_BPS, ONE)
  return collateral <= fees ? null : { tokens: amountIn, collateral, fees }
}

/** The payer is the migration authority: it takes the funds and opens the pool. */
function graduate(
  script: TransactionScript,
  curve: MoonshotCurve,
  world: VenueWorld,
  destination: PoolVenue<MarketPool>
): MarketPool {
  const { payer } = script
  const { address, mint, vault } = curve
  const tokens = curve.held
  const collateral = curve.raised - MIGRATION_FEE
  const authorityTokens = script.ensureTokenAccount(payer, mint)
  const accounts = [
    { address: BACKEND, signer: true },
    signs(payer),
    writes(address),
    writes(vault),
    writes(authorityTokens),
    reads(mint),
    writes(DEX_FEE),
    writes(HELIO_FEE),
    reads(CONFIG),
    reads(SYSTEM),
    reads(TOKEN),
    reads(ASSOCIATED_TOKEN)
  ]
  script.call(PROGRAM, accounts, migrateFunds.discriminator, (call) => {
    call.log('Instruction: MigrateFunds')
    call.transfer({ mint, from: vault, to: authorityTokens, authority: address, amount: tokens })
    call.takeLamports(address, payer, collateral)
    call.takeLamports(address, DEX_FEE, MIGRATION_FEE)
    curve.held = 0n
    writeState(call, curve)
    const moved = { tokensMigrated: tokens, tokensBurned: 0n, collateralMigrated: collateral }
    call.logData(migrationEvent.write({ ...moved, fee: MIGRATION_FEE, label: 'migrate' }))
  })
  script.wrap(payer, collateral)
  const opening = { creator: payer, base: mint, quote: NATIVE_MINT }
  return destination.open(script, { ...opening, baseAmount: tokens, quoteAmount: collateral }, world)
}

function writeState(call: CallScript, curve: MoonshotCurve): void {
  const state = new AccountBytes(84, '085b531c84d8f816')
    .u64(8, SUPPLY)
    .u64(16, curve.held)
    .key(24, curve.mint)
    .u8(56, DECIMALS)
    .u8(58, CURVE_TYPE)
    .u64(59, 432_500_000_000n)
    .u64(68, MIGRATION_FEE)
    .u8(80, 255)
    .u8(81, TO_RAYDIUM)
  call.write(curve.address, state.bytes)
}
