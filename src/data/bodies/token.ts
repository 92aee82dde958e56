import { z } from 'zod'
import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { priceUsd } from '../../market/cash-price.ts'
import { type PricedPair } from '../../market/latest-price.ts'
import type { CurveRow, TokenRow } from '../../market/registry-rows.ts'
import type { LaunchRow, LaunchStatus } from '../../market/rows.ts'
import { VALUED_POOLS_MAX, type TokenValue } from '../../market/token-value.ts'
import type { ActivityWindow, MintWindow } from '../../market/windows.ts'
import { CURVE, curveBody } from './curve.ts'
import { METADATA, NAMES } from '../../accounts/bodies/metadata.ts'
import { curveOfEvents } from '../../accounts/pools/live-curve.ts'
import {
  addressOrNull,
  solAmount,
  timeOrNull,
  unpricedIn,
  unpricedInDay,
  unvaluedIn,
  usdOrNull
} from './event.ts'
import { LAUNCH_STATUSES } from './launch.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark, sourceOfSlot, type ArchiveEnd } from '../../ingest/bodies/source.ts'
import { secondsText } from '../../kernel/http/time.ts'

/** The rolling windows of a token, in seconds. */
export const TOKEN_WINDOWS = { '5m': 300, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const
export type TokenWindow = keyof typeof TOKEN_WINDOWS

const UNPRICED = 'of trades with a value in USD; null if there are trades and none has one'
const TRADERS =
  'Distinct traders: exact up to 256 in an hour, else estimated with a standard error of 2.3 %; null if unknown'
const WINDOW = z
  .object({
    volume_usd: schema.usd('Volume').nullable().describe(`Volume in USD, ${UNPRICED}`),
    unpriced_trades: schema.unpricedTrades('`volume_usd`'),
    trades: schema.count('Trades'),
    buys: schema.count('Trades in which cash was spent for the token'),
    sells: schema.count('Trades in which the token was sold for cash'),
    buy_usd: schema.usd('Volume of buys').nullable().describe(`Volume of buys in USD, ${UNPRICED}`),
    sell_usd: schema.usd('Volume of sells').nullable().describe(`Volume of sells in USD, ${UNPRICED}`),
    traders: schema.count(TRADERS).nullable(),
    price_change_pct: z.number().nullable().describe(schema.PRICE_CHANGE)
  })
  .meta({
    id: 'TokenWindow',
    description:
      'Activity of a token in a window of whole minutes that ends with the minute of the indexed head'
  })

const SUPPLY = schema
  .amount('Supply')
  .nullable()
  .describe(`Supply in human units, ${schema.SUPPLY}. ${schema.SCALED}`)

const HOLDERS = z
  .object({
    count: schema
      .count('Owners with tokens')
      .nullable()
      .describe(
        'Owners with tokens. All fields of this object are null until the first request of `/v1/tokens/{mint}/holders`'
      ),
    top10_pct: z
      .number()
      .nullable()
      .describe('Share of the 10 largest owners in the sum of all token accounts, in percent'),
    top10_adjusted_pct: z
      .number()
      .nullable()
      .describe('This share without pools, curves and burn addresses; null if not all of these are known'),
    updated_at: schema.time('Time at which the list was complete', 'service').nullable()
  })
  .meta({ id: 'HolderSummary' })

/** The summary of a token that has no holder list. */
export const NO_HOLDERS: z.input<typeof HOLDERS> = {
  count: null,
  top10_pct: null,
  top10_adjusted_pct: null,
  updated_at: null
}

const LAST_TRADE = z
  .object({
    ts: schema.time('Time of the trade', 'block'),
    ts_ms: schema.unixMs('Time of the trade', 'block'),
    slot: schema.count('Its slot'),
    signature: schema.signature('Its transaction')
  })
  .meta({ id: 'LastTrade', description: 'The newest trade of any venue' })

export const TOKEN = z
  .object({
    mint: schema.address('The token'),
    ...NAMES,
    token_program: METADATA.shape.token_program,
    venue: schema.venue('Venue of the launch').nullable().describe('Venue of the launch; null when unknown'),
    creator: schema.address('Creator').nullable().describe('Creator; null when unknown'),
    created_at: schema
      .time('Time of the launch', 'block')
      .nullable()
      .describe('Time of the launch; block time, UTC, `YYYY-MM-DD HH:MM:SS`; null when unknown'),
    metadata: METADATA.omit({ age_seconds: true }).meta({
      id: 'TokenMetadata',
      description: 'Data from the accounts of the mint, with the slot and time at which they were read'
    }),
    status: z
      .enum(LAUNCH_STATUSES)
      .describe(
        'Lifecycle: `created`; `trading` from its first trade; `graduated` once its curve has migrated. For a token without a known launch, it follows from the observed events'
      ),
    price: schema
      .price('Price')
      .nullable()
      .describe('Cash per token of the newest price-forming trade; null before the first one'),
    price_usd: schema.usd('Price').nullable().describe(schema.PRICE_USD),
    cash_mint: schema.address('The cash of that trade').nullable(),
    price_ts: schema.time('Time of that trade', 'block').nullable(),
    price_slot: schema.count('Slot of that trade').nullable(),
    price_venue: schema.venue('Venue of that trade').nullable(),
    market_cap_usd: schema
      .usd('Circulating supply × price')
      .nullable()
      .describe(
        '`circulating_supply` × `price_usd`, without the `ui_multiplier` of the mint; null if either is null, and for wrapped SOL, whose mint states no supply'
      ),
    fdv_usd: schema
      .usd('Supply × price')
      .nullable()
      .describe('`supply` × `price_usd`, without the `ui_multiplier` of the mint; null if either is null'),
    supply: SUPPLY,
    supply_slot: schema.count('Slot').nullable().describe(schema.SUPPLY_SLOT),
    circulating_supply: schema
      .amount('Circulating supply')
      .nullable()
      .describe(
        'Supply in human units without the tokens that its bonding curve still holds. It is the whole supply once the curve has graduated, and for a token without launch and curve. Null if the supply or the reserves of the curve are unknown. If the mint scales displayed amounts (`ui_multiplier`), it is multiplied'
      ),
    liquidity_usd: schema
      .usd('Liquidity')
      .nullable()
      .describe(
        `Liquidity in USD: ${schema.LIQUIDITY}; null if no pool has a known liquidity, and for a token with more than ${VALUED_POOLS_MAX} pools`
      ),
    unvalued_pools: schema.unvaluedPools,
    liquidity_slot: schema
      .count('Slot of the liquidity')
      .nullable()
      .describe(
        'Slot of the oldest accounts that the liquidity comes from; null if it comes from trades alone, and if `liquidity_usd` is null'
      ),
    volume_24h_usd: schema
      .usd('Volume')
      .nullable()
      .describe(`Volume in USD in the ${schema.DAY}, ${UNPRICED}`),
    unpriced_trades_24h: schema.unpricedTrades('`volume_24h_usd`'),
    volume_24h_sol: schema.amount(`Wrapped SOL traded against it in the ${schema.DAY}`),
    trades_24h: schema.count(`Trades in the ${schema.DAY}`),
    buys_24h: schema.count(`Buys in the ${schema.DAY}`),
    sells_24h: schema.count(`Sells in the ${schema.DAY}`),
    traders_24h: schema.count(`${TRADERS}; in the ${schema.DAY}`).nullable(),
    price_change_1h_pct: z.number().nullable().describe(`${schema.PRICE_CHANGE}. The window is one hour`),
    price_change_24h_pct: z
      .number()
      .nullable()
      .describe(`${schema.PRICE_CHANGE}. The window is the ${schema.DAY}`),
    windows: z.object({ '5m': WINDOW, '1h': WINDOW, '6h': WINDOW, '24h': WINDOW }),
    holders: HOLDERS,
    bonding_curve: CURVE.nullable().describe('Its bonding curve; null if none is known'),
    pools_count: schema.count('Pools in which it is listed, including past ones'),
    last_trade: LAST_TRADE.nullable().describe('The newest trade of any venue; null before the first one'),
    source: sourceMark('its newest trade is, or without a trade its launch,')
  })
  .meta({ id: 'Token', description: 'Summary of a token' })

/** Everything known about a mint. */
export interface KnownToken {
  readonly mint: Pubkey
  readonly metadata: z.input<typeof METADATA>
  readonly token: TokenRow | null
  readonly launch: LaunchRow | null
  readonly curve: CurveRow | null
  readonly pair: PricedPair | null
  readonly value: TokenValue
  /** Slot of the oldest accounts behind its liquidity; null if all reserves come from trades. */
  readonly liquiditySlot: number | null
  readonly holders: z.input<typeof HOLDERS>
  readonly archiveEnd: ArchiveEnd
}

/** A window of a mint with its change in percent. */
type PricedWindow = MintWindow & Pick<ActivityWindow, 'changePct'>

/** Renders the overview of a token. */
export function tokenBody(
  known: KnownToken,
  windows: Readonly<Record<TokenWindow, PricedWindow>>
): z.input<typeof TOKEN> {
  const { token, launch, curve, pair, value, archiveEnd } = known
  const mint = pubkeyToBase58(known.mint)
  const decimals = token?.decimals ?? known.metadata.decimals
  const { age_seconds: _, ...read } = known.metadata
  const metadata = { ...read, decimals }
  const { name, symbol, uri, token_program, ui_multiplier: multiplier = null } = metadata
  const day = windows['24h']
  return {
    mint,
    name,
    symbol,
    uri,
    decimals,
    token_program,
    venue: launch?.venue ?? curve?.platform ?? null,
    creator: addressOrNull(launch?.creator ?? curve?.creator ?? null),
    created_at: timeOrNull(launch?.blockTime ?? curve?.created?.blockTime),
    metadata,
    status: statusOf(known),
    price: pair?.last.price ?? null,
    price_usd: pair === null ? null : priceUsd(pair.last),
    cash_mint: addressOrNull(pair?.cash ?? null),
    price_ts: timeOrNull(pair?.last.blockTime),
    price_slot: pair?.last.slot ?? null,
    price_venue: pair?.last.venue ?? null,
    market_cap_usd: value.marketCapUsd,
    fdv_usd: value.fdvUsd,
    supply: multiplier === null ? value.supply : metadata.supply,
    supply_slot: value.supplySlot,
    circulating_supply: value.circulating === null ? null : value.circulating * (multiplier ?? 1),
    liquidity_usd: value.liquidityUsd,
    ...unvaluedIn(value),
    liquidity_slot: value.liquidityUsd === null ? null : known.liquiditySlot,
    volume_24h_usd: usdOrNull(day.volumeMicroUsd),
    ...unpricedInDay(day.unpriced),
    volume_24h_sol: solAmount(day.volumeCash),
    trades_24h: day.trades,
    buys_24h: day.buys,
    sells_24h: day.sells,
    traders_24h: day.traders,
    price_change_1h_pct: windows['1h'].changePct,
    price_change_24h_pct: day.changePct,
    windows: {
      '5m': windowBody(windows['5m']),
      '1h': windowBody(windows['1h']),
      '6h': windowBody(windows['6h']),
      '24h': windowBody(day)
    },
    holders: known.holders,
    bonding_curve: curve === null ? null : curveBody(curveOfEvents(curve), 0, archiveEnd),
    pools_count: token?.pools ?? 0,
    last_trade: lastTradeBody(token),
    ...sourceOfSlot((token?.lastTrade ?? launch)?.slot, archiveEnd)
  }
}

function statusOf({ token, launch, curve }: KnownToken): LaunchStatus {
  if (launch !== null) return launch.status
  if (curve?.status === 'graduated') return 'graduated'
  return (token?.trades ?? 0) > 0 ? 'trading' : 'created'
}

function windowBody(window: PricedWindow): z.input<typeof WINDOW> {
  return {
    volume_usd: usdOrNull(window.volumeMicroUsd),
    ...unpricedIn(window.unpriced),
    trades: window.trades,
    buys: window.buys,
    sells: window.sells,
    buy_usd: usdOrNull(window.buyMicroUsd),
    sell_usd: usdOrNull(window.sellMicroUsd),
    traders: window.traders,
    price_change_pct: window.changePct
  }
}

function lastTradeBody(token: TokenRow | null): z.input<typeof LAST_TRADE> | null {
  if (token === null || token.lastTrade === null) return null
  const { blockTime, slot, signature } = token.lastTrade
  return { ts: secondsText(blockTime), ts_ms: blockTime * 1000, slot, signature: encodeBase58(signature) }
}
