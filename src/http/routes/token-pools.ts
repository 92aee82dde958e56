import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { POOL, poolBody } from '../../api/pool.ts'
import * as schema from '../../api/schema.ts'
import { pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import type { ActivityHour } from '../../market/activity-rows.ts'
import type { CurveRow, PoolRow } from '../../market/registry-rows.ts'
import type { SlotRow } from '../../market/rows.ts'
import { windowHours, windowOf, windowSpan } from '../../market/windows.ts'
import { WSOL } from '../../market/cash.ts'
import type { Storage } from '../../../storage/port.ts'
import type { AppDeps } from '../deps.ts'
import { ANSWER_MS } from '../account-parts.ts'
import { readReserves } from '../pool-reserves.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { readPageCursor, writePageCursor } from '../page-cursor.ts'
import { knownFacts, type AgeLimit } from '../known-mint.ts'
import { address, paging } from '../parameters.ts'

const DAY = 86_400
const { limit, order, after } = paging(500, 50)

export const tokenPools = endpoint({
  path: '/v1/tokens/{mint}/pools',
  tag: 'Tokens',
  summary: 'Pools of a token',
  description:
    'The pools, curves and markets of a token, the most recently first seen one first. Reserves are those of the accounts at confirmed, or those after the newest trade where it is newer and states them. The accounts are waited for up to 1 s; `reserves_reason` says why they are missing or old. A pool is listed under its token; a pool of two tokens under both. Empty for an unknown token.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  query: z.object({ limit, order, after }),
  answer: schema
    .listOf(POOL)
    .extend({ mint: schema.address('The token') })
    .meta({ id: 'Pools' }),
  errors: ['CURSOR_INVALID'],
  examples: [{ name: 'Pools of wrapped SOL', params: { mint: WSOL }, query: { limit: '10' } }]
})

type Deps = Pick<AppDeps, 'storage' | 'cash' | 'accounts' | 'clock'>

export const tokenPoolRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { storage } = deps
  serveCached(app, tokenPools, async ({ params: { mint }, query, tenant, head }) => {
    const list = `pools:${pubkeyToBase58(mint)}:${query.order}`
    const rows = await storage.pools.ofMint(mint, {
      ...(query.after === undefined ? {} : { from: readPageCursor(list, query.after) }),
      order: query.order,
      limit: query.limit + 1
    })
    const page = rows.slice(0, query.limit)
    const last = page.at(-1)
    const { bodies, unnamed, limits } = await poolBodies(page, await storage.curves.get(mint), head, deps)
    const more = rows.length > query.limit && last !== undefined
    const nextCursor = more ? writePageCursor(list, last.firstCursor) : null
    return {
      body: { tenant, mint: pubkeyToBase58(mint), data: bodies, nextCursor },
      dependsOn: [mint, ...unnamed],
      changesWith: 'minute',
      ...limits
    }
  })
}

/** Pools as they are served, and what an answer with them depends on besides them. */
interface PoolBodies {
  readonly bodies: z.input<typeof POOL>[]
  /**
   * Mints without a symbol. One may still be launched; that block changes the mint, but not the token whose pools these
   * are.
   */
  readonly unnamed: readonly Pubkey[]
  readonly limits: AgeLimit
}

/** Renders pools, in the order given. `curve` is the bonding curve of their token. */
export async function poolBodies(
  rows: readonly PoolRow[],
  curve: CurveRow | null,
  head: SlotRow | null,
  deps: Deps
): Promise<PoolBodies> {
  const now = head?.blockTime ?? 0
  const [{ symbols, decimals }, reserves, days] = await Promise.all([
    symbolsOf(rows, deps),
    readReserves(deps.accounts, rows),
    Promise.all(rows.map((row) => dayOf(row, now, deps.storage)))
  ])
  const nowMs = deps.clock.now()
  const decimalsOf = (mint: Pubkey): number | null => decimals.get(pubkeyMapKey(mint)) ?? null
  const symbolOf = (mint: Pubkey): string | null => symbols.get(pubkeyMapKey(mint)) ?? null
  const bodies = rows.map((row, index) => {
    const sides = { base: symbolOf(row.base), quote: symbolOf(row.quote) }
    const known = {
      ...row,
      baseDecimals: row.baseDecimals ?? decimalsOf(row.base),
      quoteDecimals: row.quoteDecimals ?? decimalsOf(row.quote)
    }
    const day = windowOf(days[index] ?? [], now, DAY)
    return poolBody(known, day, sides, curve, reserves[index]!, nowMs)
  })
  const mints = rows.flatMap(({ base, quote }) => [base, quote])
  const unnamed = mints.filter((mint) => symbolOf(mint) === null)
  return { bodies, unnamed, limits: deps.accounts === null ? {} : { maxAgeMs: ANSWER_MS } }
}

/** Reads the hours of a pool's last day; none if it did not trade then, so that old pools cost nothing. */
async function dayOf(
  { pool, lastTrade }: PoolRow,
  now: number,
  { activity }: Storage
): Promise<ActivityHour[]> {
  const isTraded = lastTrade !== null && lastTrade.blockTime >= windowSpan(now, DAY).from
  return isTraded ? activity.range('pool', pool, windowHours(now, DAY)) : []
}

/**
 * Returns the symbols of pools' mints: of cash from the configuration, of tokens from their accounts, else their launch; and
 * the decimals that the configuration or the accounts state.
 */
async function symbolsOf(
  pools: readonly PoolRow[],
  { storage, cash, accounts }: Deps
): Promise<{
  readonly symbols: Map<string, string | null>
  readonly decimals: Map<string, number | null>
}> {
  const mints = new Map<string, Pubkey>()
  for (const { base, quote } of pools) for (const mint of [base, quote]) mints.set(pubkeyMapKey(mint), mint)
  const decimals = new Map<string, number | null>()
  const symbols = [...mints].map(async ([key, mint]) => {
    const listed = cash.of(mint)
    decimals.set(key, listed?.decimals ?? null)
    if (listed?.symbol != null) return [key, listed.symbol] as const
    const known = knownFacts(accounts, mint)
    if (known.facts !== null) decimals.set(key, known.facts.account.decimals)
    const symbol = known.facts?.names?.symbol ?? (await storage.launches.get(mint))?.symbol ?? null
    return [key, symbol] as const
  })
  return { symbols: new Map(await Promise.all(symbols)), decimals }
}
