import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import type { ChainEvent } from '../../src/chain/events.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type {
  ActivityHour,
  ActivityMinute,
  ActivityOf,
  TotalsRow,
  UsdPrice
} from '../../src/market/activity-rows.ts'
import { MARKET } from '../../src/market/activity.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { CashList } from '../../src/market/cash.ts'
import { eventCursor, placeEvents } from '../../src/market/cursor.ts'
import { keyHash } from '../../src/market/hyperloglog.ts'
import type { PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { addTraders, addTradersForever, NO_TRADERS } from '../../src/market/traders.ts'
import { SOL } from './world.ts'

/** An event with its block, its place and its stored trade rows. */
export interface Listed {
  readonly event: ChainEvent
  readonly block: DecodedBlock
  readonly cursor: number
  readonly signature: Uint8Array
  /** Rows of a trade, one for each mint that it is listed under. */
  readonly rows: readonly TradeRow[]
  /** Tokens that it is listed under: the mints that are no cash, or of two cash mints the lower ranked. */
  readonly mints: readonly Pubkey[]
  /** Token and cash, or two tokens in the event's order; null if the event names only one mint. */
  readonly sides: readonly [Pubkey, Pubkey] | null
  readonly isFirstLaunch: boolean
}

/** Returns all events as one flat list, with each event's stored rows. */
export function list(chain: readonly DecodedBlock[], trades: readonly TradeRow[], cash: CashList): Listed[] {
  const launched = new Set<string>()
  return chain.flatMap((block) => {
    const cursors = placeEvents(
      block.slot,
      block.entries.map(({ event }) => event)
    )
    return block.entries.map(({ event, signature }, index) => {
      const cursor = cursors[index]!
      const rows = trades.filter((row) => eventCursor(row) === cursor)
      const isFirstLaunch = event.kind === 'launch' && !launched.has(pubkeyMapKey(event.baseMint))
      if (event.kind === 'launch') launched.add(pubkeyMapKey(event.baseMint))
      return { event, block, cursor, signature, rows, isFirstLaunch, ...sidesOf(event, cash) }
    })
  })
}

function sidesOf(event: ChainEvent, cash: CashList): Pick<Listed, 'mints' | 'sides'> {
  const [a, b] = event.kind === 'trade' ? [event.inMint, event.outMint] : [event.baseMint, event.quoteMint]
  const rank = (mint: Pubkey): number => cash.of(mint)?.rank ?? -1
  if (a === null || b === null) {
    return { mints: [a, b].filter((mint) => mint !== null).filter((mint) => rank(mint) < 0), sides: null }
  }
  if (rank(a) < 0 && rank(b) < 0) return { mints: [a, b], sides: [a, b] }
  const sides = rank(a) < rank(b) ? ([a, b] as const) : ([b, a] as const)
  return { mints: [sides[0]], sides }
}

const is = (a: Pubkey, b: Pubkey): boolean => samePubkey(a, b)
const sumOf = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n)
const usdOf = (row: TradeRow): UsdPrice =>
  !row.priceForming ? null : row.cashUsd === null ? 'unpriced' : row.price! * row.cashUsd

/** Returns the value of a row's cash side in millionths of a USD, or null if it has none. */
function microUsdOf(row: TradeRow): bigint | null {
  if (row.cashSide === null || row.cashUsd === null) return null
  const [amount, decimals] =
    row.cashSide === 'in' ? [row.inAmount, row.inDecimals] : [row.outAmount, row.outDecimals]
  return BigInt(Math.round((Number(amount) / 10 ** decimals) * row.cashUsd * 1e6))
}

const cashOf = (row: TradeRow): bigint =>
  row.cashSide === null ? 0n : row.cashSide === 'in' ? row.inAmount : row.outAmount

function lamportsOf(row: TradeRow): bigint {
  const mint = row.cashSide === 'in' ? row.inMint : row.outMint
  return row.cashSide !== null && is(mint, SOL) ? cashOf(row) : 0n
}

function movedOf(row: TradeRow, token: Pubkey): bigint {
  if (row.cashSide !== null) return row.cashSide === 'in' ? row.outAmount : row.inAmount
  return is(row.inMint, token) ? row.inAmount : is(row.outMint, token) ? row.outAmount : 0n
}

/** An event of an owner, with the row that is listed there. */
interface Item {
  readonly told: Listed
  readonly row: TradeRow | null
}

