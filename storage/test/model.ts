import { samePubkey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ActivityHour, ActivityOf, TotalsRow } from '../../src/market/activity-rows.ts'
import type { LogChannel, LogPart } from '../../src/market/log.ts'
import type { CurveRow, PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
import type {
  Candle,
  Interval,
  LaunchRow,
  PairRow,
  PoolEventRow,
  SlotRow,
  SolPriceRow,
  TradeRow
} from '../../src/market/rows.ts'
import type {
  ActivityStore,
  BlockCommit,
  CandleUpsert,
  CandleStore,
  LaunchStore,
  LogPage,
  MintTurnover,
  PageRequest,
  PoolStore
} from '../port.ts'

/** What a store must answer, computed from plain lists by plain scans. */
export class StorageModel {
  readonly slots: SlotRow[] = []
  readonly #trades: TradeRow[] = []
  readonly #poolEvents: PoolEventRow[] = []
  readonly #log: LogPart[] = []
  readonly #solPrices: SolPriceRow[] = []
  #candles: CandleUpsert[] = []
  #launches: LaunchRow[] = []
  #pairs: PairRow[] = []
  #activity: ActivityHour[] = []
  #tokens: TokenRow[] = []
  #pools: PoolRow[] = []
  /** First cursors of pools whose first block was committed. */
  readonly #listed = new Set<number>()
  #curves: CurveRow[] = []
  #totals: TotalsRow | null = null

  commit(block: BlockCommit): boolean {
    if (this.slots.length > 0 && block.slot.slot <= this.slots.at(-1)!.slot) return false
    this.slots.push(block.slot)
    this.#trades.push(...block.trades)
    this.#poolEvents.push(...block.poolEvents)
    this.#log.push(...block.log)
    for (const upsert of block.candles)
      this.#candles = [...this.#candles.filter((known) => !isSameBucket(known, upsert)), upsert]
    for (const launch of block.launches)
      this.#launches = [...this.#launches.filter((known) => !samePubkey(known.mint, launch.mint)), launch]
    for (const pair of block.pairs)
      this.#pairs = [...this.#pairs.filter((known) => !isSamePair(known, pair)), pair]
    for (const hour of block.activity)
      this.#activity = [...this.#activity.filter((known) => !isSameHour(known, hour)), hour]
    for (const token of block.tokens)
      this.#tokens = [...this.#tokens.filter((known) => !samePubkey(known.mint, token.mint)), token]
    for (const pool of block.pools) {
      this.#pools = [...this.#pools.filter((known) => !samePubkey(known.pool, pool.pool)), pool]
      if (Math.floor(pool.firstCursor / 2 ** 20) === block.slot.slot) this.#listed.add(pool.firstCursor)
    }
    for (const curve of block.curves)
      this.#curves = [...this.#curves.filter((known) => !samePubkey(known.mint, curve.mint)), curve]
    this.#totals = block.totals ?? this.#totals
    if (block.solPrice !== null) {
      const { minute } = block.solPrice
      const known = this.#solPrices.findIndex((price) => price.minute === minute)
      if (known >= 0) this.#solPrices.splice(known, 1)
      this.#solPrices.push(block.solPrice)
    }
    return true
  }

  /** All there is, in no order. */
  get content() {
    return {
      slots: this.slots,
      trades: this.#trades,
      poolEvents: this.#poolEvents,
      log: this.#log,
      solPrices: this.#solPrices,
      candles: this.#candles,
      launches: this.#launches,
      pairs: this.#pairs,
      activity: this.#activity,
      tokens: this.#tokens,
      pools: this.#pools,
      curves: this.#curves
    }
  }

  isListed({ firstCursor }: PoolRow): boolean {
    return this.#listed.has(firstCursor)
  }

  /** As an amendment does that puts a pool. */
  list({ firstCursor }: PoolRow): void {
    this.#listed.add(firstCursor)
  }

  head(): SlotRow | null {
    return this.slots.at(-1) ?? null
  }

  trades(mint: Pubkey, page: PageRequest): TradeRow[] {
    return pageOf(
      this.#trades.filter((row) => samePubkey(row.mint, mint)),
      page
    )
  }

  /** A row without a cash side counts where its mint is the one paid in. */
  walletTrades(wallet: Pubkey, page: PageRequest): TradeRow[] {
    const own = this.#trades.filter((row) => samePubkey(row.user, wallet))
    return pageOf(
      own.filter((row) => row.cashSide !== null || samePubkey(row.mint, row.inMint)),
      page
    )
  }

  between(first: number, last: number): SlotRow[] {
    return this.slots.filter(({ slot }) => slot >= first && slot <= last)
  }

  firstSince(blockTime: number): number | null {
    return this.slots.find((slot) => slot.blockTime >= blockTime)?.slot ?? null
  }

  poolEvents(pool: Pubkey, page: PageRequest): PoolEventRow[] {
    return pageOf(
      this.#poolEvents.filter((row) => samePubkey(row.pool, pool)),
      page
    )
  }

  log(channel: LogChannel, { from = -1, until = Infinity, limit }: LogPage): LogPart[] {
    return this.#log
      .filter((part) => part.channel === channel)
      .map((part) => ({
        ...part,
        events: part.events.filter(({ cursor }) => cursor > from && cursor <= until)
      }))
      .filter(({ events }) => events.length > 0)
      .sort((a, b) => a.slot - b.slot)
      .slice(0, limit)
  }

  candle(mint: Pubkey, cash: Pubkey, interval: Interval, ts: number): Candle | null {
    return this.#series(mint, cash, interval).find((candle) => candle.ts === ts) ?? null
  }

  candles(
    mint: Pubkey,
    cash: Pubkey,
    interval: Interval,
    range: Parameters<CandleStore['range']>[3]
  ): Candle[] {
    const inRange = this.#series(mint, cash, interval).filter(({ ts }) => ts >= range.from && ts < range.to)
    return inRange.slice(Math.max(0, inRange.length - range.limit))
  }

  launch(mint: Pubkey): LaunchRow | null {
    return this.#launches.find((row) => samePubkey(row.mint, mint)) ?? null
  }

  launches(page: Parameters<LaunchStore['page']>[0]): LaunchRow[] {
    const offset = page.offset ?? 0
    const rows = this.#launches.filter((row) => page.status === undefined || row.status === page.status)
    return pageOf(rows, { ...page, limit: offset + page.limit }).slice(offset)
  }

  pair(mint: Pubkey, cash: Pubkey): PairRow | null {
    return this.#pairs.find((row) => isSamePair(row, { mint, cash })) ?? null
  }

  pairs(mint: Pubkey): PairRow[] {
    return this.#pairs.filter((row) => samePubkey(row.mint, mint))
  }

  solPrice(minute: number): SolPriceRow | null {
    const before = this.#solPrices.filter((price) => price.minute <= minute)
    return before.sort((a, b) => a.minute - b.minute).at(-1) ?? null
  }

  activityHour(of: ActivityOf, owner: Pubkey, hour: number): ActivityHour | null {
    return this.#activity.find((known) => isSameHour(known, { of, owner, hour })) ?? null
  }

  activity(of: ActivityOf, owner: Pubkey, range: Parameters<ActivityStore['range']>[2]): ActivityHour[] {
    const inRange = this.#activity.filter(
      (known) => isSameHour(known, { of, owner, hour: known.hour }) && isWithin(known.hour, range)
    )
    return inRange.sort((a, b) => a.hour - b.hour).slice(-range.limit)
  }

  /** Every hour with an event, oldest first. */
  hours(): number[] {
    return [...new Set(this.#activity.map(({ hour }) => hour))].sort((a, b) => a - b)
  }

  mintsOfHour(hour: number): MintTurnover[] {
    return this.#activity
      .filter((known) => known.of === 'mint' && known.hour === hour)
      .map(turnoverOf)
      .filter(({ minutes }) => minutes.length > 0)
      .sort((a, b) => Buffer.compare(a.mint, b.mint))
  }

  token(mint: Pubkey): TokenRow | null {
    return this.#tokens.find((row) => samePubkey(row.mint, mint)) ?? null
  }

  allPools(): readonly PoolRow[] {
    return this.#pools
  }

  pools(mint: Pubkey, page: Parameters<PoolStore['ofMint']>[1]): PoolRow[] {
    const listed = this.#pools.filter(
      (row) => samePubkey(row.base, mint) || (row.quoteListed && samePubkey(row.quote, mint))
    )
    const first = listed.filter((row) => this.#listed.has(row.firstCursor))
    const rows = first.map((row) => ({ cursor: row.firstCursor, row }))
    return pageOf(rows, page).map(({ row }) => row)
  }

  curve(mint: Pubkey): CurveRow | null {
    return this.#curves.find((row) => samePubkey(row.mint, mint)) ?? null
  }

  totals(): TotalsRow | null {
    return this.#totals
  }

  #series(mint: Pubkey, cash: Pubkey, interval: Interval): Candle[] {
    return this.#candles
      .filter((known) => isSamePair(known, { mint, cash }) && known.interval === interval)
      .map(({ candle }) => candle)
      .sort((a, b) => a.ts - b.ts)
  }
}

function pageOf<Row extends { readonly cursor: number }>(rows: readonly Row[], page: PageRequest): Row[] {
  const { from, until, order, limit } = page
  const desc = order === 'desc'
  return rows
    .filter(({ cursor }) => from === undefined || (desc ? cursor < from : cursor > from))
    .filter(({ cursor }) => until === undefined || (desc ? cursor >= until : cursor <= until))
    .sort((a, b) => (desc ? b.cursor - a.cursor : a.cursor - b.cursor))
    .slice(0, limit)
}

interface Pair {
  readonly mint: Pubkey
  readonly cash: Pubkey
}

const isSamePair = (a: Pair, b: Pair): boolean => samePubkey(a.mint, b.mint) && samePubkey(a.cash, b.cash)

const isSameBucket = (a: CandleUpsert, b: CandleUpsert): boolean =>
  isSamePair(a, b) && a.interval === b.interval && a.candle.ts === b.candle.ts

const isSameHour = (a: HourOf, b: HourOf): boolean =>
  a.of === b.of && a.hour === b.hour && samePubkey(a.owner, b.owner)

type HourOf = Pick<ActivityHour, 'of' | 'owner' | 'hour'>

const isWithin = (time: number, range: { readonly from: number; readonly to: number }): boolean =>
  time >= range.from && time < range.to

/** What ranks the mint of an hour: of its minutes those with a trade. */
export function turnoverOf({ owner, minutes }: ActivityHour): MintTurnover {
  const traded = minutes.filter(({ trades }) => trades > 0)
  return {
    mint: owner,
    minutes: traded.map(({ minute, trades, volumeMicroUsd }) => ({ minute, trades, volumeMicroUsd }))
  }
}
