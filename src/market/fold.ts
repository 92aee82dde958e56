import { isUnstated, tradeFacts, type ChainEvent, type Trade } from '../chain/events.ts'
import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { VenueId } from '../chain/venue-id.ts'
import type { BlockEntry, DecodedBlock } from './block.ts'
import { ActivityFold } from './activity.ts'
import type { KnownActivity } from './activity.ts'
import type { TotalsRow } from './activity-rows.ts'
import { bucketStarts } from './buckets.ts'
import { mergeCandles } from './candles.ts'
import type { CashList } from './cash.ts'
import { COPY_OFFSETS, placeEvents } from './cursor.ts'
import { CurveFold, isLaunchpad } from './curves.ts'
import { LaunchFold } from './launches.ts'
import { legOf, otherSide } from './legs.ts'
import type { Side } from './legs.ts'
import { launchableMints, listedMints, listingOf } from './listing.ts'
import { PairFold, pairKey } from './pairs.ts'
import type { PairKey } from './pairs.ts'
import { PoolFold } from './pools.ts'
import { INTERVALS } from './rows.ts'
import type {
  Candle,
  CandleUpsert,
  Interval,
  PoolEventRow,
  RowOrigin,
  SlotRow,
  SolPriceRow,
  TradeRow
} from './rows.ts'
import type { BlockRows, LatestName, RowOf } from './records.ts'
import { advanceSolUsd, solPriceAt, solTradeOf } from './sol-usd.ts'
import type { SolTrade, SolUsd } from './sol-usd.ts'
import { TokenFold } from './tokens.ts'
import { addTotals } from './totals.ts'

/** The market at the block before; it holds all rows at the `affectedKeys`. */
export interface KnownMarket extends KnownActivity {
  readonly solUsd: SolUsd
  readonly totals: TotalsRow | null
  /** The row at an address, named as in `AffectedKeys`; null if the store has no such row. */
  latest<Name extends LatestName>(name: Name, text: string): RowOf<Name> | null
  candle(key: PairKey, interval: Interval, ts: number): Candle | null
}

export interface FoldOptions {
  readonly cash: CashList
  /** The operator's starting price of SOL; null if not configured. */
  readonly startingSolUsd: number | null
  /** The venues to index; all if absent. Events of other venues take cursors, but give no rows. */
  readonly venues?: ReadonlySet<VenueId>
}

/** The changes of a block to the stored records and to the market's state in memory. */
export interface BlockFold extends BlockRows {
  readonly solUsd: SolUsd
  /** Events past the last position of the slot, which are not in the rows. */
  readonly leftOut: number
}

/** The changes of several blocks, of which the rows after the last one count. */
export interface MinuteFold extends Omit<BlockFold, 'slot'> {
  /** Ascending, one for each block. */
  readonly slots: readonly SlotRow[]
}

/**
 * Turns a block's events into rows with cursors and money values, and folds them into all records: candles, pairs,
 * the SOL price, launches, activity, tokens, pools, curves and totals. Pure: the result depends only on the block and
 * the market.
 */
export function foldBlock(known: KnownMarket, block: DecodedBlock, options: FoldOptions): BlockFold {
  const { slots, ...rows } = foldMinute(known, [block], options)
  return { slot: slots[0]!, ...rows }
}

/**
 * Folds consecutive blocks of one minute at once. The rows are those of folding one block after another, the last row at
 * each address. Buckets and hours are computed once for each owner instead of once for each block.
 */
