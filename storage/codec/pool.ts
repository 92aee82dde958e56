import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { venueCodes } from './codes.ts'
import { addressIn } from './keys.ts'
import type { RecordKind } from './record.ts'

/** Layout of the newest trade. */
const NO_TRADE = 0
/** Layout of older stores: with the trade's own price, which may not be price-forming. */
const TRADED_OLDER = 1
/** Layout with the price of the newest price-forming trade, if any. */
const TRADED = 2
/** Layout that also has the reserves after the newest trade. */
const TRADED_WITH_RESERVES = 3

/**
 * A pool's registry row, with its newest trade, price and reserves as far as its layout has them. The pool is in the key.
 */
export const poolKind: RecordKind<PoolRow> = {
  name: 'pool',
  write(out, row) {
    out.byte(venueCodes.codeOf(row.venue))
    out.fixed(row.program, 32)
    out.fixed(row.base, 32)
    out.fixed(row.quote, 32)
    out.byte(row.quoteListed ? 1 : 0)
    out.optionalCount(row.baseDecimals)
    out.optionalCount(row.quoteDecimals)
    out.optionalFixed(row.baseVault, 32)
    out.optionalFixed(row.quoteVault, 32)
    out.optionalFloat(row.feeBps)
    out.byte(row.created === null ? 0 : 1)
    if (row.created !== null) {
      out.count(row.created.slot)
      out.offset(row.created.blockTime)
    }
    out.count(row.firstCursor)
    out.count(row.trades)
    const { lastTrade, lastPrice, reserves } = row
    out.byte(lastTrade === null ? NO_TRADE : reserves === null ? TRADED : TRADED_WITH_RESERVES)
    if (lastTrade === null) return
    writeLastTrade(out, lastTrade, lastPrice)
    if (reserves === null) return
    out.amount(reserves.base)
    out.amount(reserves.quote)
  },
  read: (source, key) => ({
    pool: addressIn(key),
    venue: venueCodes.wordOf(source.byte()),
    program: source.fixed(32),
    base: source.fixed(32),
    quote: source.fixed(32),
    quoteListed: source.byte() === 1,
    baseDecimals: source.optionalCount(),
    quoteDecimals: source.optionalCount(),
    baseVault: source.optionalFixed(32),
    quoteVault: source.optionalFixed(32),
    feeBps: source.optionalFloat(),
    created: source.byte() === 0 ? null : { slot: source.count(), blockTime: source.offset() },
    firstCursor: source.count(),
    trades: source.count(),
    ...readLastTrade(source)
  }),
  weigh: () => 1_200
}

/** The pool of an index entry. */
export const listedPoolKind: RecordKind<Pubkey> = {
  name: 'pool index entry',
  write: (out, pool) => out.fixed(pool, 32),
  read: (source) => source.fixed(32),
  weigh: () => 100
}

type LastTrade = NonNullable<PoolRow['lastTrade']>

function writeLastTrade(out: ByteWriter, last: LastTrade, price: PoolRow['lastPrice']): void {
  out.count(last.cursor)
  out.count(last.slot)
  out.offset(last.blockTime)
  out.byte(price === null ? 0 : 1)
  if (price === null) return
  out.optionalFloat(price.price)
  out.optionalFloat(price.cashUsd)
}

function readLastTrade(source: ByteReader): Pick<PoolRow, 'lastTrade' | 'lastPrice' | 'reserves'> {
  const layout = source.byte()
  if (layout === NO_TRADE) return { lastTrade: null, lastPrice: null, reserves: null }
  const lastTrade = { cursor: source.count(), slot: source.count(), blockTime: source.offset() }
  const isPriced = layout === TRADED_OLDER || source.byte() === 1
  const price = isPriced ? { price: source.optionalFloat(), cashUsd: source.optionalFloat() } : null
  const lastPrice = layout === TRADED_OLDER ? null : price
  const reserves = layout === TRADED_WITH_RESERVES ? { base: source.amount(), quote: source.amount() } : null
  return { lastTrade, lastPrice, reserves }
}
