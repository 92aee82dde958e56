import { z } from 'zod'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import type { ActivityMinute } from '../../market/activity-rows.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import { addressOrNull, humanOrNull, unpricedIn, usdOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark, sourceOfBucket, type ArchiveEnd } from '../../ingest/bodies/source.ts'
import { secondsText } from '../../kernel/http/time.ts'

const MINUTE = z
  .object({
    ts: schema.time('Start of the minute', 'block'),
    ts_ms: schema.unixMs('Start of the minute', 'block'),
    events: schema.count('Trades and all other events'),
    trades: schema.count('Trades'),
    buys: schema.count('Trades in which cash was spent for the token'),
    sells: schema.count('Trades in which the token was sold for cash'),
    volume_usd: schema
      .usd('Volume')
      .nullable()
      .describe(
        'Volume in USD of the trades with a value in USD; null if no trade of the minute has one. `unpriced_trades` says how many it lacks'
      ),
    unpriced_trades: schema.unpricedTrades('`volume_usd`'),
    volume_cash: schema
      .amount('Cash traded')
      .nullable()
      .describe('Cash traded, in human units; null if neither side is cash, or its decimals are unknown'),
    volume_token: schema
      .amount('Tokens traded')
      .nullable()
      .describe(
        'Tokens (base) traded, in human units; null if its decimals are unknown. For a pool of two tokens also null in live minutes, if the archive has the pool the other way around'
      ),
    liquidity_events: schema.count('Additions and removals of liquidity'),
    source: sourceMark('the minute begins in the time of blocks')
  })
  .meta({ id: 'PoolMinute', description: 'Activity of a pool in one minute' })

const UNKNOWN = 'null for a pool that no event has named'

export const POOL_ACTIVITY = z
  .object({
    pool: schema.address('The pool'),
    venue: schema.venue('Its venue').nullable().describe(`Its venue; ${UNKNOWN}`),
    base_mint: schema.address('The token').nullable().describe(`The token; ${UNKNOWN}`),
    quote_mint: schema.address('Its cash').nullable().describe(`Its cash or the other token; ${UNKNOWN}`),
    data: z.array(MINUTE).describe('Newest first; minutes without an event are left out')
  })
  .meta({ id: 'PoolActivity', description: 'Activity of a pool by the minute' })

/** A pool, and whether live minutes count the tokens of its other side. */
type CountedPool = PoolRow & { readonly isReversedLive?: true }

/** Renders the activity of a pool without its minutes; `row` is null for a pool that no event has named. */
export function poolActivityBody(
  pool: Pubkey,
  row: CountedPool | null
): Omit<z.input<typeof POOL_ACTIVITY>, 'data'> {
  return {
    pool: pubkeyToBase58(pool),
    venue: row?.venue ?? null,
    base_mint: addressOrNull(row?.base ?? null),
    quote_mint: addressOrNull(row?.quote ?? null)
  }
}

/** Renders a minute of a pool's activity. */
export function minuteBody(
  minute: ActivityMinute,
  row: CountedPool | null,
  archiveEnd: ArchiveEnd
): z.input<typeof MINUTE> {
  const { trades, priced, volumeMicroUsd, volumeCash, volumeToken } = minute
  // A pool that is also listed under its quote has no cash side.
  const hasCash = row?.quoteListed === false
  // The minute around the end of the archive can have live trades.
  const mayBeLive = archiveEnd !== null && minute.minute > archiveEnd.blockTime - 2 * 60
  const isOfBase = !(mayBeLive && row?.isReversedLive === true)
  return {
    ts: secondsText(minute.minute),
    ts_ms: minute.minute * 1000,
    events: minute.events,
    trades,
    buys: minute.buys,
    sells: minute.sells,
    volume_usd: usdOrNull(trades > 0 && priced === 0 ? null : volumeMicroUsd),
    ...unpricedIn(trades - priced),
    volume_cash: hasCash ? humanOrNull(volumeCash, decimalsOf(volumeCash, row.quoteDecimals)) : null,
    volume_token: isOfBase
      ? humanOrNull(volumeToken, decimalsOf(volumeToken, row?.baseDecimals ?? null))
      : null,
    liquidity_events: minute.liquidity,
    ...sourceOfBucket(minute.minute, archiveEnd)
  }
}

/** Returns 0 decimals for a zero amount, which needs none. */
function decimalsOf(amount: bigint, decimals: number | null): number | null {
  return amount === 0n ? 0 : decimals
}