export function foldMinute(
  known: KnownMarket,
  blocks: readonly DecodedBlock[],
  options: FoldOptions
): MinuteFold {
  const { cash } = options
  const isIndexed = (entry: BlockEntry): boolean => options.venues?.has(entry.event.venue) !== false
  const { blockTime } = blocks[0]!
  let { solUsd } = known
  let solPrice: SolPriceRow | null = null
  const solPrices: SolPriceRow[] = []
  const pairs = new Map<PairKey, PairFold>()
  const launches = new LaunchFold((mint) => known.latest('launches', pubkeyMapKey(mint)))
  const usdOf = (mint: Pubkey): number | null => cash.usdOf(mint, solPrice?.usd ?? null)
  const curves = new CurveFold((mint) => known.latest('curves', pubkeyMapKey(mint)), usdOf)
  const pools = new PoolFold((pool) => known.latest('pools', pubkeyMapKey(pool)))
  const tokens = new TokenFold((mint) => known.latest('tokens', pubkeyMapKey(mint)))
  const activity = new ActivityFold(known, blockTime)
  const trades: TradeRow[] = []
  const poolEvents: PoolEventRow[] = []
  const slots: SlotRow[] = []
  let leftOut = 0
  for (const block of blocks) takeBlock(block)

  function takeBlock(block: DecodedBlock): void {
    const cursors = cursorsOf(block)
    const entries = block.entries.slice(0, cursors.length).filter(isIndexed)
    const before = solUsd.price
    solUsd = advanceSolUsd(solUsd, block.blockTime, solTradesOf(entries), options.startingSolUsd)
    if (solUsd.price !== null && solUsd.price !== before) solPrices.push(solUsd.price)
    solPrice = solPriceAt(solUsd.price, block.blockTime)
    let tradeCount = 0
    for (const [index, cursor] of cursors.entries()) {
      const entry = block.entries[index]!
      if (!isIndexed(entry)) continue
      takeEvent(block, entry.event, originOf(block, entry, cursor))
      if (entry.event.kind === 'trade') tradeCount++
    }
    leftOut += block.entries.length - cursors.length
    slots.push({
      slot: block.slot,
      blockTime: block.blockTime,
      parentSlot: block.parentSlot,
      blockhash: block.blockhash,
      transactions: block.transactions,
      trades: tradeCount,
      events: entries.length,
      receivedAtMs: block.receivedAtMs
    })
  }

  function takeEvent(block: DecodedBlock, event: ChainEvent, origin: RowOrigin): void {
    const { mints, givesVaults } = nameListed(origin, event)
    switch (event.kind) {
      case 'trade': {
        const rows = tradeRows(origin, event, givesVaults)
        takeTrade(rows, launchableMints(event, cash))
        break
      }
      case 'launch': {
        const isFirst = launches.launch(origin, event, block.receivedAtMs)
        curves.launch(origin, event)
        activity.event(event, mints, isFirst)
        break
      }
      case 'curve':
        launches.curve(event)
        curves.change(origin, event)
        activity.event(event, mints)
        poolEvents.push({ ...origin, body: event })
        break
      case 'liquidity':
      case 'pool':
        activity.event(event, mints)
        poolEvents.push({ ...origin, body: event })
        break
    }
  }

  /**
   * Adds the event's tokens and its pool; returns the mints that it is listed under, and whether it gave the pool a vault.
   */
  function nameListed(origin: RowOrigin, event: ChainEvent) {
    const listing = listingOf(event, cash)
    const mints = listedMints(listing)
    for (const mint of mints) tokens.name(mint, origin, event)
    if (event.kind === 'trade' && isUnstated(event, 'pool')) return { mints, givesVaults: false }
    const { isFirst, givesVaults } = pools.name(origin, event, listing)
    if (isFirst) for (const mint of mints) tokens.pool(mint)
    return { mints, givesVaults }
  }

  function takeTrade(rows: TradeRows, launchable: readonly Pubkey[]): void {
    const [first] = rows
    trades.push(...rows)
    for (const row of rows) tokens.trade(row)
    for (const mint of launchable) launches.trade(mint)
    if (isUnstated(first, 'pool')) {
      activity.trade(rows, null)
      return
    }
    const pool = pools.trade(first)
    activity.trade(rows, pool.base)
    if (isLaunchpad(first.venue)) curves.trade(first, launchable)
  }

  function tradeRows(origin: RowOrigin, trade: Trade, givesVaults: boolean): TradeRows {
    const side = cash.sideOf(trade)
    const { vaults } = trade
    const named = givesVaults && vaults !== undefined ? { vaults } : {}
    return side === null ? swapRows(origin, trade, named) : [pricedRow(origin, trade, side, named)]
  }

  function pricedRow(origin: RowOrigin, trade: Trade, cashSide: Side, named: NamedVaults): TradeRow {
    const cashLeg = legOf(trade, cashSide)
    const token = legOf(trade, otherSide(cashSide))
    const key = pairKey(token.mint, cashLeg.mint)
    let pair = pairs.get(key)
    if (pair === undefined) {
      pair = new PairFold(key, known.latest('pairs', key), cashLeg, token)
      pairs.set(key, pair)
    }
    const cashUsd = cash.usdOf(cashLeg.mint, trade.solUsd ?? solPrice?.usd ?? null)
    const priced = { mint: token.mint, cashSide, cashUsd }
    return pair.take({ ...origin, ...tradeFacts(trade), ...priced, ...named }, cashLeg, token)
  }

  return {
    slots,
    trades,
    poolEvents,
    candles: candleUpserts(known, blockTime, pairs.values()),
    launches: launches.changed(),
    pairs: [...pairs.values()].filter((pair) => pair.isChanged).map((pair) => pair.row),
    solPrices: solPrices.slice(-1),
    activity: activity.changed(),
    tokens: tokens.changed(),
    pools: pools.changed(),
    curves: curves.changed(),
    totals: addTotals(known.totals, activity.market, tokens.found),
    solUsd,
    leftOut
  }
}

