import type { Pubkey } from '../../../chain/pubkey.ts'
import { productOut } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { programAddress } from '../../../signing/program-address.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import { ratioPrice, vaultBalances, type Caller, type Pair } from './pool-sides.ts'
import { payIn, payOut, swapOf, type SwapRoute, type Swapped } from './pool-swap.ts'
import { changePumpswapLiquidity, openPumpswap } from './pumpswap-liquidity.ts'
import {
  CREATOR_BPS,
  FEE_RECIPIENT,
  PUMPSWAP_PROGRAM,
  RESERVES,
  pumpswap,
  pumpswapSides,
  reservesStated,
  type PumpswapPool
} from './pumpswap-pool.ts'

// Source: pump-fun/pump-public-docs. The reserves in events are those before the trade. Accounts are listed as in the
// first version; a sale has no volume accumulators.

const TRADE_ACCOUNTS = `pool* trader! globalConfig mints users* vaults* feeRecipient feeTokens* programs system
  associatedToken eventAuthority program creatorTokens* creatorVault`
const buyExactQuoteIn = pumpswap.instruction(
  'BuyExactQuoteIn',
  'c62e1552b4d9e870',
  'spendableQuoteIn:u64 minBaseAmountOut:u64 trackVolume:bool',
  `${TRADE_ACCOUNTS} globalVolume userVolume* feeConfig feeProgram`
)
const sell = pumpswap.instruction(
  'Sell',
  '33e685a4017f83ad',
  'baseAmountIn:u64 minQuoteAmountOut:u64',
  `${TRADE_ACCOUNTS} feeConfig feeProgram`
)
const FEES = 'lpFeeBasisPoints:u64 lpFee:u64 protocolFeeBasisPoints:u64 protocolFee:u64'
const PARTIES = `pool:pubkey user:pubkey userBaseTokenAccount:pubkey userQuoteTokenAccount:pubkey
  protocolFeeRecipient:pubkey protocolFeeRecipientTokenAccount:pubkey coinCreator:pubkey
  coinCreatorFeeBasisPoints:u64 coinCreatorFee:u64`
// Fields that newer programs appended; only the supply is used here.
const APPENDED = `cashbackFeeBasisPoints?:u64 cashback?:u64 buybackFeeBasisPoints?:u64 buybackFee?:u64
  virtualQuoteReserves?:i128 canBoost?:bool baseSupply:u64 holderRewardsBps?:u64 holderRewards?:u64
  creatorFeeUnclaimed?:u64`
const buyEvent = pumpswap.event(
  '67f4521f2cf57777',
  `timestamp:i64 baseAmountOut:u64 maxQuoteAmountIn:u64 ${RESERVES} quoteAmountIn:u64 ${FEES}
  quoteAmountInWithLpFee:u64 userQuoteAmountIn:u64 ${PARTIES} trackVolume:bool totalUnclaimedTokens?:u64
  totalClaimedTokens?:u64 currentSolVolume?:u64 lastUpdateTimestamp?:i64 minBaseAmountOut:u64 ixName:string
  ${APPENDED}`
)
const sellEvent = pumpswap.event(
  '3e2f370aa503dc2a',
  `timestamp:i64 baseAmountIn:u64 minQuoteAmountOut:u64 ${RESERVES} quoteAmountOut:u64 ${FEES}
  quoteAmountOutWithoutLpFee:u64 userQuoteAmountOut:u64 ${PARTIES} ${APPENDED}`
)

const LP_BPS = 20n
const PROTOCOL_BPS = 5n
const ALL_BPS = LP_BPS + PROTOCOL_BPS + CREATOR_BPS
const ONE = 10_000n

export const pumpswapPools = {
  venue: 'pumpswap',
  open: (script: Caller, pool: NewPool, world: VenueWorld) => openPumpswap(script, pool, world),
  swap: swapOf(pumpswapSides, quoteSwap, (script, pool, route, swapped, { ledger }) => {
    if (route.from === 1) buyBase(script, pool, route, swapped, ledger)
    else sellBase(script, pool, route, swapped, ledger)
  }),
  changeLiquidity: changePumpswapLiquidity,
  price: (pool: PumpswapPool, { ledger }: VenueWorld): number =>
    ratioPrice(pumpswapSides(pool), vaultBalances(pool, ledger))
} satisfies PoolVenue<PumpswapPool>

