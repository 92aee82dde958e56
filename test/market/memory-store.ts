import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { foldBlock } from '../../src/market/fold.ts'
import type { BlockFold, FoldOptions } from '../../src/market/fold.ts'
import type { LogAddress, LogPart } from '../../src/market/log.ts'
import type { ActivityHour, ActivityOf, TotalsRow } from '../../src/market/activity-rows.ts'
import { MarketState } from '../../src/market/market-state.ts'
import type { MarketLimits } from '../../src/market/market-state.ts'
import type { Loaded, Missing } from '../../src/market/missing.ts'
import { pairKey } from '../../src/market/pairs.ts'
import type { CurveRow, PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
import type {
  BlockCommit,
  Candle,
  LaunchRow,
  PairRow,
  SlotRow,
  SolPriceRow,
  TradeRow
} from '../../src/market/rows.ts'
import { restoreSolUsd } from '../../src/market/sol-usd.ts'
import { touchedBy } from '../../src/market/touched.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import { SOL } from './world.ts'

/** What a durable store would hold, in plain Maps. */
export class MemoryStore {
  head: SlotRow | null = null
  readonly trades: TradeRow[] = []
  readonly log = new Map<string, LogPart>()
  readonly pairs = new Map<string, PairRow>()
  readonly candles = new Map<string, Candle>()
  readonly launches = new Map<string, LaunchRow>()
  readonly solPrices = new Map<number, SolPriceRow>()
  readonly tokens = new Map<string, TokenRow>()
  readonly pools = new Map<string, PoolRow>()
  readonly curves = new Map<string, CurveRow>()
  readonly hours = new Map<string, ActivityHour>()
  totals: TotalsRow | null = null

  commit(block: BlockCommit): void {
    this.head = block.slot
    this.trades.push(...block.trades)
    for (const part of block.log) this.log.set(partKey(part), part)
    this.#put(block)
    this.totals = block.totals ?? this.totals
    if (block.solPrice !== null) this.solPrices.set(block.solPrice.minute, block.solPrice)
  }

  #put(block: Records): void {
    for (const row of block.pairs) this.pairs.set(pairKey(row.mint, row.cash), row)
    for (const { mint, cash, interval, candle } of block.candles) {
      this.candles.set(`${pairKey(mint, cash)}/${interval}/${candle.ts}`, candle)
    }
    for (const row of block.launches) this.launches.set(pubkeyMapKey(row.mint), row)
    for (const row of block.tokens) this.tokens.set(pubkeyMapKey(row.mint), row)
    for (const row of block.pools) this.pools.set(pubkeyMapKey(row.pool), row)
    for (const row of block.curves) this.curves.set(pubkeyMapKey(row.mint), row)
    for (const row of block.activity) this.hours.set(hourKey(row.of, row.owner, row.hour), row)
  }

  amend(amendment: Amendment): void {
    const { trades, log, pairs, candles, launches, solPrices, activity, tokens, pools, curves } = amendment
    const gone = new Set([...trades.put, ...trades.remove].map(({ cursor }) => cursor))
    const kept = this.trades.filter(({ cursor }) => !gone.has(cursor))
    this.trades.splice(0, Infinity, ...[...kept, ...trades.put].sort((a, b) => a.cursor - b.cursor))
    for (const at of log.remove) this.log.delete(partKey(at))
    for (const part of log.put) this.log.set(partKey(part), part)
    for (const at of pairs.remove) this.pairs.delete(pairKey(at.mint, at.cash))
    for (const at of candles.remove)
      this.candles.delete(`${pairKey(at.mint, at.cash)}/${at.interval}/${at.ts}`)
    for (const mint of launches.remove) this.launches.delete(pubkeyMapKey(mint))
    for (const minute of solPrices.remove) this.solPrices.delete(minute)
    for (const at of activity.remove) this.hours.delete(hourKey(at.of, at.owner, at.hour))
    for (const mint of tokens.remove) this.tokens.delete(pubkeyMapKey(mint))
    for (const pool of pools.remove) this.pools.delete(pubkeyMapKey(pool))
    for (const mint of curves.remove) this.curves.delete(pubkeyMapKey(mint))
    this.#put({
      pairs: pairs.put,
      candles: candles.put,
      launches: launches.put,
      tokens: tokens.put,
      pools: pools.put,
      curves: curves.put,
      activity: activity.put
    })
    for (const price of solPrices.put) this.solPrices.set(price.minute, price)
    this.head = amendment.head
    this.totals = amendment.totals
  }

  load(missing: Missing): Loaded {
    return {
      pairs: missing.pairs.map((at) => ({ ...at, row: this.pairs.get(pairKey(at.mint, at.cash)) ?? null })),
      candles: missing.candles.map((at) => ({
        ...at,
        candle: this.candles.get(`${pairKey(at.mint, at.cash)}/${at.interval}/${at.ts}`) ?? null
      })),
      launches: missing.launches.map((mint) => ({
        mint,
        launch: this.launches.get(pubkeyMapKey(mint)) ?? null
      })),
      tokens: missing.tokens.map((mint) => ({ mint, token: this.tokens.get(pubkeyMapKey(mint)) ?? null })),
      pools: missing.pools.map((pool) => ({ pool, row: this.pools.get(pubkeyMapKey(pool)) ?? null })),
      curves: missing.curves.map((mint) => ({ mint, curve: this.curves.get(pubkeyMapKey(mint)) ?? null })),
      hours: missing.hours.map((at) => ({
        ...at,
        activity: this.hours.get(hourKey(at.of, at.owner, at.hour)) ?? null
      }))
    }
  }

  /** The SOL price state as a restart would find it: rows newest first, as a reader pages back. */
  restoreSolUsd() {
    const { head } = this
    if (head === null) return restoreSolUsd(null, null, [])
    const prices = [...this.solPrices.values()].filter((row) => row.minute <= head.blockTime)
    const newest = prices.reduce<SolPriceRow | null>(
      (best, row) => (best === null || row.minute > best.minute ? row : best),
      null
    )
    const rows = this.trades.filter((row) => samePubkey(row.mint, SOL)).toReversed()
    return restoreSolUsd(head, newest, rows)
  }

  /** The market's state right after a restart. */
  restart(limits?: Partial<MarketLimits>): MarketState {
    const { totals } = this
    const headTime = this.head?.blockTime ?? -Infinity
    return new MarketState({ solUsd: this.restoreSolUsd(), totals, headTime }, limits)
  }
}

type Records = Pick<
  BlockCommit,
  'pairs' | 'candles' | 'launches' | 'tokens' | 'pools' | 'curves' | 'activity'
>

const partKey = ({ channel, slot }: LogAddress): string => `${channel}/${slot}`

function hourKey(of: ActivityOf, owner: Pubkey, hour: number): string {
  return `${of}/${pubkeyMapKey(owner)}/${hour}`
}

/** One block through load, fold, commit and apply, as ingest does it. */
export function ingest(
  store: MemoryStore,
  state: MarketState,
  block: DecodedBlock,
  options: FoldOptions
): BlockFold {
  state.load(store.load(state.missing(touchedBy(block, options.cash))))
  const fold = foldBlock(state, block, options)
  store.commit({ ...fold, log: encodeLog(fold, options.cash) })
  state.apply(fold)
  return fold
}

/** Folds a chain from an empty store, warm all along. */
export function ingestAll(
  chain: readonly DecodedBlock[],
  options: FoldOptions
): { store: MemoryStore; folds: BlockFold[] } {
  const store = new MemoryStore()
  const state = store.restart()
  return { store, folds: chain.map((block) => ingest(store, state, block, options)) }
}