/** The first cursor of each event that fits into the slot's positions. Stored events keep their cursors. */
function cursorsOf({ slot, entries }: DecodedBlock): number[] {
  const stored = entries.flatMap(({ cursor }) => cursor ?? [])
  if (stored.length === entries.length) return stored
  return placeEvents(
    slot,
    entries.map(({ event }) => event)
  )
}

function solTradesOf(entries: readonly BlockEntry[]): SolTrade[] {
  const trades: SolTrade[] = []
  for (const { event } of entries) {
    const trade = event.kind === 'trade' ? solTradeOf(event) : null
    if (trade !== null) trades.push(trade)
  }
  return trades
}

/** Adds each pair's folded rows to the running bucket of every interval. */
function candleUpserts(known: KnownMarket, blockTime: number, pairs: Iterable<PairFold>): CandleUpsert[] {
  const starts = bucketStarts(blockTime)
  const upserts: CandleUpsert[] = []
  for (const { key, row, candle: part } of pairs) {
    let smaller: Candle | null = null
    let storedTrades = 0
    for (const [index, interval] of INTERVALS.entries()) {
      const ts = starts[index]!
      const stored = known.candle(key, interval, ts)
      // A bucket lies within the next larger one. If their numbers of trades are equal, so are their contents.
      const isSame = smaller !== null && stored !== null && stored.trades === storedTrades
      const candle: Candle = isSame
        ? { ...smaller!, ts }
        : stored === null
          ? { ...part!, ts }
          : mergeCandles(stored, part!)
      storedTrades = stored?.trades ?? 0
      smaller = candle
      upserts.push({ mint: row.mint, cash: row.cash, interval, candle })
    }
  }
  return upserts
}

function originOf(block: DecodedBlock, entry: BlockEntry, cursor: number): RowOrigin {
  const { slot, blockTime, commitment } = block
  const { signature, txIndex, feePayer } = entry
  const { ixIndex, innerIxIndex, venue, program, pool, user } = entry.event
  const place = { cursor, slot, blockTime, signature, txIndex, ixIndex, innerIxIndex }
  return { ...place, venue, program, pool, user, feePayer, commitment }
}

/** The vaults of a trade that gave its pool its first vault; empty for other trades. */
type NamedVaults = Pick<TradeRow, 'vaults'>

/** One row for each mint that a trade is listed under, the event's own first. */
type TradeRows = readonly [TradeRow, ...TradeRow[]]

/** Rows of a trade without a cash side, listed under both mints; no row has a price or a candle. */
function swapRows(origin: RowOrigin, trade: Trade, named: NamedVaults): TradeRows {
  const facts = { ...origin, ...tradeFacts(trade), ...named }
  const unpriced = { cashSide: null, price: null, cashUsd: null, priceForming: false }
  return [
    { ...facts, ...unpriced, mint: trade.inMint, cursor: origin.cursor + COPY_OFFSETS.swap.tradesIn },
    { ...facts, ...unpriced, mint: trade.outMint, cursor: origin.cursor + COPY_OFFSETS.swap.tradesOut }
  ]
}
