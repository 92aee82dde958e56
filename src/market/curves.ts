import type {
  ChainEvent,
  CurveChange,
  CurveReserves,
  Launch,
  StatedCurve,
  TradeReserves
} from '../chain/events.ts'
import { samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { factsOfVenue, VENUE_IDS, type VenueId } from '../chain/venue-id.ts'
import { ratio } from './amount.ts'
import { isWrappedSol, SOL_DECIMALS } from './cash.ts'
import type { CashList } from './cash.ts'
import { curveCourse, forSaleOf } from './curve-course.ts'
import { launchMints } from './launches.ts'
import { legOf } from './legs.ts'
import { priceOf, priceOfRoot } from './price.ts'
import type { CurveRow, CurveStatus } from './registry-rows.ts'
import { RowEdits } from './row-edits.ts'
import type { RowOrigin, TradeRow } from './rows.ts'

const withCurve = (...kinds: readonly (string | undefined)[]): ReadonlySet<VenueId> =>
  new Set(VENUE_IDS.filter((venue) => kinds.includes(factsOfVenue(venue).curve)))

const LAUNCHPADS = withCurve('states-supply', 'other')
/** Launchpads whose curves complete when all tokens for sale are sold, and whose creation states those tokens. */
const SOLD_OUT = withCurve('states-supply')

/** Returns whether a venue's trades are on bonding curves. */
export function isLaunchpad(venue: VenueId): boolean {
  return LAUNCHPADS.has(venue)
}

/** Mints whose curve an event can create or change. */
export function curveMints(event: ChainEvent, cash: CashList): Pubkey[] {
  return event.kind === 'trade' && !isLaunchpad(event.venue) ? [] : launchMints(event, cash)
}

/**
 * Folds the bonding curves of a block's events.
 *
 * K1. A mint has one curve: that of its launch, of its curve's first event or, if the index begins later, of its
 *     first trade on a launchpad. Events and trades of another curve change nothing.
 * K2. A trade belongs to the mint whose curve is its pool, for that curve's quote. If neither mint has a curve yet,
 *     the trade belongs to the mint that is not cash. If neither mint is cash, the owner is unknown, and the trade
 *     changes nothing.
 * K3. bonding → graduating by `complete`, either → graduated by `migrate`. Events of an earlier stage change nothing;
 *     trades belong to bonding. So later trades do not change the curve, nor does the share of a completing buy that
 *     the future pool fills.
 * K4. Reserves are those stated by the newest event or trade. A reserve that a trade omits becomes unknown, because
 *     an older value belongs to another state. An event without reserves keeps the last ones.
 */
export class CurveFold {
  readonly #rows: RowEdits<CurveRow>
  readonly #usdOf: (mint: Pubkey) => number | null

  /**
   * Takes a function that returns the USD value of one unit of a cash mint at the block's minute; null if unknown or
   * not cash.
   */
  constructor(stored: (mint: Pubkey) => CurveRow | null, usdOf: (mint: Pubkey) => number | null) {
    this.#rows = new RowEdits(stored)
    this.#usdOf = usdOf
  }

  launch(origin: RowOrigin, launch: Launch): void {
    const row = this.#rowOf(origin, launch.baseMint, launch.curve)
    if (row === null) return
    this.#put(origin, {
      ...row,
      ...quoteOf(row, launch.quoteMint),
      decimals: row.decimals ?? launch.decimals,
      creator: row.creator ?? launch.creator,
      created: row.created ?? { slot: origin.slot, blockTime: origin.blockTime }
    })
  }

  change(origin: RowOrigin, change: CurveChange): void {
    const { baseMint, quoteMint, curve, event, progressPct, destination } = change
    const row = this.#rowOf(origin, baseMint, curve)
    const status = STATUS_AFTER[event]
    if (row === null || CURVE_STAGES.indexOf(status) < CURVE_STAGES.indexOf(row.status)) return
    const { slot, blockTime, signature } = origin
    const reserves = statedReserves(change)
    const about = {
      ...row,
      ...quoteOf(row, quoteMint),
      ...(reserves === null ? {} : courseOf(row, reserves, startStated(row, change))),
      status,
      created: row.created ?? (event === 'create' ? { slot, blockTime } : null),
      graduated:
        row.graduated ?? (event === 'migrate' ? { slot, blockTime, signature, pool: destination } : null)
    }
    // A DBC curve completes at its threshold, which the completing trade may exceed.
    const isSoldOut = event === 'complete' && row.platform !== 'meteora-dbc'
    const held = isSoldOut ? reserves?.realQuote : undefined
    this.#put(origin, {
      ...about,
      ...this.#spotOf(about),
      progressPct: progressPct ?? about.progressPct,
      targetQuote: change.targetQuote ?? about.targetQuote ?? held ?? null
    })
  }

  /** Adds a trade on a launchpad, by its first row; `tokens` are its mints that are not cash. */
  trade(row: TradeRow, tokens: readonly Pubkey[]): void {
    const known = tokens.map((mint) => this.#rows.get(mint)).filter((curve) => curve !== null)
    const isNew = known.length === 0 && row.cashSide !== null
    const curve = isNew
      ? newCurve(row, row.mint, row.pool)
      : known.find((each) => samePubkey(each.curve, row.pool))
    if (curve?.status !== 'bonding') return
    const isBuy = samePubkey(row.outMint, curve.mint)
    const token = legOf(row, isBuy ? 'out' : 'in')
    const quote = legOf(row, isBuy ? 'in' : 'out')
    if (curve.quote !== null && !samePubkey(curve.quote, quote.mint)) return
    const about = {
      ...curve,
      ...courseOf(
        curve,
        row.reserves === null ? {} : curveReserves(row.reserves, isBuy),
        row.statedCurve ?? {}
      ),
      quote: quote.mint,
      decimals: curve.decimals ?? token.decimals,
      quoteDecimals: curve.quoteDecimals ?? quote.decimals,
      ...(row.priceForming ? { price: row.price, cashUsd: row.cashUsd } : {})
    }
    this.#put(row, { ...about, ...this.#spotOf(about, row.statedCurve?.sqrtPrice) })
  }

  changed(): CurveRow[] {
    return this.#rows.changed()
  }

  /** Returns the price of the next sold token, if the curve states virtual reserves or the price itself. */
  #spotOf(row: CurveRow, sqrtPrice?: bigint): Partial<Pick<CurveRow, 'price' | 'cashUsd'>> {
    const { quote, decimals, quoteDecimals, reserves } = row
    const { virtualBase, virtualQuote } = reserves
    if (quote === null || decimals === null || quoteDecimals === null) return {}
    if (virtualBase === undefined || virtualQuote === undefined) {
      if (sqrtPrice === undefined) return {}
      return { price: priceOfRoot(sqrtPrice, decimals, quoteDecimals), cashUsd: this.#usdOf(quote) }
    }
    const cash = { mint: quote, decimals: quoteDecimals, amount: virtualQuote }
    const price = priceOf(cash, { mint: row.mint, decimals, amount: virtualBase })
    return { price, cashUsd: this.#usdOf(quote) }
  }

  /**
   * Returns the mint's curve; creates it if the mint has no curve, and returns null if the mint has a different one
   * (K1).
   */
  #rowOf(origin: RowOrigin, mint: Pubkey, curve: Pubkey): CurveRow | null {
    const known = this.#rows.get(mint)
    if (known === null) return newCurve(origin, mint, curve)
    return samePubkey(known.curve, curve) ? known : null
  }

  #put({ cursor, slot, blockTime }: RowOrigin, row: CurveRow): void {
    this.#rows.set(row.mint, { ...row, cursor, slot, blockTime })
  }
}