/** Returns every hour of every owner, by `of/owner/hour`. */
export function plainHours(story: readonly Listed[]): Map<string, ActivityHour> {
  const items = new Map<string, { of: ActivityOf; owner: Pubkey; items: Item[] }>()
  const add = (of: ActivityOf, owner: Pubkey, item: Item): void => {
    const key = `${of}${pubkeyMapKey(owner)}${item.told.block.blockTime - (item.told.block.blockTime % 3600)}`
    const entry = items.get(key) ?? { of, owner, items: [] }
    items.set(key, entry)
    entry.items.push(item)
  }
  const pools = plainPools(story)
  for (const told of story) {
    const row = told.rows[0] ?? null
    add('market', MARKET, { told, row })
    add('pool', told.event.pool, { told, row })
    for (const mint of told.mints) {
      add('mint', mint, { told, row: told.rows.find((each) => is(each.mint, mint)) ?? null })
    }
  }
  const hours = new Map<string, ActivityHour>()
  for (const [key, { of, owner, items: list }] of items) {
    const token =
      of === 'mint' ? owner : of === 'pool' ? (pools.get(pubkeyMapKey(owner))?.base ?? null) : null
    hours.set(key, plainHour(story, of, owner, list, token))
  }
  return hours
}

function plainHour(
  story: readonly Listed[],
  of: ActivityOf,
  owner: Pubkey,
  items: readonly Item[],
  token: Pubkey | null
): ActivityHour {
  const first = items[0]!.told.block
  const hour = first.blockTime - (first.blockTime % 3600)
  const starts = [...new Set(items.map(({ told }) => told.block.blockTime - (told.block.blockTime % 60)))]
  let traders = NO_TRADERS
  // In the opposite order of the fold's.
  for (const { told, row } of items.toReversed()) {
    if (row === null || of === 'pool') continue
    traders = addTraders(traders, [keyHash(row.user)], Math.floor((told.block.blockTime - hour) / 60))
  }
  const earlier = story.filter(({ block }) => block.slot < first.slot).flatMap(({ rows }) => rows)
  const prices = earlier.filter((row) => is(row.mint, owner)).map(usdOf)
  return {
    of,
    owner,
    hour,
    minutes: starts
      .sort((a, b) => a - b)
      .map((minute) =>
        plainMinute(
          of,
          token,
          minute,
          items.filter(({ told }) => isIn(told, minute))
        )
      ),
    priorUsd: of === 'mint' ? (prices.findLast((price) => price !== null) ?? null) : null,
    traders
  }
}

const isIn = ({ block }: Listed, minute: number): boolean =>
  block.blockTime >= minute && block.blockTime < minute + 60

function plainMinute(
  of: ActivityOf,
  token: Pubkey | null,
  minute: number,
  items: readonly Item[]
): ActivityMinute {
  const rows = items.map(({ row }) => row).filter((row) => row !== null)
  const bought = rows.filter(({ cashSide }) => cashSide === 'in')
  const sold = rows.filter(({ cashSide }) => cashSide === 'out')
  const usd = (list: readonly TradeRow[]): bigint[] => list.map(microUsdOf).filter((value) => value !== null)
  const prices = of === 'mint' ? rows.map(usdOf).filter((price) => price !== null) : []
  return {
    minute,
    events: items.length,
    trades: rows.length,
    buys: bought.length,
    sells: sold.length,
    liquidity: items.filter(({ told }) => told.event.kind === 'liquidity').length,
    launches: items.filter(({ told }) => told.isFirstLaunch).length,
    priced: usd(rows).length,
    volumeMicroUsd: sumOf(usd(rows)),
    buyMicroUsd: sumOf(usd(bought)),
    sellMicroUsd: sumOf(usd(sold)),
    volumeCash: sumOf(rows.map(of === 'pool' ? cashOf : lamportsOf)),
    volumeToken: token === null ? 0n : sumOf(rows.map((row) => movedOf(row, token))),
    openUsd: prices[0] ?? null,
    closeUsd: prices.at(-1) ?? null
  }
}

const decimalsIn = ({ event }: Listed, mint: Pubkey): number | null => {
  if (event.kind === 'trade') {
    return is(event.inMint, mint) ? event.inDecimals : is(event.outMint, mint) ? event.outDecimals : null
  }
  if (event.kind === 'launch') return is(event.baseMint, mint) ? event.decimals : null
  if (event.kind !== 'liquidity') return null
  if (event.baseMint !== null && is(event.baseMint, mint)) return event.baseDecimals
  return event.quoteMint !== null && is(event.quoteMint, mint) ? event.quoteDecimals : null
}

const firstOf = <T>(values: readonly (T | null)[]): T | null => values.find((value) => value !== null) ?? null
const lastOf = <T>(values: readonly (T | null)[]): T | null =>
  values.findLast((value) => value !== null) ?? null

export function plainTokens(story: readonly Listed[]): Map<string, TokenRow> {
  const mints = new Map(story.flatMap(({ mints }) => mints).map((mint) => [pubkeyMapKey(mint), mint]))
  const pools = [...plainPools(story).values()]
  const tokens = new Map<string, TokenRow>()
  for (const [key, mint] of mints) {
    const about = story.filter((told) => told.mints.some((each) => is(each, mint)))
    const rows = about.flatMap((told) => told.rows).filter((row) => is(row.mint, mint))
    const last = rows.at(-1)
    tokens.set(key, {
      mint,
      decimals: firstOf(about.map((told) => decimalsIn(told, mint))),
      firstCursor: about[0]!.cursor,
      firstTime: about[0]!.block.blockTime,
      trades: rows.length,
      pools: pools.filter(
        ({ base, quote, quoteListed }) => is(base, mint) || (quoteListed && is(quote, mint))
      ).length,
      lastTrade:
        last === undefined
          ? null
          : { cursor: last.cursor, slot: last.slot, blockTime: last.blockTime, signature: last.signature },
      lastUsd: lastOf(rows.map(usdOf)),
      activeHours: plainActiveHours(about.map((told) => told.block.blockTime))
    })
  }
  return tokens
}

