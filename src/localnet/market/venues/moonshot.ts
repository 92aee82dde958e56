import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import {
  buyFromCurve,
  LAUNCH_SUPPLY,
  moveCurve,
  newLaunchCurve,
  sellToCurve,
  type LaunchCurve
} from '../curves/launch-curve.ts'
import { ceilDiv } from '../curves/integers.ts'
import { programAddress } from '../../../signing/program-address.ts'
import { ASSOCIATED_TOKEN, TOKEN } from '../../programs.ts'
import type { CallScript, TransactionScript } from '../script.ts'
import type { Executed, LaunchpadVenue, MarketPool, NewCurve, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { METADATA, exchangeForLamports, launchpad } from './launchpad.ts'
import { key, type Caller } from './pool-sides.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: IDL_V4 of @wen-moon-ser/moonshot-sdk. The curve's account holds the lamports; events are in the log.

const DEX_FEE = key('3udvfL24waJcLhskRAsStNMoNUvtyXdxrWQz4hgi953N')
const HELIO_FEE = key('5K5RtTWzzLp4P8Npi84ocf7F1vBsAu29N1irG4iiUnzt')

const program = new Program(key('MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG'), 'log', {
  config: key('36Eru7v11oU5Pfrojyn5oY3nETA1a1iqsw2WUu6afkM9'),
  backend: key('Cb8Fnhp95f9dLxB3sYkNCbN3Mjxuc3v2uQZ7uVeqvNGB'),
  dexFee: DEX_FEE,
  helioFee: HELIO_FEE,
  metadataProgram: METADATA
})
const tokenMint = program.instruction(
  'TokenMint',
  '032ca4b87b0df5b3',
  `name:string symbol:string uri:string decimals:u8 collateralCurrency?:u8 amount:u64 curveType:u8
  migrationTarget:u8`,
  `creator! backend+ curve* mint! metadata* vault* config token associatedToken metadataProgram system`
)
// For an exact input the fixed side is 0.
const TRADE_ARGS = 'tokenAmount:u64 collateralAmount:u64 fixedSide?:u8 slippageBps:u64'
const TRADE_ACCOUNTS =
  'trader! userTokens* curve* vault* dexFee* helioFee* mint config token associatedToken system'
const buy = program.instruction('Buy', '66063d1201daebea', TRADE_ARGS, TRADE_ACCOUNTS)
const sell = program.instruction('Sell', '33e685a4017f83ad', TRADE_ARGS, TRADE_ACCOUNTS)
const migrateFunds = program.instruction(
  'MigrateFunds',
  '2ae50ae7bd3ec1ae',
  '',
  `backend+ payer! curve* vault* payerTokens* mint dexFee* helioFee* config system token associatedToken`
)
const tradeEvent = program.event(
  'bddb7fd34ee661ee',
  `amount:u64 collateralAmount:u64 dexFee:u64 helioFee:u64 allocation:u64 curve:pubkey costToken:pubkey
  sender:pubkey type:u8 label:string`
)
const migrationEvent = program.event(
  'ffca4c935be74916',
  'tokensMigrated:u64 tokensBurned?:u64 collateralMigrated:u64 fee:u64 label:string'
)

const curveAccount = account(
  84,
  '085b531c84d8f816',
  `supply:u64@8 held:u64@16 mint:pubkey@24 decimals:u8@56 curveType:u8@58 threshold:u64@59
  migrationFee:u64@68 bump:u8@80 migrationTarget:u8@81`
)

const DECIMALS = 9
const SUPPLY = LAUNCH_SUPPLY * 10n ** BigInt(DECIMALS)
/** One percent, four fifths of it the exchange's and the rest the payment provider's. */
const FEE_BPS = 100n
const ONE = 10_000n
const MIGRATION_FEE = 500_000_000n
/** Tags of the constant product's first version, and of Raydium as destination. */
const CURVE_TYPE = 1
const TO_RAYDIUM = 0

export interface MoonshotCurve extends LaunchCurve {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly vault: Pubkey
  readonly creator: Pubkey
  /** Tokens in its vault: the supply less the sold ones; zero once migrated. */
  held: bigint
}

/** Returns curves whose funds go to a migration authority, which opens a pool of the given venue, Raydium's. */
export function moonshotCurves(destination: PoolVenue<MarketPool>): LaunchpadVenue<MoonshotCurve> {
  return launchpad<MoonshotCurve>(
    {
      venue: 'moonshot',
      paidIn: 'lamports',
      launch,
      swap,
      migrate: (script, curve, world) => migrate(script, curve, destination, world)
    },
    destination
  )
}

function launch(
  script: TransactionScript,
  { creator, name, symbol, uri }: NewCurve,
  { random }: VenueWorld
): MoonshotCurve {
  const mint = random.bytes(32)
  const address = programAddress(['token', mint], program.address)
  const vault = programAddress([address, TOKEN, mint], ASSOCIATED_TOKEN)
  const curve = { ...newLaunchCurve(DECIMALS), address, mint, vault, creator, held: SUPPLY }
  const metadata = programAddress(['metadata', METADATA, mint], METADATA)
  const args = {
    name,
    symbol,
    uri,
    decimals: DECIMALS,
    amount: SUPPLY,
    curveType: CURVE_TYPE,
    migrationTarget: TO_RAYDIUM
  }
  tokenMint.call(script, { ...curve, curve: address, metadata }, args, (call) => {
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
  const { tokens, lamports, fees } = trade
  const helioFee = fees / 5n
  const dexFee = fees - helioFee
  const { address } = curve
  const user = { trader, userTokens: ledger.tokenAccountOf(trader, curve.mint), isBuy }
  const [tokenAmount, collateralAmount] = isBuy ? [tokens, amountIn] : [amountIn, lamports]
  const args = { tokenAmount, collateralAmount, slippageBps: 500n }
  const instruction = isBuy ? buy : sell
  instruction.call(script, { ...curve, ...user, curve: address }, args, (call) => {
    exchangeForLamports(call, curve, user, trade, [
      [DEX_FEE, dexFee],
      [HELIO_FEE, helioFee]
    ])
    moveCurve(curve, isBuy ? tokens : -tokens, isBuy ? lamports : -lamports)
    curve.held = SUPPLY - curve.sold
    writeState(call, curve)
    tradeEvent.emit(call, {
      amount: tokens,
      collateralAmount: lamports,
      dexFee,
      helioFee,
      allocation: curve.held,
      curve: address,
      costToken: NATIVE_MINT,
      sender: trader,
      type: isBuy ? 0 : 1,
      label: isBuy ? 'buy' : 'sell'
    })
  })
  return isBuy
    ? { amountIn: lamports + fees, amountOut: tokens }
    : { amountIn: tokens, amountOut: lamports - fees }
}

function quoteBuy(curve: MoonshotCurve, amountIn: bigint) {
  const bought = buyFromCurve(curve, (amountIn * ONE) / (ONE + FEE_BPS))
  if (bought === null) return null
  return { tokens: bought.base, lamports: bought.quote, fees: (bought.quote * FEE_BPS) / ONE }
}

function quoteSale(curve: MoonshotCurve, amountIn: bigint) {
  const lamports = sellToCurve(curve, amountIn)
  if (lamports === null) return null
  const fees = ceilDiv(lamports * FEE_BPS, ONE)
  return lamports <= fees ? null : { tokens: amountIn, lamports, fees }
}

/** Migrates a curve. The payer is the migration authority: it takes the funds and opens the pool. */
function migrate(
  script: TransactionScript,
  curve: MoonshotCurve,
  destination: PoolVenue<MarketPool>,
  world: VenueWorld
): MarketPool {
  const { payer } = script
  const { address, mint, vault } = curve
  const tokens = curve.held
  const collateral = curve.raised - MIGRATION_FEE
  const payerTokens = script.ensureTokenAccount(payer, mint)
  migrateFunds.call(script, { ...curve, curve: address, payer, payerTokens }, {}, (call) => {
    call.transfer({ mint, from: vault, to: payerTokens, authority: address, amount: tokens })
    call.takeLamports(address, payer, collateral)
    call.takeLamports(address, DEX_FEE, MIGRATION_FEE)
    curve.held = 0n
    writeState(call, curve)
    const moved = { tokensMigrated: tokens, collateralMigrated: collateral }
    migrationEvent.emit(call, { ...moved, fee: MIGRATION_FEE, label: 'migrate' })
  })
  script.wrap(payer, collateral)
  const opening = { creator: payer, base: mint, quote: NATIVE_MINT }
  return destination.open(script, { ...opening, baseAmount: tokens, quoteAmount: collateral }, world)
}

function writeState(call: CallScript, curve: MoonshotCurve): void {
  const stated = {
    ...curve,
    supply: SUPPLY,
    decimals: DECIMALS,
    curveType: CURVE_TYPE,
    threshold: 432_500_000_000n,
    migrationFee: MIGRATION_FEE,
    bump: 255,
    migrationTarget: TO_RAYDIUM
  }
  call.write(curve.address, curveAccount(stated))
}
