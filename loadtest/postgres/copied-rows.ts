import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { candleBody, candlePrices } from '../../src/data/bodies/candle.ts'
import { tradeBody, walletTradeBody } from '../../src/data/bodies/trade.ts'
import { secondsText } from '../../src/kernel/http/time.ts'
import type { ActivityHour, ActivityMinute } from '../../src/market/activity-rows.ts'
import { CashList, isWrappedSol } from '../../src/market/cash.ts'
import { priceUsd } from '../../src/market/cash-price.ts'
import { newestPair } from '../../src/market/latest-price.ts'
import { tokenValue } from '../../src/market/token-value.ts'
import { windowHours } from '../../src/market/windows.ts'
import type { Storage } from '../../storage/port.ts'
import type { PeerTable, TableRow } from './tables.ts'

/** Rows of a list that PostgreSQL holds: three pages. */
const ROWS_A_LIST = 300
const CANDLES_A_LIST = 600
const DAY = 86_400
const cash = new CashList()

/** Copies the newest trades of tokens. */
export async function tradesOf(storage: Storage, mints: readonly Pubkey[]): Promise<PeerTable> {
  const rows: TableRow[] = []
  for (const mint of mints) {
    const listed = pubkeyToBase58(mint)
    const trades = await storage.trades.ofMint(mint, { order: 'desc', limit: ROWS_A_LIST })
    for (const row of trades) rows.push({ listed, ...tradeBody(row, cash) })
  }
  return { name: 'trades', rows, index: ['listed', 'cursor'] }
}

/** Copies the newest trades of wallets. */
export async function walletTradesOf(storage: Storage, wallets: readonly Pubkey[]): Promise<PeerTable> {
  const rows: TableRow[] = []
  for (const wallet of wallets) {
    const listed = pubkeyToBase58(wallet)
    const trades = await storage.trades.ofWallet(wallet, { order: 'desc', limit: ROWS_A_LIST })
    for (const row of trades) rows.push({ listed, ...walletTradeBody(row, cash) })
  }
  return { name: 'wallet_trades', rows, index: ['listed', 'cursor'] }
}

/** Copies the newest candles of a minute of tokens, in the cash that each has by default. */
export async function candlesOf(
  storage: Storage,
  mints: readonly Pubkey[],
  headTime: number
): Promise<PeerTable> {
  const rows: TableRow[] = []
  for (const mint of mints) {
    const pairs = await storage.pairs.ofMint(mint)
    const pair = pairs.find((each) => isWrappedSol(each.cash)) ?? pairs[0]
    if (pair === undefined) continue
    const range = { from: 0, to: headTime + 60, limit: CANDLES_A_LIST }
    const view = {
      ...{ decimals: pair.decimals, cashDecimals: pair.cashDecimals },
      ...{ intervalSeconds: 60, headTime, archiveEnd: null }
    }
    for (const candle of await storage.candles.range(mint, pair.cash, '1m', range)) {
      const prices = candlePrices(candle, { currency: 'native', raw: false })
      if (prices !== null) rows.push({ listed: pubkeyToBase58(mint), ...candleBody(candle, prices, view) })
    }
  }
  return { name: 'candles', rows, index: ['listed', 'ts_ms'] }
}

/** Copies what a price and an overview need: the newest price, the pools, and the sums of the last day. */
export async function pricesOf(
  storage: Storage,
  mints: readonly Pubkey[],
  headTime: number
): Promise<readonly PeerTable[]> {
  const prices: TableRow[] = []
  const pools: TableRow[] = []
  const hours: TableRow[] = []
  const minutes: TableRow[] = []
  for (const mint of mints) {
    const listed = pubkeyToBase58(mint)
    const pair = newestPair(await storage.pairs.ofMint(mint))
    const [launch, curve] = await Promise.all([storage.launches.get(mint), storage.curves.get(mint)])
    if (pair === null) continue
    const { last } = pair
    const listedPools = await storage.pools.ofMint(mint, { order: 'desc', limit: 100 })
    const value = tokenValue({ launch, minted: null, curve, pools: listedPools, pair })
    prices.push({
      ...{ listed, price: last.price, price_native: last.price, price_usd: priceUsd(last) },
      ...{ cash_mint: pubkeyToBase58(pair.cash), cash_symbol: cash.of(pair.cash)?.symbol ?? null },
      ...{ venue: last.venue, pool: pubkeyToBase58(last.pool), slot: last.slot },
      ...{
        signature: encodeBase58(last.signature),
        ts: secondsText(last.blockTime),
        ts_ms: last.blockTime * 1000
      },
      ...{ market_cap_usd: value.marketCapUsd, symbol: launch?.symbol ?? null, name: launch?.name ?? null }
    })
    for (const pool of listedPools)
      pools.push({
        ...{ listed, pool: pubkeyToBase58(pool.pool), venue: pool.venue },
        liquidity_usd: tokenValue({ launch: null, minted: null, curve, pools: [pool], pair }).liquidityUsd
      })
    for (const hour of await storage.activity.range('mint', mint, windowHours(headTime, DAY))) {
      hours.push({ listed, hour: hour.hour, ...sumOf(hour.minutes), traders: hour.traders.length })
      if (hour.hour < headTime - 2 * 3_600) continue
      for (const minute of hour.minutes)
        minutes.push({ listed, minute: minute.minute, ...sumOf([minute]), traders: minute.trades })
    }
  }
  return [
    { name: 'prices', rows: prices, index: ['listed'] },
    { name: 'pools', rows: pools, index: ['listed'] },
    { name: 'hours', rows: hours, index: ['listed', 'hour'] },
    { name: 'minutes', rows: minutes, index: ['listed', 'minute'] }
  ]
}

function sumOf(minutes: ActivityHour['minutes']): TableRow {
  const sum = (of: (minute: ActivityMinute) => number): number =>
    minutes.reduce((total, minute) => total + of(minute), 0)
  const open = minutes.find(({ openUsd }) => typeof openUsd === 'number')?.openUsd
  return {
    volume_usd: sum((minute) => Number(minute.volumeMicroUsd) / 1e6),
    buy_usd: sum((minute) => Number(minute.buyMicroUsd) / 1e6),
    sell_usd: sum((minute) => Number(minute.sellMicroUsd) / 1e6),
    volume_native: sum((minute) => Number(minute.volumeCash) / 1e9),
    trades: sum(({ trades }) => trades),
    buys: sum(({ buys }) => buys),
    sells: sum(({ sells }) => sells),
    unpriced: sum(({ trades, priced }) => trades - priced),
    open_usd: typeof open === 'number' ? open : null
  }
}