/** The hours of the newest 32 that have an event, from the times of all events. */
function plainActiveHours(times: readonly number[]): NonNullable<TokenRow['activeHours']> {
  const hours = times.map((time) => Math.floor(time / 3_600))
  const newest = Math.max(...hours)
  const active = new Set(hours.map((hour) => newest - hour).filter((ago) => ago < 32))
  const bits = [...active].reduce((sum, ago) => sum + 2 ** ago, 0)
  return { from: 0, newest: newest * 3_600, bits }
}

function reservesOf({ reserves }: TradeRow, isBaseIn: boolean): PoolRow['reserves'] {
  const { in: paid, out: taken } = reserves ?? {}
  if (paid === undefined || taken === undefined) return null
  return { base: isBaseIn ? paid : taken, quote: isBaseIn ? taken : paid }
}

export function plainPools(story: readonly Listed[]): Map<string, PoolRow> {
  const pools = new Map<string, PoolRow>()
  for (const { event, sides, mints, cursor } of story) {
    const key = pubkeyMapKey(event.pool)
    if (sides === null || pools.has(key)) continue
    const [base, quote] = sides
    const about = story.filter((told) => is(told.event.pool, event.pool) && told.cursor >= cursor)
    const changes = about.map((told) => told.event)
    const stated = changes.filter((each) => each.kind === 'pool')
    const birth = about.find(
      (told) =>
        told.event.kind === 'launch' ||
        ((told.event.kind === 'pool' || told.event.kind === 'curve') && told.event.event === 'create')
    )
    const rows = about.map((told) => told.rows[0]).filter((row) => row !== undefined)
    const last = rows.at(-1)
    const own = rows.filter(({ inMint, outMint }) =>
      [base, quote].every((mint) => is(mint, inMint) || is(mint, outMint))
    )
    const forming = own.findLast(({ priceForming }) => priceForming)
    const stating = own.at(-1)
    const isSame = (mint: Pubkey): boolean => is(mint, base)
    const traded = changes
      .filter((each) => each.kind === 'trade')
      .filter(({ inMint, outMint }) => [base, quote].every((mint) => is(mint, inMint) || is(mint, outMint)))
    const named = (mint: Pubkey): Pubkey | null =>
      firstOf(traded.map(({ inMint, vaults }) => (is(inMint, mint) ? vaults?.in : vaults?.out) ?? null))
    pools.set(key, {
      pool: event.pool,
      venue: event.venue,
      program: event.program,
      base,
      quote,
      quoteListed: mints.length === 2,
      baseDecimals: firstOf(about.map((told) => decimalsIn(told, base))),
      quoteDecimals: firstOf(about.map((told) => decimalsIn(told, quote))),
      baseVault:
        lastOf(stated.map((each) => (isSame(each.baseMint) ? each.baseVault : each.quoteVault))) ??
        named(base),
      quoteVault:
        lastOf(stated.map((each) => (isSame(each.baseMint) ? each.quoteVault : each.baseVault))) ??
        named(quote),
      feeBps: lastOf(stated.map((each) => each.feeBps)),
      created: birth === undefined ? null : { slot: birth.block.slot, blockTime: birth.block.blockTime },
      firstCursor: cursor,
      trades: rows.length,
      lastTrade:
        last === undefined ? null : { cursor: last.cursor, slot: last.slot, blockTime: last.blockTime },
      lastPrice: forming === undefined ? null : { price: forming.price, cashUsd: forming.cashUsd },
      reserves: stating === undefined ? null : reservesOf(stating, isSame(stating.inMint))
    })
  }
  return pools
}

export function plainTotals(story: readonly Listed[]): TotalsRow | null {
  const rows = story.map(({ rows: [row] }) => row).filter((row) => row !== undefined)
  if (!story.some(({ mints }) => mints.length > 0)) return null
  return {
    trades: rows.length,
    volumeMicroUsd: sumOf(rows.map(microUsdOf).filter((value) => value !== null)),
    volumeLamports: sumOf(rows.map(lamportsOf)),
    tokens: plainTokens(story).size,
    launches: story.filter(({ isFirstLaunch }) => isFirstLaunch).length,
    unpriced: rows.filter((row) => microUsdOf(row) === null).length,
    traders: rows.reduceRight((sketch, row) => addTradersForever(sketch, [keyHash(row.user)]), NO_TRADERS)
  }
}
