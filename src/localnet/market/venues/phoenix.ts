import { samePubkey } from '../../../chain/pubkey.ts'
import {
  BID,
  fill,
  fillSummary,
  initializeMarket,
  swap as swapInstruction
} from '../../../chain/venues/phoenix-layouts.ts'
import { afterTake, takeAsks, takeBids, type Taken } from '../curves/order-book.ts'
import { SYSTEM, TOKEN } from '../../programs.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { reads, writes } from './account-uses.ts'
import {
  PROGRAM,
  TAKER_FEE_BPS,
  fairPrice,
  needsQuotes,
  quotesOf,
  termsOf,
  writeMarket,
  type PhoenixMarket
} from './phoenix-market.ts'
import { logEvents, marketUses, quoteAnew, seatMaker } from './phoenix-orders.ts'
import {
  PoolTransfers,
  newAddress,
  newSides,
  otherSide,
  sideIn,
  userAccounts,
  type Caller
} from './pool-sides.ts'

// Source: Ellipsis-Labs/phoenix-v1, program source. A market pays out before it takes in. Its only maker is who opened it, and
// quotes anew in the taker's transaction where the orders run out; below a router, the orders that are there have to do.

const ASK = 1
const IMMEDIATE_OR_CANCEL = 2
const CANCEL_OWN = 1

export const phoenixMarkets = {
  venue: 'phoenix',
  open,
  swap,
  // The decoder knows no liquidity of an order book.
  changeLiquidity: null,
  price
} satisfies PoolVenue<PhoenixMarket>

function open(script: Caller, pool: NewPool, world: VenueWorld): PhoenixMarket {
  const { ledger } = world
  const { creator, baseAmount, quoteAmount } = pool
  const sides = newSides(pool, world, 'as-given')
  const terms = termsOf(baseAmount, quoteAmount, ledger.mint(pool.base).decimals)
  const makerBase = baseAmount / terms.baseLot
  const makerQuote = quoteAmount / terms.quoteLot
  const market: PhoenixMarket = {
    ...sides,
    address: newAddress(world),
    maker: creator,
    seat: newAddress(world),
    terms,
    makerBase,
    makerQuote,
    fees: 0n,
    book: { bids: [], asks: [] },
    sequence: 0n,
    orderSequence: 0n
  }
  const { mints, vaults } = market
  const accounts = [
    ...marketUses(market, creator),
    ...mints.map(reads),
    ...vaults.map(writes),
    reads(SYSTEM),
    reads(TOKEN)
  ]
  const quoteDecimals = BigInt(ledger.mint(pool.quote).decimals)
  const data = initializeMarket.write({
    bidsSize: 512n,
    asksSize: 512n,
    seats: 128n,
    quoteLotsPerQuoteUnit: 10n ** quoteDecimals / terms.quoteLot,
    tickSizeInQuoteLotsPerBaseUnit: 1n,
    baseLotsPerBaseUnit: terms.baseLotsPerUnit,
    takerFeeBps: TAKER_FEE_BPS,
    feeCollector: creator
  })
  script.call(PROGRAM, accounts, data, (call) => {
    // A vault is its own authority.
    call.createTokenAccount(vaults[0], vaults[0], mints[0])
    call.createTokenAccount(vaults[1], vaults[1], mints[1])
    writeMarket(call, market, ledger)
    logEvents(call, script, market, { instruction: data[0]!, signer: creator }, [])
  })
  seatMaker(script, market, ledger)
  quoteAnew(script, market, quotesOf(market), ledger)
  return market
}

function swap(
  script: Caller,
  market: PhoenixMarket,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  // An order of the maker's would cancel the maker's own.
  if (samePubkey(trader, market.maker)) return null
  const { terms } = market
  const canQuote = 'payer' in script
  const quotes = canQuote && needsQuotes(market.book, isBuy) ? quotesOf(market) : null
  const { bids, asks } = quotes ?? market.book
  const offered = amountIn / (isBuy ? terms.quoteLot : terms.baseLot)
  const taken = isBuy ? takeAsks(asks, offered, terms) : takeBids(bids, offered, terms)
  if (taken === null) return null
  if (quotes !== null) quoteAnew(script, market, quotes, ledger)
  settle(market, taken, isBuy)
  const from = sideIn(market, isBuy)
  const to = otherSide(from)
  const { baseLots, quoteLots, fee } = taken
  const base = baseLots * terms.baseLot
  const quote = (isBuy ? quoteLots + fee : quoteLots - fee) * terms.quoteLot
  const executed: Executed = isBuy
    ? { amountIn: quote, amountOut: base }
    : { amountIn: base, amountOut: quote }
  const users = userAccounts(market, trader, ledger)
  const accounts = [
    ...marketUses(market, trader),
    ...users.map(writes),
    ...market.vaults.map(writes),
    reads(TOKEN)
  ]
  const data = swapInstruction.write({
    kind: IMMEDIATE_OR_CANCEL,
    side: isBuy ? BID : ASK,
    priceInTicks: null,
    baseLots: isBuy ? 0n : offered,
    quoteLots: isBuy ? offered : 0n,
    minBaseLotsToFill: 0n,
    minQuoteLotsToFill: 0n,
    selfTradeBehavior: CANCEL_OWN,
    matchLimit: null,
    clientOrderId: 0n,
    usesOnlyDepositedFunds: false
  })
  script.call(PROGRAM, accounts, data, (call) => {
    const transfers = new PoolTransfers(call, market, ledger, false)
    transfers.payOut(to, trader, market.vaults[to], executed.amountOut)
    transfers.payIn(from, trader, executed.amountIn)
    const origin = { instruction: data[0]!, signer: trader }
    logEvents(call, script, market, origin, eventsOf(market, taken, isBuy))
    writeMarket(call, market, ledger)
  })
  return executed
}

function settle(market: PhoenixMarket, { fills, baseLots, quoteLots, fee }: Taken, isBuy: boolean): void {
  const { bids, asks } = market.book
  market.book = isBuy ? { bids, asks: afterTake(asks, fills) } : { bids: afterTake(bids, fills), asks }
  market.makerBase += isBuy ? -baseLots : baseLots
  market.makerQuote += isBuy ? quoteLots : -quoteLots
  market.fees += fee
}

function eventsOf({ maker }: PhoenixMarket, taken: Taken, isBuy: boolean): Uint8Array[] {
  const { fills, baseLots, quoteLots, fee } = taken
  const filled = fills.map(({ order, lots }, index) =>
    fill.write({
      index,
      maker,
      orderSequence: order.sequence,
      priceInTicks: order.price,
      baseLotsFilled: lots,
      baseLotsRemaining: order.lots - lots
    })
  )
  const summary = fillSummary.write({
    index: fills.length,
    clientOrderId: 0n,
    baseLots,
    quoteLots: isBuy ? quoteLots + fee : quoteLots - fee,
    feeQuoteLots: fee
  })
  return [...filled, summary]
}

function price(market: PhoenixMarket): number {
  const { book, terms } = market
  const fair = fairPrice(market)
  const ticks = (Number(book.bids[0]?.price ?? fair) + Number(book.asks[0]?.price ?? fair)) / 2
  return (ticks * Number(terms.quoteLot)) / (Number(terms.baseLotsPerUnit) * Number(terms.baseLot))
}