const STATUS_AFTER: Readonly<Record<CurveChange['event'], CurveStatus>> = {
  create: 'bonding',
  complete: 'graduating',
  migrate: 'graduated'
}
/** The statuses of a curve in their order. */
export const CURVE_STAGES: readonly CurveStatus[] = ['bonding', 'graduating', 'graduated']

function newCurve({ venue, cursor, slot, blockTime }: RowOrigin, mint: Pubkey, curve: Pubkey): CurveRow {
  const tokens = { quote: null, decimals: null, quoteDecimals: null }
  const course = { progressPct: null, reserves: {}, forSale: null, targetQuote: null }
  const state = { status: 'bonding', ...course } as const
  const rest = { price: null, cashUsd: null, creator: null, created: null, graduated: null }
  return { mint, platform: venue, curve, ...tokens, ...state, ...rest, cursor, slot, blockTime }
}

function quoteOf(row: CurveRow, stated: Pubkey | null): Pick<CurveRow, 'quote' | 'quoteDecimals'> {
  const quote = row.quote ?? stated
  const known = quote !== null && isWrappedSol(quote) ? SOL_DECIMALS : null
  return { quote, quoteDecimals: row.quoteDecimals ?? known }
}

/** Returns the fields that follow from newly stated reserves, and from the other facts that the event states. */
function courseOf(
  row: CurveRow,
  reserves: CurveReserves,
  stated: StatedCurve
): Pick<CurveRow, 'reserves' | 'progressPct' | 'forSale' | 'targetQuote'> {
  const forSale = row.forSale ?? stated.forSale ?? null
  const course = curveCourse(reserves, forSaleOf(row.platform, forSale, reserves))
  // The target of a stated start stays: later reserves differ by the rounding of each trade.
  const known = row.forSale === null ? null : row.targetQuote
  const targetQuote = stated.targetQuote ?? known ?? course?.targetQuote ?? row.targetQuote
  return {
    reserves,
    progressPct: course?.progressPct ?? raisedPct(reserves, stated.targetQuote),
    forSale,
    targetQuote
  }
}

/** Returns the raised share of the quote that completes a curve, in percent; null if either is unknown. */
function raisedPct({ realQuote }: CurveReserves, target: bigint | undefined): number | null {
  if (realQuote === undefined || target === undefined || target === 0n) return null
  return Math.min(100, 100 * ratio(realQuote, target))
}

/** Returns the facts about its start that the creation of a sold-out curve states. */
function startStated({ platform }: CurveRow, { event, reserves, targetQuote }: CurveChange): StatedCurve {
  const isStart = event === 'create' && SOLD_OUT.has(platform) && reserves?.realBase !== undefined
  return {
    ...(isStart && { forSale: reserves.realBase }),
    ...(targetQuote !== undefined && { targetQuote })
  }
}

/** Returns the stated reserves; a curve being created holds no quote yet. */
function statedReserves({ event, reserves }: CurveChange): CurveReserves | null {
  return event === 'create' && reserves !== null ? { realQuote: 0n, ...reserves } : reserves
}

function curveReserves(reserves: TradeReserves, isBuy: boolean): CurveReserves {
  const { in: realIn, out: realOut, virtualIn, virtualOut } = reserves
  const [realBase, realQuote] = isBuy ? [realOut, realIn] : [realIn, realOut]
  const [virtualBase, virtualQuote] = isBuy ? [virtualOut, virtualIn] : [virtualIn, virtualOut]
  return {
    ...(realBase !== undefined && { realBase }),
    ...(realQuote !== undefined && { realQuote }),
    ...(virtualBase !== undefined && { virtualBase }),
    ...(virtualQuote !== undefined && { virtualQuote })
  }
}
