import { ownVaultOwners } from '../../src/signing/vault-owners.ts'
import { samePubkey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ActivityHour, ActivityOf } from '../../src/market/activity-rows.ts'
import type { LogChannel, LogEntry } from '../../src/market/log.ts'
import { addressText } from '../../src/market/records.ts'
import type { AddressOf, KeyedName, RowOf } from '../../src/market/records.ts'
import type { PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
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
  CandleStore,
  LaunchStore,
  LogPage,
  HourlyMintVolume,
  PageRequest,
  PoolStore
} from '../port.ts'
import { PlainRows } from './plain-rows.ts'

/** Model of a store: its answers, computed from plain rows by plain scans. */
export class StorageModel {
  readonly slots: SlotRow[] = []
  readonly rows = new PlainRows()
  /** First cursors of pools whose first block was committed. */
  readonly #listed = new Set<number>()

  commit(block: BlockCommit): boolean {
    if (this.slots.length > 0 && block.slot.slot <= this.slots.at(-1)!.slot) return false
    this.slots.push(block.slot)
    this.rows.commit(block)
    for (const pool of block.pools)
      if (Math.floor(pool.firstCursor / 2 ** 20) === block.slot.slot) this.list(pool)
    return true
  }

  /** The newest row at an address. */
  get<Name extends KeyedName>(name: Name, address: AddressOf<Name>): RowOf<Name> | null {
    return this.rows.maps[name].get(addressText(name, address)) ?? null
  }

  isListed({ firstCursor }: PoolRow): boolean {
    return this.#listed.has(firstCursor)
  }

  /** Lists a pool, as an amendment does that puts it. */
  list({ firstCursor }: PoolRow): void {
    this.#listed.add(firstCursor)
  }

  head(): SlotRow | null {
    return this.slots.at(-1) ?? null
  }

  trades(mint: Pubkey, page: PageRequest): TradeRow[] {
    return pageOf(
      this.rows.all('trades').filter((row) => samePubkey(row.mint, mint)),
      page
    )
  }

  /** A row without a cash side counts where its mint is the one paid in. */
  walletTrades(wallet: Pubkey, page: PageRequest): TradeRow[] {
    const own = this.rows.all('trades').filter((row) => samePubkey(row.user, wallet))
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
      this.rows.all('poolEvents').filter((row) => samePubkey(row.pool, pool)),
      page
    )
  }

  log(channel: LogChannel, { from = -1, until = Infinity, limit }: LogPage): LogEntry[] {
    return this.rows
      .all('log')
      .filter((entry) => entry.channel === channel)
      .map((entry) => ({
        ...entry,
        events: entry.events.filter(({ cursor }) => cursor > from && cursor <= until)
      }))
      .filter(({ events }) => events.length > 0)
      .sort((a, b) => a.slot - b.slot)
      .slice(0, limit)
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

  launches(page: Parameters<LaunchStore['page']>[0]): LaunchRow[] {
    const offset = page.offset ?? 0
    const rows = this.rows
      .all('launches')
      .filter((row) => page.status === undefined || row.status === page.status)
    return pageOf(rows, { ...page, limit: offset + page.limit }).slice(offset)
  }

  pairs(mint: Pubkey): PairRow[] {
    return this.rows.all('pairs').filter((row) => samePubkey(row.mint, mint))
  }

  solPrice(minute: number): SolPriceRow | null {
    const before = this.rows.all('solPrices').filter((price) => price.minute <= minute)
    return before.sort((a, b) => a.minute - b.minute).at(-1) ?? null
  }

  activity(of: ActivityOf, owner: Pubkey, range: Parameters<ActivityStore['range']>[2]): ActivityHour[] {
    const inRange = this.rows
      .all('activity')
      .filter((known) => known.of === of && samePubkey(known.owner, owner) && isWithin(known.hour, range))
    return inRange.sort((a, b) => a.hour - b.hour).slice(-range.limit)
  }

  /** Every hour with an event, oldest first. */
  hours(): number[] {
    return [...new Set(this.rows.all('activity').map(({ hour }) => hour))].sort((a, b) => a - b)
  }

  mintsOfHour(hour: number): HourlyMintVolume[] {
    return this.rows
      .all('activity')
      .filter((known) => known.of === 'mint' && known.hour === hour)
      .map(hourlyMintVolumeOf)
      .filter(({ minutes }) => minutes.length > 0)
      .sort((a, b) => Buffer.compare(a.mint, b.mint))
  }

  /** Every token, in no order. */
  tokens(): TokenRow[] {
    return this.rows.all('tokens')
  }

  pools(mint: Pubkey, page: Parameters<PoolStore['ofMint']>[1]): PoolRow[] {
    const listed = this.rows
      .all('pools')
      .filter((row) => samePubkey(row.base, mint) || (row.quoteListed && samePubkey(row.quote, mint)))
    const first = listed.filter((row) => this.#listed.has(row.firstCursor))
    const rows = first.map((row) => ({ cursor: row.firstCursor, row }))
    return pageOf(rows, page).map(({ row }) => row)
  }

  poolOfVaultOwner(owner: Pubkey): PoolRow | null {
    const owned = this.rows
      .all('pools')
      .filter((row) => ownVaultOwners(row).some((each) => samePubkey(each, owner)))
    return owned.toSorted((a, b) => b.firstCursor - a.firstCursor)[0] ?? null
  }

  #series(mint: Pubkey, cash: Pubkey, interval: Interval): Candle[] {
    return this.rows
      .all('candles')
      .filter(
        (known) => samePubkey(known.mint, mint) && samePubkey(known.cash, cash) && known.interval === interval
      )
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

const isWithin = (time: number, range: { readonly from: number; readonly to: number }): boolean =>
  time >= range.from && time < range.to

/** Minutes with a trade, by which the mint of an hour is ranked. */
export function hourlyMintVolumeOf({ owner, minutes }: ActivityHour): HourlyMintVolume {
  const traded = minutes.filter(({ trades }) => trades > 0)
  return {
    mint: owner,
    minutes: traded.map(({ minute, trades, volumeMicroUsd }) => ({ minute, trades, volumeMicroUsd }))
  }
}
