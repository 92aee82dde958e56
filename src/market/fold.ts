import { isUnstated, type ChainEvent, type Trade } from '../chain/events.ts'
import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { VenueId } from '../chain/venue-id.ts'
import type { BlockEntry, DecodedBlock } from './block.ts'
import { ActivityFold } from './activity.ts'
import type { KnownActivity } from './activity.ts'
import type { TotalsRow } from './activity-rows.ts'
import { candleUpserts, type KnownCandles } from './candle-upserts.ts'
import type { CashList } from './cash.ts'
import { placeEvents } from './cursor.ts'
import { CurveFold, isLaunchpad } from './curves.ts'
import { LaunchFold } from './launches.ts'
import { legOf, otherSide } from './legs.ts'
import type { Leg, Side } from './legs.ts'
import { listedMints, listingOf } from './listing.ts'
import type { Listing } from './listing.ts'
import { PairFold, pairKey } from './pairs.ts'
import type { PairKey } from './pairs.ts'
import { PoolFold } from './pools.ts'
import type { PoolEventRow, RowOrigin, SlotRow, SolPriceRow, TradeRow } from './rows.ts'
import type { BlockRows, LatestName, RowOf } from './records.ts'
import { advanceSolUsd, solPriceAt, solTradeOf } from './sol-usd.ts'
import type { SolTrade, SolUsd } from './sol-usd.ts'
import { TokenFold } from './tokens.ts'
import { addTotals } from './totals.ts'
import { TradeKinds } from './trade-kinds.ts'
import type { TradeKind } from './trade-kinds.ts'
import { originOf, swapRows, unpricedRow, type TradeRows } from './trade-rows.ts'

/** The market at the block before; it holds all rows at the `affectedKeys`. */
export interface KnownMarket extends KnownActivity, KnownCandles {
  readonly solUsd: SolUsd
  readonly totals: TotalsRow | null
  /** The row at an address, named as in `AffectedKeys`; null if the store has no such row. */
  latest<Name extends LatestName>(name: Name, text: string): RowOf<Name> | null
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
export interface BlocksFold extends Omit<BlockFold, 'slot'> {
  /** Ascending, one for each block. */
  readonly slots: readonly SlotRow[]
}

/**
 * Turns a block's events into rows with cursors and money values, and folds them into all records: candles, pairs,
 * the SOL price, launches, activity, tokens, pools, curves and totals. Pure: the result depends only on the block and
 * the market.
 */
export function foldBlock(known: KnownMarket, block: DecodedBlock, options: FoldOptions): BlockFold {
  const { slots, ...rows } = foldBlocks(known, [block], options)
  return { slot: slots[0]!, ...rows }
}

/**
 * Folds consecutive blocks of one hour at once, none of an earlier minute than the one before. The rows are those of folding
 * one block after another, the last row at each address. Buckets and hours are computed once for each owner instead of once
 * for each block.
 */
export function foldBlocks(
  known: KnownMarket,
  blocks: readonly DecodedBlock[],
  options: FoldOptions
): BlocksFold {
  const { cash } = options
  const isIndexed = (entry: BlockEntry): boolean => options.venues?.has(entry.event.venue) !== false
  const { blockTime } = blocks[0]!
  let { solUsd } = known
  let solPrice: SolPriceRow | null = null
  const solPrices = new Map<number, SolPriceRow>()
  const pairs = new Map<PairKey, PairFold>()
  const kinds = new TradeKinds(cash)
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
    activity.begin(block.blockTime)
    const cursors = cursorsOf(block)
    const entries = block.entries.slice(0, cursors.length).filter(isIndexed)
    const before = solUsd.price
    solUsd = advanceSolUsd(solUsd, block.blockTime, solTradesOf(entries), options.startingSolUsd)
    if (solUsd.price !== null && solUsd.price !== before) solPrices.set(solUsd.price.minute, solUsd.price)
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
    if (event.kind === 'trade') {
      const kind = kinds.of(event)
      const givesVaults = nameListed(origin, event, kind.listing, kind.mints)
      takeTrade(tradeRows(origin, event, kind, givesVaults), kind.launchable)
      return
    }
    const listing = listingOf(event, cash)
    const mints = listedMints(listing)
    nameListed(origin, event, listing, mints)
    switch (event.kind) {
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

  /** Adds the event's tokens, under whose mints it is listed, and its pool; returns whether it gave the pool a vault. */
  function nameListed(
    origin: RowOrigin,
    event: ChainEvent,
    listing: Listing | null,
    mints: readonly Pubkey[]
  ): boolean {
    for (const mint of mints) tokens.name(mint, origin, event)
    if (event.kind === 'trade' && isUnstated(event, 'pool')) return false
    const { isFirst, givesVaults } = pools.name(origin, event, listing)
    if (isFirst) for (const mint of mints) tokens.pool(mint)
    return givesVaults
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

  function tradeRows(origin: RowOrigin, trade: Trade, kind: TradeKind, givesVaults: boolean): TradeRows {
    const { cashSide } = kind
    const vaults = givesVaults ? trade.vaults : undefined
    return cashSide === null
      ? swapRows(origin, trade, vaults)
      : [pricedRow(origin, trade, cashSide, kind, vaults)]
  }

  function pricedRow(
    origin: RowOrigin,
    trade: Trade,
    cashSide: Side,
    kind: TradeKind,
    vaults: TradeRow['vaults']
  ): TradeRow {
    const cashLeg = legOf(trade, cashSide)
    const token = legOf(trade, otherSide(cashSide))
    const pair = (kind.pair ??= pairOf(cashLeg, token))
    const cashUsd = cash.usdOf(cashLeg.mint, trade.solUsd ?? solPrice?.usd ?? null)
    const row = unpricedRow(origin, trade, token.mint, cashSide, cashUsd, vaults)
    pair.take(row, cashLeg, token)
    return row
  }

  function pairOf(cashLeg: Leg, token: Leg): PairFold {
    const key = pairKey(token.mint, cashLeg.mint)
    let pair = pairs.get(key)
    if (pair === undefined) {
      pair = new PairFold(key, known.latest('pairs', key), cashLeg, token)
      pairs.set(key, pair)
    }
    return pair
  }

  return {
    slots,
    trades,
    poolEvents,
    candles: candleUpserts(known, pairs.values()),
    launches: launches.changed(),
    pairs: [...pairs.values()].filter((pair) => pair.isChanged).map((pair) => pair.row),
    solPrices: [...solPrices.values()],
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
