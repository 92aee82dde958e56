import type { Pubkey } from '../../../chain/pubkey.ts'
import type { Book, LotTerms, RestingOrder } from '../curves/order-book.ts'
import type { CallScript, LedgerView } from '../script.ts'
import { decimalsOf, key, type PoolSides } from './pool-sides.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

export const phoenix = new Program(key('PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY'), 'self-call', {
  logAuthority: key('7aDTsspkQNGKmrexAN7FLx9oxU3iPczSSvHNggyuqYkR')
})
/** The first accounts of every instruction of a market. */
export const MARKET_ACCOUNTS = 'program logAuthority market* signer!'

const marketAccount = account(
  576,
  '',
  `status:u64@8 bidsSize:u64@16 asksSize:u64@24 seats:u64@32 baseDecimals:u32@40 baseMint:pubkey@48
  baseVault:pubkey@80 baseLot:u64@112 quoteDecimals:u32@120 quoteMint:pubkey@128 quoteVault:pubkey@160
  quoteLot:u64@192 tickSize:u64@200 authority:pubkey@208 feeCollector:pubkey@240 sequence:u64@272
  tokensPerUnit:u32@312`
)

/** Maximum numbers of orders per side and of seats. */
export const MARKET_SIZE = { bidsSize: 512n, asksSize: 512n, seats: 128n }
export const TAKER_FEE_BPS = 2
/** Number of the maker's orders on each side, and their distance in ten-thousandths. All fit one log batch. */
const LEVELS = 12
const SPACING = 60n
const BASIS = 10_000n
const LEAST_LOTS_PER_UNIT = 1_000_000n
const LEVELS_LEFT = 6
const WIDEST_SPREAD = 300n

/** Units of a market. Lots are powers of ten; a tick is one quote lot per base unit. */
export interface MarketTerms extends LotTerms {
  readonly baseLot: bigint
  readonly quoteLot: bigint
  /** Number of whole tokens in a base unit. */
  readonly tokensPerUnit: bigint
}

/** A market with one maker, whose orders rest on both sides. */
export interface PhoenixMarket extends PoolSides {
  readonly address: Pubkey
  readonly maker: Pubkey
  readonly seat: Pubkey
  readonly terms: MarketTerms
  /** The maker's funds in the market, resting or free, in lots. */
  makerBase: bigint
  makerQuote: bigint
  /** Uncollected fees, in quote lots. */
  fees: bigint
  book: Book
  /** Sequence number of the market's events; `orderSequence` is that of orders. */
  sequence: bigint
  orderSequence: bigint
}

export function termsOf(baseAmount: bigint, quoteAmount: bigint, baseDecimals: number): MarketTerms {
  const baseLot = powerOfTenBelow(baseAmount / 10_000_000n)
  const quoteLot = powerOfTenBelow(quoteAmount / 100_000_000n)
  const token = 10n ** BigInt(baseDecimals)
  const fewest = token / baseLot
  const baseLotsPerUnit = fewest > LEAST_LOTS_PER_UNIT ? fewest : LEAST_LOTS_PER_UNIT
  return {
    baseLot,
    quoteLot,
    baseLotsPerUnit,
    tokensPerUnit: (baseLotsPerUnit * baseLot) / token,
    feeBps: BigInt(TAKER_FEE_BPS)
  }
}

function powerOfTenBelow(value: bigint): bigint {
  let power = 1n
  while (power * 10n <= value) power *= 10n
  return power
}

/** Tells whether the maker must replace the orders: few are left on the taken side, or the sides are far apart. */
export function needsQuotes({ bids, asks }: Book, isBuy: boolean): boolean {
  const taken = isBuy ? asks : bids
  if (taken.length < LEVELS_LEFT) return true
  const [bid, ask] = [bids[0], asks[0]]
  return bid === undefined || ask === undefined || ask.price * BASIS > bid.price * (BASIS + WIDEST_SPREAD)
}

/** Returns the maker's price in ticks: the price at which base and quote funds have equal worth. */
export function fairPrice({ makerBase, makerQuote, terms }: PhoenixMarket): bigint {
  return makerBase === 0n ? 0n : (makerQuote * terms.baseLotsPerUnit) / makerBase
}

/**
 * Returns the maker's orders around the fair price. Taking one moves the middle between the sides by half the distance of
 * two orders. Each order is so large that the fair price moves as far, so new quotes stand where the old ones stood.
 */
export function quotesOf(market: PhoenixMarket): Book {
  const { makerBase, makerQuote, terms, orderSequence } = market
  const fair = fairPrice(market)
  const asked = (makerBase * SPACING) / (4n * BASIS)
  const paid = (makerQuote * SPACING) / (4n * BASIS)
  const bids: RestingOrder[] = []
  const asks: RestingOrder[] = []
  for (let level = 1n; level <= BigInt(LEVELS); level++) {
    const away = (fair * SPACING * (2n * level - 1n)) / (2n * BASIS) + level
    const bidPrice = fair - away
    const sequence = orderSequence + 2n * level
    asks.push({ sequence, price: fair + away, lots: asked })
    if (bidPrice <= 0n) continue
    // Bids are stored inverted, so that the older of two comes first on both sides.
    const inverted = BigInt.asUintN(64, ~(sequence + 1n))
    bids.push({ sequence: inverted, price: bidPrice, lots: (paid * terms.baseLotsPerUnit) / bidPrice })
  }
  return { bids: bids.filter(({ lots }) => lots > 0n), asks: asks.filter(({ lots }) => lots > 0n) }
}

/** Writes the header of a market's account; the book that follows it on mainnet is omitted. */
export function writeMarket(call: CallScript, market: PhoenixMarket, ledger: LedgerView): void {
  const { mints, vaults, terms } = market
  const [baseDecimals, quoteDecimals] = decimalsOf(market, ledger)
  const stated = {
    ...market,
    ...terms,
    ...MARKET_SIZE,
    status: 1n,
    baseDecimals,
    baseMint: mints[0],
    baseVault: vaults[0],
    quoteDecimals,
    quoteMint: mints[1],
    quoteVault: vaults[1],
    tickSize: terms.quoteLot,
    authority: market.maker,
    feeCollector: market.maker,
    tokensPerUnit: Number(terms.tokensPerUnit)
  }
  call.write(market.address, marketAccount(stated))
}
