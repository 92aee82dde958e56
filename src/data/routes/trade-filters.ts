import { z } from 'zod'
import { VENUE_IDS, type VenueId } from '../../chain/venue-id.ts'
import { humanAmount } from '../../market/amount.ts'
import { POSITIONS_PER_SLOT } from '../../market/cursor.ts'
import { legOf } from '../../market/legs.ts'
import type { TradeRow } from '../../market/rows.ts'
import type { BlockStore, PageRequest } from '../../../storage/port.ts'
import { instant } from '../../kernel/http/instant.ts'
import { invalid, oneOf } from '../../kernel/http/parameters.ts'

/**
 * An amount in USD, in every form of a JSON number that answers contain: up to 24 characters. A space stands for the
 * plus sign of an exponent that was not escaped in the URL.
 */
export const amountUsd = z
  .string()
  .regex(/^[0-9]+(?:\.[0-9]+)?(?:[eE][-+ ]?[0-9]+)?$/, 'must be an amount in USD, as 1000, 0.5 or 1e-7')
  .transform((text) => Number(text.replace(' ', '+')))
  .meta({ type: 'number', minimum: 0 })

/** The filters of a list of trades. */
export const TRADE_FILTERS = {
  from: instant
    .optional()
    .describe('Only trades at or after this block time: unix seconds, or ISO 8601 (UTC without a zone)'),
  to: instant
    .optional()
    .describe('Only trades before this block time: unix seconds, or ISO 8601 (UTC without a zone)'),
  venue: oneOf(VENUE_IDS).optional().describe('Only trades on this venue'),
  side: oneOf(['buy', 'sell'])
    .optional()
    .describe('Only buys, or only sells; trades without a cash side are neither'),
  min_usd: amountUsd
    .optional()
    .describe('Only trades with at least this value in USD; trades without a known value are left out')
} as const

export interface TradeFilters {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly venue?: VenueId | undefined
  readonly side?: 'buy' | 'sell' | undefined
  readonly min_usd?: number | undefined
}

/** Checks that a range of times is not empty. Throws PARAMETER_INVALID. */
export function checkRange({ from, to }: Pick<TradeFilters, 'from' | 'to'>): void {
  if (from !== undefined && to !== undefined && from >= to) throw invalid('from', 'must be before to')
}

/** Returns a predicate of the filters; null if no filter is set. */
export function matcherOf(filters: TradeFilters): ((row: TradeRow) => boolean) | null {
  const { from = -Infinity, to = Infinity, venue, side, min_usd: minUsd } = filters
  if (Object.values(filters).every((value) => value === undefined)) return null
  const cashSide = side === undefined ? undefined : side === 'buy' ? 'in' : 'out'
  return (row) =>
    row.blockTime >= from &&
    row.blockTime < to &&
    (venue === undefined || row.venue === venue) &&
    (cashSide === undefined || row.cashSide === cashSide) &&
    (minUsd === undefined || isWorth(row, minUsd))
}

function isWorth(row: TradeRow, minUsd: number): boolean {
  if (row.cashSide === null || row.cashUsd === null) return false
  const { amount, decimals } = legOf(row, row.cashSide)
  return humanAmount(amount, decimals) * row.cashUsd >= minUsd
}

/** Returns equal text for equal filters, whatever their order and spelling. */
export function filterText({ from, to, venue, side, min_usd: minUsd }: TradeFilters): string {
  return [from, to, venue, side, minUsd].join(',')
}

/** Seconds by which block times may fall from slot to slot; a row near a bound is checked by its own time. */
export const DISORDER_SECONDS = 5

/** Returns the range of cursors that covers a range of times; null for an empty range. */
export async function cursorRange(
  blocks: Pick<BlockStore, 'firstSince'>,
  { from, to }: Pick<TradeFilters, 'from' | 'to'>,
  order: PageRequest['order'],
  after: number | undefined
): Promise<Pick<PageRequest, 'from' | 'until'> | null> {
  const [first, end] = await Promise.all([
    from === undefined ? 0 : blocks.firstSince(from - DISORDER_SECONDS),
    to === undefined ? null : blocks.firstSince(to + DISORDER_SECONDS)
  ])
  if (first === null) return null
  const lowest = first * POSITIONS_PER_SLOT
  const beyond = end === null ? Number.MAX_SAFE_INTEGER : end * POSITIONS_PER_SLOT
  return order === 'desc'
    ? { from: Math.min(after ?? beyond, beyond), until: lowest }
    : { from: Math.max(after ?? -1, lowest - 1), until: beyond - 1 }
}
