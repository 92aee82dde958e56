import { samePubkey } from '../../../chain/pubkey.ts'
import { afterTake, takeAsks, takeBids, type TakerExecution } from '../curves/order-book.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import {
  MARKET_ACCOUNTS,
  MARKET_SIZE,
  TAKER_FEE_BPS,
  fairPrice,
  needsQuotes,
  phoenix,
  quotesOf,
  termsOf,
  writeMarket,
  type PhoenixMarket
} from './phoenix-market.ts'
import { logEvents, requote, seatMaker } from './phoenix-orders.ts'
import { newAddress, newSides, type Caller } from './pool-sides.ts'
import { payIn, payOut, swapRoute } from './pool-swap.ts'
import { record } from './record.ts'

// Source: Ellipsis-Labs/phoenix-v1, program source. A market pays out before it takes in. Its only maker opened it. The
// maker places new orders in the taker's transaction when they run out; below a router only the existing orders are used.

const initializeMarket = phoenix.instruction(
  'InitializeMarket',
  '64',
  `bidsSize:u64 asksSize:u64 seats:u64 quoteLotsPerQuoteUnit:u64 tickSizeInQuoteLotsPerBaseUnit:u64
  baseLotsPerBaseUnit:u64 takerFeeBps:u16 feeCollector:pubkey`,
  `${MARKET_ACCOUNTS} mints vaults* system token`
)
const swapInstruction = phoenix.instruction(
  'Swap',
  '00',
  `kind:u8 side:u8 priceInTicks?:option<u64> baseLots:u64 quoteLots:u64 minBaseLotsToFill?:u64
  minQuoteLotsToFill?:u64 selfTradeBehavior:u8 matchLimit?:option<u64> clientOrderId?:u128
  usesOnlyDepositedFunds?:bool`,
  `${MARKET_ACCOUNTS} users* vaults* token`
)
const fillEvent = record(
  '02',
  `index:u16 maker:pubkey orderSequence:u64 priceInTicks:u64 baseLotsFilled:u64 baseLotsRemaining:u64`
)
const fillSummary = record('06', 'index:u16 clientOrderId?:u128 baseLots:u64 quoteLots:u64 feeQuoteLots:u64')

const BID = 0
const ASK = 1
const IMMEDIATE_OR_CANCEL = 2
const CANCEL_OWN = 1

export const phoenixMarkets = {
  venue: 'phoenix',
  open,
  swap,
  // The decoder reads no liquidity changes of an order book.
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
  const { vaults } = market
  const addresses = { ...market, market: market.address, signer: creator }
  const args = {
    ...MARKET_SIZE,
    quoteLotsPerQuoteUnit: 10n ** BigInt(ledger.mint(pool.quote).decimals) / terms.quoteLot,
    tickSizeInQuoteLotsPerBaseUnit: 1n,
    baseLotsPerBaseUnit: terms.baseLotsPerUnit,
    takerFeeBps: TAKER_FEE_BPS,
    feeCollector: creator
  }
  initializeMarket.call(script, addresses, args, (call, data) => {
    // A vault is its own authority.
    call.createTokenAccount(vaults[0], vaults[0], sides.mints[0])
    call.createTokenAccount(vaults[1], vaults[1], sides.mints[1])
    writeMarket(call, market, ledger)
    logEvents(call, script, market, { data, signer: creator }, [])
  })
  seatMaker(script, market, ledger)
  requote(script, market, quotesOf(market), ledger)
  return market
}

function swap(script: Caller, market: PhoenixMarket, asked: Swap, { ledger }: VenueWorld): Executed | null {
  const { trader, isBuy, amountIn } = asked
  // The maker's own order would cancel the maker's resting ones.
  if (samePubkey(trader, market.maker)) return null
  const { terms } = market
  const canQuote = 'payer' in script
  const quotes = canQuote && needsQuotes(market.book, isBuy) ? quotesOf(market) : null
  const { bids, asks } = quotes ?? market.book
  const offered = amountIn / (isBuy ? terms.quoteLot : terms.baseLot)
  const taken = isBuy ? takeAsks(asks, offered, terms) : takeBids(bids, offered, terms)
  if (taken === null) return null
  if (quotes !== null) requote(script, market, quotes, ledger)
  settle(market, taken, isBuy)
  const { baseLots, quoteLots, fee } = taken
  const base = baseLots * terms.baseLot
  const quote = (isBuy ? quoteLots + fee : quoteLots - fee) * terms.quoteLot
  const executed: Executed = isBuy
    ? { amountIn: quote, amountOut: base }
    : { amountIn: base, amountOut: quote }
  const route = swapRoute(market, asked, ledger)
  const args = {
    kind: IMMEDIATE_OR_CANCEL,
    side: isBuy ? BID : ASK,
    baseLots: isBuy ? 0n : offered,
    quoteLots: isBuy ? offered : 0n,
    selfTradeBehavior: CANCEL_OWN
  }
  const addresses = { ...market, ...route, market: market.address, signer: trader }
  swapInstruction.call(script, addresses, args, (call, data) => {
    payOut(call, route, route.vaultOut, executed.amountOut, false)
    payIn(call, route, executed.amountIn, false)
    logEvents(call, script, market, { data, signer: trader }, eventsOf(market, taken, isBuy))
    writeMarket(call, market, ledger)
  })
  return executed
}

function settle(
  market: PhoenixMarket,
  { fills, baseLots, quoteLots, fee }: TakerExecution,
  isBuy: boolean
): void {
  const { bids, asks } = market.book
  market.book = isBuy ? { bids, asks: afterTake(asks, fills) } : { bids: afterTake(bids, fills), asks }
  market.makerBase += isBuy ? -baseLots : baseLots
  market.makerQuote += isBuy ? quoteLots : -quoteLots
  market.fees += fee
}

function eventsOf({ maker }: PhoenixMarket, taken: TakerExecution, isBuy: boolean): Uint8Array[] {
  const { fills, baseLots, quoteLots, fee } = taken
  const filled = fills.map(({ order, lots }, index) =>
    fillEvent({
      index,
      maker,
      orderSequence: order.sequence,
      priceInTicks: order.price,
      baseLotsFilled: lots,
      baseLotsRemaining: order.lots - lots
    })
  )
  const summary = fillSummary({
    index: fills.length,
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
