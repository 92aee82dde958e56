import { z } from 'zod'
import type { VenueId } from '../../chain/venue-id.ts'
import type { TotalsRow } from '../../market/activity-rows.ts'
import type { SlotRow, SolPriceRow } from '../../market/rows.ts'
import { TraderUnion } from '../../market/traders.ts'
import type { ActivityWindow } from '../../market/windows.ts'
import { solAmount, unpricedIn, usdOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

const UNPRICED =
  'of those with a known value; null if there are trades and none has one. `unpriced_trades` says how many it lacks'
const change = (of: string) =>
  schema
    .percent(`Change of ${of}`)
    .nullable()
    .describe(
      `Change of ${of} against the preceding window of equal length, in percent; null if that window has no value, or the index does not reach back to it`
    )

const WINDOW = z
  .object({
    trades: schema.count('Trades; a trade listed under two mints counts once'),
    volume_usd: schema
      .usd('Value of the trades')
      .nullable()
      .describe(`Value of the trades in USD, ${UNPRICED}`),
    unpriced_trades: schema.unpricedTrades('`volume_usd`'),
    volume_sol: schema.amount('Volume in SOL of the trades whose cash is wrapped SOL'),
    active_tokens: schema.count('Tokens with a trade'),
    traders: schema
      .count('Distinct traders')
      .nullable()
      .describe(
        'Distinct traders: exact up to 256 in each hour, else estimated with a standard error of 2.3 %; null if blocks newer than the head are known'
      ),
    launches: schema.count('Tokens launched'),
    trades_change_pct: change('the trades'),
    volume_usd_change_pct: change('`volume_usd`, which lacks the trades without a value in either window,'),
    volume_sol_change_pct: change('the wrapped SOL'),
    launches_change_pct: change('the launches')
  })
  .meta({ id: 'StatsWindow', description: 'Activity of the whole market in a rolling window' })

export const STATS = z
  .object({
    tenant: schema.text('Tenant of the key in use'),
    sol_price_usd: schema
      .usd('Price of SOL')
      .nullable()
      .describe('SOL price of the head, in USD; null if the chain has none'),
    sol_price: z
      .object({
        usd: schema.usd('Price of SOL'),
        minute: schema.time('The minute for which the price is used', 'block'),
        source_minute: schema
          .time('The minute', 'block')
          .nullable()
          .describe(
            'The minute of the trades that it comes from; null if it is the starting value set by the operator; block time, UTC, `YYYY-MM-DD HH:MM:SS`'
          ),
        age_seconds: schema
          .count('Seconds')
          .nullable()
          .describe(
            "Seconds from the start of that minute to the head's block time; null if that minute is null"
          )
      })
      .nullable()
      .describe('Origin of `sol_price_usd`'),
    updated_at: schema
      .time('Time of the newest indexed block', 'block')
      .nullable()
      .describe(
        'Time of the newest indexed block; the windows end with its minute; null while nothing is indexed; block time, UTC, `YYYY-MM-DD HH:MM:SS`'
      ),
    windows: z.object({
      '1h': WINDOW.describe('60 minutes, including the current one'),
      '24h': WINDOW.describe('1,440 minutes, including the current one')
    }),
    totals: z
      .object({
        trades: schema.count('Trades'),
        volume_usd: schema.usd('Their value').nullable().describe(`Their value in USD, ${UNPRICED}`),
        unpriced_trades: schema
          .count('Trades')
          .nullable()
          .optional()
          .describe(
            'Trades without a value in USD, which `volume_usd` lacks. Absent if it has all trades; null if a version that did not count them began the index'
          ),
        volume_sol: schema.amount('Volume in SOL of the trades whose cash is wrapped SOL'),
        tokens: schema.count('Tokens named by a trade or another event'),
        traders: schema.count(
          'Distinct traders: exact up to 256, else estimated with a standard error of 1.6 %'
        ),
        launches: schema.count('Tokens launched')
      })
      .describe('Since the index began'),
    venues: z.array(schema.venue('A venue')).describe('The venues that are indexed'),
    localnet: schema.localnetMark
  })
  .meta({ id: 'Stats', description: 'The whole market' })

/** A window of the market, with the window before it if the index reaches back that far. */
export interface MarketWindow {
  readonly now: ActivityWindow
  readonly before: ActivityWindow | null
  readonly activeTokens: number
}

/** Figures of the whole market at a head; null on an empty store. */
export interface MarketStats {
  readonly head: SlotRow | null
  /** The price of SOL in the head's minute. */
  readonly solPrice: SolPriceRow | null
  readonly windows: Readonly<Record<'1h' | '24h', MarketWindow>>
  readonly totals: TotalsRow | null
}

/** Renders the market's figures. */
export function statsBody(
  { head, solPrice, windows, totals }: MarketStats,
  venues: readonly VenueId[],
  tenant: string
): z.input<typeof STATS> {
  return {
    tenant,
    sol_price_usd: solPrice?.usd ?? null,
    sol_price: head === null || solPrice === null ? null : solPriceBody(solPrice, head.blockTime),
    updated_at: head === null ? null : secondsText(head.blockTime),
    windows: { '1h': windowBody(windows['1h']), '24h': windowBody(windows['24h']) },
    totals: totalsBody(totals),
    venues: [...venues]
  }
}

function solPriceBody({ usd, minute, sourceMinute }: SolPriceRow, headTime: number) {
  return {
    usd,
    minute: secondsText(minute),
    source_minute: sourceMinute === null ? null : secondsText(sourceMinute),
    age_seconds: sourceMinute === null ? null : headTime - sourceMinute
  }
}

function windowBody({ now, before, activeTokens }: MarketWindow) {
  return {
    trades: now.trades,
    volume_usd: usdOrNull(now.volumeMicroUsd),
    ...unpricedIn(now.unpriced),
    volume_sol: solAmount(now.volumeCash),
    active_tokens: activeTokens,
    traders: now.traders,
    launches: now.launches,
    trades_change_pct: changePct(before?.trades, now.trades),
    volume_usd_change_pct: changePct(before?.volumeMicroUsd, now.volumeMicroUsd),
    volume_sol_change_pct: changePct(before?.volumeCash, now.volumeCash),
    launches_change_pct: changePct(before?.launches, now.launches)
  }
}

function totalsBody(totals: TotalsRow | null) {
  const traders = new TraderUnion()
  if (totals !== null) traders.add(totals.traders)
  const { trades = 0, volumeMicroUsd = 0n, unpriced } = totals ?? { unpriced: 0 }
  const isUnpriced = trades > 0 && (unpriced === undefined ? volumeMicroUsd === 0n : unpriced === trades)
  return {
    trades,
    volume_usd: isUnpriced ? null : usdOrNull(volumeMicroUsd),
    ...(unpriced === undefined ? { unpriced_trades: null } : unpricedIn(unpriced)),
    volume_sol: solAmount(totals?.volumeLamports ?? 0n),
    tokens: totals?.tokens ?? 0,
    traders: traders.count,
    launches: totals?.launches ?? 0
  }
}

type Sum = number | bigint | null

function changePct(before: Sum | undefined, now: Sum): number | null {
  const from = Number(before ?? 0)
  return from === 0 || now === null ? null : ((Number(now) - from) / from) * 100
}
