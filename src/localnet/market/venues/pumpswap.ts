import type { Pubkey } from '../../../chain/pubkey.ts'
import { buyEvent, sellEvent } from '../../../chain/venues/pumpswap-events.ts'
import { buyExactQuoteIn, sell } from '../../../chain/venues/pumpswap-instructions.ts'
import { productOut } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { programAddress } from '../program-address.ts'
import { ASSOCIATED_TOKEN, SYSTEM } from '../../programs.ts'
import type { AccountUse, CallScript, LedgerView } from '../script.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { reads, signs, writes } from './account-uses.ts'
import { key, type Caller } from './pool-sides.ts'
import { changePumpswapLiquidity, openPumpswap } from './pumpswap-liquidity.ts'
import {
  CREATOR_BPS,
  FEE_RECIPIENT,
  GLOBAL_CONFIG,
  PUMPSWAP_PROGRAM,
  events,
  programsOf,
  reserves,
  reservesStated,
  tokenAccounts,
  type PumpswapPool
} from './pumpswap-pool.ts'

// Source: pump-fun/pump-public-docs. The reserves in events are those before the trade.

const FEE_PROGRAM = key('pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ')
const FEE_CONFIG = programAddress(['fee_config', PUMPSWAP_PROGRAM], FEE_PROGRAM)
const VOLUME = programAddress(['global_volume_accumulator'], PUMPSWAP_PROGRAM)

const LP_BPS = 20n
const PROTOCOL_BPS = 5n
const ALL_BPS = LP_BPS + PROTOCOL_BPS + CREATOR_BPS
const ONE = 10_000n
export const pumpswapPools = {
  venue: 'pumpswap',
  open: (script: Caller, pool: NewPool, world: VenueWorld) => openPumpswap(script, pool, world),
  swap: (script: Caller, pool: PumpswapPool, swap: Swap, world: VenueWorld) =>
    swap.isBuy ? buyBase(script, pool, swap, world) : sellBase(script, pool, swap, world),
  changeLiquidity: changePumpswapLiquidity,
  price: ({ vaults }: PumpswapPool, { ledger }: VenueWorld): number =>
    Number(ledger.tokens(vaults[1])) / Number(ledger.tokens(vaults[0]))
} satisfies PoolVenue<PumpswapPool>

