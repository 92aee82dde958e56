import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { withReserves, type PoolReserves } from '../../accounts/pools/live-reserves.ts'
import { POOL, poolBody } from '../bodies/pool.ts'
import type { MarketPool, MarketStores } from '../../archive/market-stores.ts'
import * as schema from '../../kernel/http/schema.ts'
import { untilNextSecond } from '../../kernel/http/time.ts'
import { pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import type { ActivityHour } from '../../market/activity-rows.ts'
import type { CurveRow, PoolRow } from '../../market/registry-rows.ts'
import type { SlotRow } from '../../market/rows.ts'
import { poolLiquidityUsd } from '../../market/token-value.ts'
import { windowHours, windowOf, windowSpan } from '../../market/windows.ts'
import { WSOL } from '../../market/cash.ts'
import type { DataNeeds } from './needs.ts'
import { readReserves } from './pool-reserves.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { marketReader } from './market-reader.ts'
import { allOf, knownFacts, type AgeLimit } from './known-mint.ts'
import { address, oneOf, paging } from '../../kernel/http/parameters.ts'
import {
  poolsSum,
  RANKED_POOLS_MAX,
  rankingExpired,
  rankPlaces,
  readRankingCursor,
  writeRankingCursor,
  type RankingPlace
} from './pool-ranking.ts'
import { ERRORS } from '../../kernel/errors.ts'

const DAY = 86_400
const { limit, after } = paging(RANKED_POOLS_MAX, 50)

export const tokenPools = endpoint({
  path: '/v1/tokens/{mint}/pools',
  tag: 'Tokens',
  summary: 'Pools of a token',
  description: `The pools, curves and markets of a token, the most liquid one first. Pools of unknown liquidity come last, the most recently \
first seen one first. All pages of a paging run keep the order of its first page. If a token has more than ${RANKED_POOLS_MAX} \
pools, the newest ${RANKED_POOLS_MAX} are in this order. Older ones follow, the newest first. Reserves are read from the accounts at confirmed. If the newest trade is newer and states its reserves, those are used. The service waits up to 1 s for the accounts; \`reserves_reason\` says why they are missing or old. A pool is listed under its token, and a pool of two tokens under both. Pools that only an imported archive knows follow, with \`live: false\` and null reserves. Empty for an unknown token.`,
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  query: z.object({
    limit,
    order: oneOf(['desc', 'asc']).default('desc').describe('`desc`: the most liquid first'),
    after
  }),
  answer: schema
    .listOf(POOL)
    .extend({ mint: schema.address('The token') })
    .meta({ id: 'Pools' }),
  errors: [ERRORS.CURSOR_INVALID, ERRORS.CURSOR_EXPIRED],
  examples: [{ name: 'Pools of wrapped SOL', params: { mint: WSOL }, query: { limit: '10' } }]
})

type Deps = Pick<DataNeeds, 'storage' | 'archive' | 'cash' | 'accounts' | 'clock'>

/** The stores that provide pools. */
export interface PoolDeps extends Pick<DataNeeds, 'storage' | 'cash' | 'accounts' | 'clock'> {
  readonly market: MarketStores
}

export const tokenPoolRoutes: FastifyPluginAsync<Deps> = async (app, { archive, ...own }) => {
  const marketOf = marketReader({ ...own, archive })
  serveCached(app, tokenPools, async ({ params: { mint }, query, head }) => {
    const list = `pools:${pubkeyToBase58(mint)}:${query.order}`
    const place = query.after === undefined ? null : readRankingCursor(list, query.after)
    const deps = { ...own, market: marketOf() }
    const curve = await deps.market.curves.get(mint)
    const { rows, known, next } = await pageOf(mint, { ...query, place, curve }, deps)
    const { bodies, unnamed, limits } = await poolBodies(rows, curve, head, deps, known)
    return {
      body: {
        mint: pubkeyToBase58(mint),
        data: bodies,
        nextCursor: next === null ? null : writeRankingCursor(list, next)
      },
      dependsOn: [mint, ...unnamed],
      changesWith: 'minute',
      ...limits
    }
  })
}

/** A page of a token's pools. */
interface PoolPage {
  readonly rows: readonly MarketPool[]
  /** Names, decimals and reserves of the rows; undefined if they were not read. */
  readonly known: KnownPools | undefined
  /** Position of the next page; null on the last page. */
  readonly next: RankingPlace | null
}

interface PageQuery {
  readonly place: RankingPlace | null
  readonly curve: CurveRow | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Reads a page of a token's pools: ranked ones, then older ones. Throws CURSOR_EXPIRED. */
async function pageOf(mint: Pubkey, query: PageQuery, deps: PoolDeps): Promise<PoolPage> {
  const { place, limit } = query
  if (place !== null && place.left.length === 0) return olderPage(mint, place.before, limit, deps)
  const ranked = await rankedPage(mint, query, deps)
  if (ranked.next === null || ranked.next.left.length > 0) return ranked
  const older = await olderPage(mint, ranked.next.before, limit - ranked.rows.length, deps)
  if (older.rows.length === 0) return { ...ranked, next: older.next }
  return { ...older, rows: [...ranked.rows, ...older.rows] }
}

/** Reads ranked pools: ordered by their current liquidity, or as on the first page. */
async function rankedPage(mint: Pubkey, query: PageQuery, deps: PoolDeps): Promise<PoolPage> {
  const { place, curve, order, limit } = query
  const newest = await poolsBefore(mint, place?.before, RANKED_POOLS_MAX, deps)
  const sum = poolsSum(newest)
  const known = place === null ? await knownPools(newest, deps) : undefined
  let places = place?.left ?? []
  if (known !== undefined) {
    const liquidities = newest.map((row, at) => liquidityOf(row, known.reserves[at]!, known, curve))
    places = rankPlaces(liquidities, order)
  } else if (sum !== place?.sum || places.some((at) => at >= newest.length)) throw rankingExpired()
  const [listed, left] = [places.slice(0, limit), places.slice(limit)]
  const page = {
    rows: listed.map((at) => newest[at]!),
    known: known && { ...known, reserves: listed.map((at) => known.reserves[at]!) }
  }
  if (left.length > 0) {
    const before = place?.before ?? newest[0]!.firstCursor + 1
    return { ...page, next: { before, left, sum } }
  }
  const oldest = newest.at(-1)
  const mayHaveOlder = oldest !== undefined && newest.length === RANKED_POOLS_MAX
  return { ...page, next: mayHaveOlder ? { before: oldest.firstCursor, left: [], sum: 0 } : null }
}

/** Reads pools that are older than the ranked ones, the newest first. */
async function olderPage(mint: Pubkey, before: number, limit: number, deps: PoolDeps): Promise<PoolPage> {
  const older = await poolsBefore(mint, before, limit + 1, deps)
  const rows = older.slice(0, limit)
  const hasMore = older.length > limit
  const next = hasMore ? { before: rows.at(-1)?.firstCursor ?? before, left: [], sum: 0 } : null
  return { rows, known: undefined, next }
}

/** Reads the pools first seen before a cursor, the newest first. */
function poolsBefore(mint: Pubkey, before: number | undefined, limit: number, { market }: PoolDeps) {
  const from = before === undefined ? {} : { from: before }
  return market.pools.ofMint(mint, { ...from, order: 'desc', limit })
}

/** Pools as they are served, and the other values on which an answer with them depends. */
interface PoolBodies {
  readonly bodies: z.input<typeof POOL>[]
  /**
   * Mints without a symbol. One may still be launched; that block changes the mint, but not the token that owns these
   * pools.
   */
  readonly unnamed: readonly Pubkey[]
  readonly limits: AgeLimit
}

/** Names and decimals of the mints of pools, and the reserves of the pools in their order. */
interface KnownPools extends KnownMints {
  readonly reserves: readonly PoolReserves[]
}

async function knownPools(rows: readonly MarketPool[], deps: PoolDeps): Promise<KnownPools> {
  const [mints, read] = await Promise.all([knownMints(rows, deps), readReserves(deps.accounts, rows)])
  return { ...mints, reserves: read.reserves, isCurrent: allOf([mints.isCurrent, read.isCurrent]) }
}

/** Returns a pool with all decimals that are known. */
const withDecimals = (row: PoolRow, { decimals }: KnownMints): PoolRow => ({
  ...row,
  baseDecimals: row.baseDecimals ?? decimals.get(pubkeyMapKey(row.base)) ?? null,
  quoteDecimals: row.quoteDecimals ?? decimals.get(pubkeyMapKey(row.quote)) ?? null
})

/** Returns the liquidity of a pool as it is served. */
const liquidityOf = (row: PoolRow, reserves: PoolReserves, mints: KnownMints, curve: CurveRow | null) =>
  poolLiquidityUsd(withReserves(withDecimals(row, mints), reserves), curve)

/** Renders pools, in the order given. `curve` is the bonding curve of their token; `known` is read if it is not given. */
export async function poolBodies(
  rows: readonly MarketPool[],
  curve: CurveRow | null,
  head: SlotRow | null,
  deps: PoolDeps,
  known?: KnownPools
): Promise<PoolBodies> {
  const now = head?.blockTime ?? 0
  const [all, days] = await Promise.all([
    known ?? knownPools(rows, deps),
    Promise.all(rows.map((row) => dayOf(row, now, deps.market)))
  ])
  const nowMs = deps.clock.now()
  const symbolOf = (mint: Pubkey): string | null => all.symbols.get(pubkeyMapKey(mint)) ?? null
  const bodies = rows.map((row, index) => {
    const sides = { base: symbolOf(row.base), quote: symbolOf(row.quote) }
    const day = windowOf(days[index] ?? [], now, DAY)
    return poolBody(withDecimals(row, all), day, sides, curve, all.reserves[index]!, nowMs, row.isArchived)
  })
  const mints = rows.flatMap(({ base, quote }) => [base, quote])
  const unnamed = mints.filter((mint) => symbolOf(mint) === null)
  const limits = { maxAgeMs: untilNextSecond(nowMs), isCurrent: all.isCurrent }
  return { bodies, unnamed, limits: deps.accounts === null ? {} : limits }
}

/** Reads the hours of a pool's last day; an empty list if it did not trade then, so that old pools cost nothing. */
async function dayOf(
  { pool, lastTrade }: PoolRow,
  now: number,
  { windows }: MarketStores
): Promise<ActivityHour[]> {
  const isTraded = lastTrade !== null && lastTrade.blockTime >= windowSpan(now, DAY).from
  return isTraded ? windows.hours('pool', pool, windowHours(now, DAY)) : []
}

/** Symbols and decimals by `pubkeyMapKey` of a mint, each null if unknown. */
interface KnownMints {
  readonly symbols: ReadonlyMap<string, string | null>
  readonly decimals: ReadonlyMap<string, number | null>
  /** Tells whether no newer reading has replaced those used. */
  readonly isCurrent: () => boolean
}

/**
 * Returns the symbols of pools' mints: of cash from the configuration, of tokens from their accounts, else their launch.
 * Includes the decimals that the configuration or the accounts state.
 */
async function knownMints(
  pools: readonly PoolRow[],
  { market, cash, accounts }: PoolDeps
): Promise<KnownMints> {
  const mints = new Map<string, Pubkey>()
  for (const { base, quote } of pools) for (const mint of [base, quote]) mints.set(pubkeyMapKey(mint), mint)
  const decimals = new Map<string, number | null>()
  const used: (() => boolean)[] = []
  const symbols = [...mints].map(async ([key, mint]) => {
    const listed = cash.of(mint)
    decimals.set(key, listed?.decimals ?? null)
    if (listed?.symbol != null) return [key, listed.symbol] as const
    const known = await knownFacts(accounts, mint)
    used.push(known.isCurrent)
    if (known.facts !== null) decimals.set(key, known.facts.account.decimals)
    const symbol = known.facts?.names?.symbol ?? (await market.launches.get(mint))?.symbol ?? null
    return [key, symbol] as const
  })
  return { symbols: new Map(await Promise.all(symbols)), decimals, isCurrent: allOf(used) }
}
