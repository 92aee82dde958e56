import { isRefused } from '../optional-key.ts'
import type { AccountServices } from '../services.ts'
import type { PoolAnswer } from './pool-directory.ts'
import { orientedSides, type CurveState } from './pool-state.ts'
import type { CurveReserves } from '../../chain/events.ts'
import { isWrappedSol, SOL_DECIMALS } from '../../market/cash.ts'
import { curveCourse } from '../../market/curve-course.ts'
import { CURVE_STAGES } from '../../market/curves.ts'
import { priceOf, priceOfRoot } from '../../market/price.ts'
import type { CurveRow } from '../../market/registry-rows.ts'

/** The source of a curve's state, and why the state is not fresh from its account. */
export interface CurveOrigin {
  readonly from: 'account' | 'event'
  readonly slot: number
  /** When the account was read, by the clock of the service; null for an event. */
  readonly readAtMs: number | null
  /** Null if the state is fresh, if an event is newer than a fresh account, or if the curve has ended. */
  readonly reason: string | null
}

export interface LiveCurve {
  readonly row: CurveRow
  readonly origin: CurveOrigin
  /** Tells whether no newer reading of the account has replaced the one used; absent if none was needed. */
  readonly isCurrent?: () => boolean
}

/** Returns a curve at the state of its newest event. */
export const curveOfEvents = (row: CurveRow, reason: string | null = null): LiveCurve => ({
  row,
  origin: { from: 'event', slot: row.slot, readAtMs: null, reason }
})

/**
 * Returns a curve at the state of its account, or of its newest event if that event is newer. A migrated curve needs no
 * read. Waits for the node as long as `PoolDirectory.within` does.
 */
export async function readCurve(
  accounts: Pick<AccountServices, 'pools'> | null,
  row: CurveRow
): Promise<LiveCurve> {
  if (row.status === 'graduated') return curveOfEvents(row)
  if (accounts === null) return curveOfEvents(row, 'this process has no node to read accounts from')
  const subject = { pool: row.curve, venue: row.platform }
  const [answer] = await accounts.pools.within([subject])
  return { ...curveAt(row, answer!), isCurrent: accounts.pools.untilReplaced(subject, answer!.known) }
}

/** Returns a curve at the state of its account's reading, or of its newest event. */
function curveAt(row: CurveRow, { known, fault }: PoolAnswer): LiveCurve {
  if (known === null) return curveOfEvents(row, fault)
  const { state } = known.reading
  if (isRefused(state)) return curveOfEvents(row, `the account ${state.reason}`)
  const quote = row.quote ?? state.sides[1].mint
  if (state.curve === null || quote === null || orientedSides(state, row.mint, quote) === null)
    return curveOfEvents(row, 'the account is of another curve')
  if (known.slot < row.slot) return curveOfEvents(row, fault)
  const origin = { from: 'account', slot: known.slot, readAtMs: known.readAtMs, reason: fault } as const
  return { row: withState({ ...row, quote }, state.curve), origin }
}

/**
 * Applies a state to a curve, unless the state is older. Fields that the account does not state keep the values of events
 * while the account has the reserves of those events; after that they are unknown.
 */
export function withState(row: CurveRow, state: CurveState): CurveRow {
  const isSame = agrees(row.reserves, state.reserves)
  const reserves = isSame ? { ...row.reserves, ...state.reserves } : state.reserves
  const isLater = CURVE_STAGES.indexOf(state.status) > CURVE_STAGES.indexOf(row.status)
  const status = isLater ? state.status : row.status
  const isSol = row.quote !== null && isWrappedSol(row.quote)
  const about = {
    ...row,
    reserves,
    status,
    quoteDecimals: row.quoteDecimals ?? (isSol ? SOL_DECIMALS : null)
  }
  const progress = state.progressPct ?? curveCourse(reserves, row.forSale)?.progressPct
  // The creation of a Pump.fun curve states its start; the account of an older version does not.
  const target = row.platform === 'pumpfun' && row.forSale !== null ? row.targetQuote : null
  return {
    ...about,
    progressPct: progress ?? (isSame || status !== 'bonding' ? row.progressPct : null),
    targetQuote: target ?? state.targetQuote ?? row.targetQuote,
    price: status === 'graduated' ? row.price : (spotOf(about, state) ?? row.price)
  }
}

/** Tells whether all reserves that both states have are equal, and both have at least one. */
function agrees(one: CurveReserves, other: CurveReserves): boolean {
  const names = ['realBase', 'realQuote', 'virtualBase', 'virtualQuote'] as const
  const both = names.filter((name) => one[name] !== undefined && other[name] !== undefined)
  return both.length > 0 && both.every((name) => one[name] === other[name])
}

/** Returns the price of the next token, in human units. */
function spotOf(
  { mint, quote, decimals, quoteDecimals, reserves }: CurveRow,
  { sqrtPrice }: CurveState
): number | null {
  if (quote === null || decimals === null || quoteDecimals === null) return null
  const { virtualBase, virtualQuote } = reserves
  if (virtualBase !== undefined && virtualQuote !== undefined) {
    const cash = { mint: quote, decimals: quoteDecimals, amount: virtualQuote }
    return priceOf(cash, { mint, decimals, amount: virtualBase })
  }
  return sqrtPrice === null ? null : priceOfRoot(sqrtPrice, decimals, quoteDecimals)
}