/** Spends the whole input, of which fees and what the pool is paid are parts. */
function buyBase(
  script: Caller,
  pool: PumpswapPool,
  { trader, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const [baseReserve, quoteReserve] = reserves(pool, ledger)
  let quote = (amountIn * ONE) / (ONE + ALL_BPS)
  const excess = quote + feesOf(quote).all - amountIn
  if (excess > 0n) quote -= excess
  const fees = feesOf(quote)
  const baseOut = productOut(quote, quoteReserve, baseReserve)
  if (quote <= 0n || baseOut <= 0n || baseOut >= baseReserve) return null
  const withLp = quote + fees.lp
  const paid = quote + fees.all
  const [userBase, userQuote] = tokenAccounts(pool, trader, ledger)
  const [base, quoteMint] = pool.mints
  const args = { spendableQuoteIn: amountIn, minBaseAmountOut: 1n, trackVolume: true }
  const data = buyExactQuoteIn.write(args)
  const held = [ledger.tokens(userBase), ledger.tokens(userQuote)] as const
  script.call(PUMPSWAP_PROGRAM, tradeAccounts(pool, trader, ledger, true), data, (call) => {
    call.log('Instruction: BuyExactQuoteIn')
    const out = { mint: base, from: pool.vaults[0], to: userBase, authority: pool.address, amount: baseOut }
    call.transfer(out)
    const pay = { mint: quoteMint, from: userQuote, authority: trader }
    call.transfer({ ...pay, to: pool.vaults[1], amount: withLp })
    payFees(call, pool, pay, fees, ledger)
    events.state(
      call,
      buyEvent.write({
        timestamp: BigInt(call.blockTime),
        baseAmountOut: baseOut,
        maxQuoteAmountIn: amountIn,
        ...reservesStated(held, [baseReserve, quoteReserve]),
        quoteAmountIn: paid,
        ...feesStated(fees),
        quoteAmountInWithLpFee: withLp,
        // Of an exact quote the program states the amount before all fees here.
        userQuoteAmountIn: quote,
        ...parties(pool, trader, ledger),
        ...creatorStated(pool, fees),
        trackVolume: true,
        totalUnclaimedTokens: 0n,
        totalClaimedTokens: 0n,
        currentSolVolume: 0n,
        lastUpdateTimestamp: 0n,
        minBaseAmountOut: 1n,
        ixName: 'buy_exact_quote_in',
        ...tailStated(base, ledger)
      })
    )
  })
  return { amountIn: paid, amountOut: baseOut }
}

function sellBase(
  script: Caller,
  pool: PumpswapPool,
  { trader, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const [baseReserve, quoteReserve] = reserves(pool, ledger)
  const quoteOut = productOut(amountIn, baseReserve, quoteReserve)
  const fees = feesOf(quoteOut)
  const received = quoteOut - fees.all
  if (received <= 0n) return null
  const [userBase, userQuote] = tokenAccounts(pool, trader, ledger)
  const [base, quoteMint] = pool.mints
  const held = [ledger.tokens(userBase), ledger.tokens(userQuote)] as const
  const data = sell.write({ baseAmountIn: amountIn, minQuoteAmountOut: 1n })
  script.call(PUMPSWAP_PROGRAM, tradeAccounts(pool, trader, ledger, false), data, (call) => {
    call.log('Instruction: Sell')
    call.transfer({ mint: base, from: userBase, to: pool.vaults[0], authority: trader, amount: amountIn })
    const pay = { mint: quoteMint, from: pool.vaults[1], authority: pool.address }
    call.transfer({ ...pay, to: userQuote, amount: received })
    payFees(call, pool, pay, fees, ledger)
    events.state(
      call,
      sellEvent.write({
        timestamp: BigInt(call.blockTime),
        baseAmountIn: amountIn,
        minQuoteAmountOut: 1n,
        ...reservesStated(held, [baseReserve, quoteReserve]),
        quoteAmountOut: quoteOut,
        ...feesStated(fees),
        quoteAmountOutWithoutLpFee: quoteOut - fees.lp,
        userQuoteAmountOut: received,
        ...parties(pool, trader, ledger),
        ...creatorStated(pool, fees),
        ...tailStated(base, ledger)
      })
    )
  })
  return { amountIn, amountOut: received }
}

function payFees(
  call: CallScript,
  pool: PumpswapPool,
  pay: { readonly mint: Pubkey; readonly from: Pubkey; readonly authority: Pubkey },
  fees: Fees,
  ledger: LedgerView
): void {
  const to = (owner: Pubkey): Pubkey => ledger.tokenAccountOf(owner, pay.mint)
  if (fees.protocol > 0n) call.transfer({ ...pay, to: to(FEE_RECIPIENT), amount: fees.protocol })
  if (fees.creator > 0n) call.transfer({ ...pay, to: to(pool.creatorVault), amount: fees.creator })
}

type Fees = ReturnType<typeof feesOf>

/** Of the amount that the pool's product takes or gives; each rounded up. */
function feesOf(quote: bigint) {
  const part = (bps: bigint): bigint => ceilDiv(quote * bps, ONE)
  const [lp, protocol, creator] = [part(LP_BPS), part(PROTOCOL_BPS), part(CREATOR_BPS)]
  return { lp, protocol, creator, all: lp + protocol + creator }
}

function feesStated({ lp, protocol }: Fees) {
  return {
    lpFeeBasisPoints: LP_BPS,
    lpFee: lp,
    protocolFeeBasisPoints: PROTOCOL_BPS,
    protocolFee: protocol
  }
}

function creatorStated({ coinCreator }: PumpswapPool, { creator }: Fees) {
  return { coinCreator, coinCreatorFeeBasisPoints: CREATOR_BPS, coinCreatorFee: creator }
}

/** What newer programs appended: nothing of it is in use here. */
function tailStated(base: Pubkey, ledger: LedgerView) {
  return {
    cashbackFeeBasisPoints: 0n,
    cashback: 0n,
    buybackFeeBasisPoints: 0n,
    buybackFee: 0n,
    virtualQuoteReserves: 0n,
    canBoost: false,
    baseSupply: ledger.mint(base).supply,
    holderRewardsBps: 0n,
    holderRewards: 0n,
    creatorFeeUnclaimed: 0n
  }
}

function parties(pool: PumpswapPool, user: Pubkey, ledger: LedgerView) {
  const [userBaseTokenAccount, userQuoteTokenAccount] = tokenAccounts(pool, user, ledger)
  return {
    pool: pool.address,
    user,
    userBaseTokenAccount,
    userQuoteTokenAccount,
    protocolFeeRecipient: FEE_RECIPIENT,
    protocolFeeRecipientTokenAccount: ledger.tokenAccountOf(FEE_RECIPIENT, pool.mints[1])
  }
}

/** The list of the first version; a sale has no volume accumulators. */
function tradeAccounts(pool: PumpswapPool, trader: Pubkey, ledger: LedgerView, isBuy: boolean): AccountUse[] {
  const [userBase, userQuote] = tokenAccounts(pool, trader, ledger)
  const [baseProgram, quoteProgram] = programsOf(pool, ledger)
  const quote = pool.mints[1]
  const volume = programAddress(['user_volume_accumulator', trader], PUMPSWAP_PROGRAM)
  return [
    writes(pool.address),
    signs(trader),
    reads(GLOBAL_CONFIG),
    reads(pool.mints[0]),
    reads(quote),
    writes(userBase),
    writes(userQuote),
    writes(pool.vaults[0]),
    writes(pool.vaults[1]),
    reads(FEE_RECIPIENT),
    writes(ledger.tokenAccountOf(FEE_RECIPIENT, quote)),
    reads(baseProgram),
    reads(quoteProgram),
    reads(SYSTEM),
    reads(ASSOCIATED_TOKEN),
    reads(events.authority),
    reads(PUMPSWAP_PROGRAM),
    writes(ledger.tokenAccountOf(pool.creatorVault, quote)),
    reads(pool.creatorVault),
    ...(isBuy ? [reads(VOLUME), writes(volume)] : []),
    reads(FEE_CONFIG),
    reads(FEE_PROGRAM)
  ]
}
