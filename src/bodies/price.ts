import { encodeBase58 } from '../chain/base58.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { humanAmount } from '../market/amount.ts'
import type { CashList } from '../market/cash.ts'
import type { PairRow } from '../market/rows.ts'
import type { WindowStats } from '../market/windows.ts'
import { secondsText } from './time.ts'

/** A price whose trade is further than this behind the indexed head is served as stale. Chosen. */
const STALE_AFTER_SECONDS = 3600

/**
 * The latest price as served. `newest` is the pair with the newest price-forming trade, and has one; `stats` holds
 * the 24 hours before the indexed head of every pair of the mint. Ages count from the head's block time.
 * Supply and vault reserves are account state, so what depends on them is null.
 */
export function priceBody(
  newest: PairRow,
  stats: ReadonlyMap<PairRow, WindowStats>,
  headTime: number,
  cash: CashList
) {
  const last = newest.last!
  const own = stats.get(newest)
  const volumes = [...stats.values()].flatMap(({ volumeMicroUsd }) => volumeMicroUsd ?? [])
  const isUsdKnown = stats.size === 0 || volumes.length > 0
  const age = Math.max(0, headTime - last.blockTime)
  return {
    mint: pubkeyToBase58(newest.mint),
    price: last.price,
    price_native: last.price,
    price_usd: last.cashUsd === null ? null : last.price * last.cashUsd,
    cash_mint: pubkeyToBase58(newest.cash),
    cash_symbol: cash.of(newest.cash)?.symbol ?? null,
    venue: last.venue,
    pool: pubkeyToBase58(last.pool),
    slot: last.slot,
    signature: encodeBase58(last.signature),
    ts: secondsText(last.blockTime),
    ts_ms: last.blockTime * 1000,
    age_seconds: age,
    market_cap_usd: null,
    volume_24h_usd: isUsdKnown ? Number(volumes.reduce((sum, volume) => sum + volume, 0n)) / 1e6 : null,
    volume_24h_native: own === undefined ? 0 : humanAmount(own.volumeCash, newest.cashDecimals),
    liquidity_usd: null,
    price_change_24h_pct: own?.changeUsdPct ?? own?.changePct ?? null,
    confidence: age > STALE_AFTER_SECONDS ? ('stale' as const) : ('trade' as const)
  }
}