/** Quotes a swap. `quote` is the amount of the pool's product; a buy spends the whole offer on it and on fees. */
function quoteSwap(pool: PumpswapPool, { from }: SwapRoute, offered: bigint, { ledger }: VenueWorld) {
  const reserves = vaultBalances(pool, ledger)
  const [baseReserve, quoteReserve] = reserves
  if (from === 0) {
    const quote = productOut(offered, baseReserve, quoteReserve)
    const fees = feesOf(quote)
    return { offered, amountIn: offered, amountOut: quote - fees.all, quote, fees, reserves }
  }
  let quote = (offered * ONE) / (ONE + ALL_BPS)
  const excess = quote + feesOf(quote).all - offered
  if (excess > 0n) quote -= excess
  const fees = feesOf(quote)
  const amountOut = productOut(quote, quoteReserve, baseReserve)
  if (quote <= 0n || amountOut >= baseReserve) return null
  return { offered, amountIn: quote + fees.all, amountOut, quote, fees, reserves }
}

function buyBase(
  script: Caller,
  pool: PumpswapPool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>,
  ledger: LedgerView
): void {
  const { offered, amountIn, amountOut, quote, fees } = swapped
  const args = { spendableQuoteIn: offered, minBaseAmountOut: 1n, trackVolume: true }
  const userHeld = heldBy(route, ledger)
  buyExactQuoteIn.call(script, addressesOf(pool, route, ledger), args, (call) => {
    payOut(call, route, pool.address, amountOut)
    payIn(call, route, quote + fees.lp)
    payFees(call, pool, { mint: route.mintIn, from: route.userIn, authority: route.trader }, fees, ledger)
    buyEvent.emit(call, {
      ...stated(call, pool, route, swapped, userHeld, ledger),
      baseAmountOut: amountOut,
      maxQuoteAmountIn: offered,
      quoteAmountIn: amountIn,
      quoteAmountInWithLpFee: quote + fees.lp,
      // For an exact quote the program states the amount before all fees here.
      userQuoteAmountIn: quote,
      trackVolume: true,
      minBaseAmountOut: 1n,
      ixName: 'buy_exact_quote_in'
    })
  })
}

function sellBase(
  script: Caller,
  pool: PumpswapPool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>,
  ledger: LedgerView
): void {
  const { amountIn, amountOut, quote, fees } = swapped
  const userHeld = heldBy(route, ledger)
  const args = { baseAmountIn: amountIn, minQuoteAmountOut: 1n }
  sell.call(script, addressesOf(pool, route, ledger), args, (call) => {
    payIn(call, route, amountIn)
    payOut(call, route, pool.address, amountOut)
    payFees(call, pool, { mint: route.mintOut, from: route.vaultOut, authority: pool.address }, fees, ledger)
    sellEvent.emit(call, {
      ...stated(call, pool, route, swapped, userHeld, ledger),
      ...args,
      quoteAmountOut: quote,
      quoteAmountOutWithoutLpFee: quote - fees.lp,
      userQuoteAmountOut: amountOut
    })
  })
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

/** Returns the fees on the amount of the pool's product, each rounded up. */
function feesOf(quote: bigint) {
  const part = (bps: bigint): bigint => ceilDiv(quote * bps, ONE)
  const [lp, protocol, creator] = [part(LP_BPS), part(PROTOCOL_BPS), part(CREATOR_BPS)]
  return { lp, protocol, creator, all: lp + protocol + creator }
}

function heldBy({ users }: SwapRoute, ledger: LedgerView): Pair {
  return [ledger.tokens(users[0]), ledger.tokens(users[1])]
}

/** Returns the fields that the events of both directions share. */
function stated(
  call: CallScript,
  pool: PumpswapPool,
  { trader, users }: SwapRoute,
  { fees, reserves }: Swapped<typeof quoteSwap>,
  userHeld: Pair,
  ledger: LedgerView
) {
  return {
    ...reservesStated(userHeld, reserves),
    timestamp: BigInt(call.blockTime),
    lpFeeBasisPoints: LP_BPS,
    lpFee: fees.lp,
    protocolFeeBasisPoints: PROTOCOL_BPS,
    protocolFee: fees.protocol,
    pool: pool.address,
    user: trader,
    userBaseTokenAccount: users[0],
    userQuoteTokenAccount: users[1],
    protocolFeeRecipient: FEE_RECIPIENT,
    protocolFeeRecipientTokenAccount: ledger.tokenAccountOf(FEE_RECIPIENT, pool.mints[1]),
    coinCreator: pool.coinCreator,
    coinCreatorFeeBasisPoints: CREATOR_BPS,
    coinCreatorFee: fees.creator,
    baseSupply: ledger.mint(pool.mints[0]).supply
  }
}

function addressesOf(pool: PumpswapPool, route: SwapRoute, ledger: LedgerView) {
  const quote = pool.mints[1]
  return {
    ...pool,
    ...route,
    feeTokens: ledger.tokenAccountOf(FEE_RECIPIENT, quote),
    creatorTokens: ledger.tokenAccountOf(pool.creatorVault, quote),
    userVolume: programAddress(['user_volume_accumulator', route.trader], PUMPSWAP_PROGRAM)
  }
}
