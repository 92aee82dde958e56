import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { MARKET } from './activity.ts'
import type { ActivityHour, ActivityOf, TotalsRow } from './activity-rows.ts'
import { bucketStart, bucketStarts } from './candles.ts'
import type { BlockFold, KnownMarket } from './fold.ts'
import type { CandleAddress, HourAddress, Loaded, Missing } from './missing.ts'
import { pairKey } from './pairs.ts'
import type { PairKey } from './pairs.ts'
import { Recent, RunningHour } from './recent.ts'
import type { CurveRow, PoolRow, TokenRow } from './registry-rows.ts'
import { INTERVALS } from './rows.ts'
import type { Candle, CandleUpsert, Interval, LaunchRow, PairRow } from './rows.ts'
import type { SolUsd } from './sol-usd.ts'
import type { PairAddress, Touched } from './touched.ts'

interface PairEntry {
  row: PairRow | null
  /** By index in INTERVALS: the bucket last loaded or written, null for one that the store does not have. */
  readonly buckets: { ts: number; candle: Candle | null }[]
  /** No bucket that starts after this time is stored; unix seconds. */
  storedUntil: number
}

/** A mint or a pool. */
interface OwnerEntry<Row> {
  row: Row | null
  readonly hours: RunningHour
}

export interface MarketStart {
  readonly solUsd: SolUsd
  readonly totals: TotalsRow | null
  /** Block time of the committed head, -Infinity on an empty store. */
  readonly headTime: number
}

/**
 * How far below an earlier block time the head's can be, in seconds. On the chain times never fall; the store holds no
 * more than the head's, so that after a restart this much is not taken for absent from it.
 */
const TIME_FALLS_MAX = 60

export interface MarketSize {
  readonly pairs: number
  readonly launches: number
  readonly tokens: number
  readonly pools: number
  readonly curves: number
}

export interface MarketLimits extends MarketSize {
  /** Up to twice as many blocks what none of them touches stays. */
  readonly quietBlocks: number
}

/** Memory of a mint with one row of each kind. Measured: 5 KB when it traded in one minute of the hour, 10 in five, 19 in twenty. */
const MINT_BYTES = 10_000

/**
 * About 100 MB when full (`MINT_BYTES`), where nobody says how much. Most coins rest for good ten minutes after their last trade, which is so many blocks.
 */
const LIMITS: MarketLimits = {
  pairs: 10_000,
  launches: 10_000,
  tokens: 10_000,
  pools: 10_000,
  curves: 10_000,
  quietBlocks: 1_500
}

/** As many rows of each kind as fit into these bytes. */
export function marketLimits(bytesMax: number): Partial<MarketLimits> {
  const each = Math.max(Math.floor(bytesMax / MINT_BYTES), 1)
  return { pairs: each, launches: each, tokens: each, pools: each, curves: each }
}

/**
 * The part of the market that recent blocks touched, so that folding the next one seldom needs the store. For each
 * block: `missing` says what to load, `load` takes it, `foldBlock` reads, and `apply` takes the fold in once it is
 * durable. What is absent from the store is remembered as well.
 *
 * M1. (INVARIANTS 10) At most so many of each kind stay after `apply`; those untouched for longest go first, and what was
 *     untouched for many blocks goes all the same.
 * M2. A bucket or hour later than any block so far cannot be stored, so a new minute of a known pair loads nothing.
 * M3. To read what was neither loaded nor written is a fault of the caller and throws.
 */
export class MarketState implements KnownMarket {
  #solUsd: SolUsd
  #totals: TotalsRow | null
  /** No stored block is later. */
  #newestTime: number
  readonly #pairs: Recent<PairEntry>
  readonly #launches: Recent<LaunchRow | null>
  readonly #tokens: Recent<OwnerEntry<TokenRow>>
  readonly #pools: Recent<OwnerEntry<PoolRow>>
  readonly #curves: Recent<CurveRow | null>
  readonly #market: RunningHour

  constructor(start: MarketStart, limits: Partial<MarketLimits> = {}) {
    const { pairs, launches, tokens, pools, curves, quietBlocks } = { ...LIMITS, ...limits }
    this.#solUsd = start.solUsd
    this.#totals = start.totals
    this.#newestTime = start.headTime + TIME_FALLS_MAX
    this.#pairs = new Recent('a pair', pairs, quietBlocks)
    this.#launches = new Recent('the launch of a mint', launches, quietBlocks)
    this.#tokens = new Recent('a token', tokens, quietBlocks)
    this.#pools = new Recent('a pool', pools, quietBlocks)
    this.#curves = new Recent('the curve of a mint', curves, quietBlocks)
    this.#market = new RunningHour(this.#newestTime)
  }

  get solUsd(): SolUsd {
    return this.#solUsd
  }

  get totals(): TotalsRow | null {
    return this.#totals
  }

  /** Estimated by the kind with the most rows. */
  get bytes(): number {
    return Math.max(...(Object.values(this.size) as number[])) * MINT_BYTES
  }

  get size(): MarketSize {
    return {
      pairs: this.#pairs.size,
      launches: this.#launches.size,
      tokens: this.#tokens.size,
      pools: this.#pools.size,
      curves: this.#curves.size
    }
  }

  /** What a block needs and is not held; also marks what it touches as recently used. */
  missing(touched: Touched): Missing {
    const starts = bucketStarts(touched.blockTime)
    const pairs: PairAddress[] = []
    const candles: CandleAddress[] = []
    for (const [key, { mint, cash }] of touched.pairs) {
      const entry = this.#pairs.renew(key)
      if (entry === undefined) pairs.push({ mint, cash })
      for (const [index, interval] of INTERVALS.entries()) {
        const ts = starts[index]!
        const isHeld = entry !== undefined && bucketOf(entry, index, ts) !== undefined
        if (!isHeld) candles.push({ mint, cash, interval, ts })
      }
    }
    const hour = bucketStart('1h', touched.blockTime)
    const hours: HourAddress[] = []
    if (this.#market.at(hour) === undefined) hours.push({ of: 'market', owner: MARKET, hour })
    const ownersNotHeld = (
      of: ActivityOf,
      held: Recent<OwnerEntry<unknown>>,
      owners: Iterable<[string, Pubkey]>
    ) => {
      const notHeld: Pubkey[] = []
      for (const [key, owner] of owners) {
        const entry = held.renew(key)
        if (entry === undefined) notHeld.push(owner)
        if (entry?.hours.at(hour) === undefined) hours.push({ of, owner, hour })
      }
      return notHeld
    }
    return {
      pairs,
      candles,
      launches: notHeld(this.#launches, touched.launches),
      tokens: ownersNotHeld('mint', this.#tokens, touched.tokens),
      pools: ownersNotHeld('pool', this.#pools, touched.pools),
      curves: notHeld(this.#curves, touched.curves),
      hours
    }
  }

  load(loaded: Loaded): void {
    const newestTime = this.#newestTime
    for (const { mint, cash, row } of loaded.pairs) {
      this.#pairs.set(pairKey(mint, cash), { row, buckets: [], storedUntil: newestTime })
    }
    for (const { mint, cash, interval, ts, candle } of loaded.candles) {
      this.#pairs.get(pairKey(mint, cash)).buckets[INTERVALS.indexOf(interval)] = { ts, candle }
    }
    for (const { mint, launch } of loaded.launches) this.#launches.set(pubkeyMapKey(mint), launch)
    for (const { mint, token } of loaded.tokens) {
      this.#tokens.set(pubkeyMapKey(mint), { row: token, hours: new RunningHour(newestTime) })
    }
    for (const { pool, row } of loaded.pools) {
      this.#pools.set(pubkeyMapKey(pool), { row, hours: new RunningHour(newestTime) })
    }
    for (const { mint, curve } of loaded.curves) this.#curves.set(pubkeyMapKey(mint), curve)
    for (const { of, owner, hour, activity } of loaded.hours) this.#hoursOf(of, owner).hold(hour, activity)
  }

  pair(key: PairKey): PairRow | null {
    return this.#pairs.get(key).row
  }

  candle(key: PairKey, interval: Interval, ts: number): Candle | null {
    const candle = bucketOf(this.#pairs.get(key), INTERVALS.indexOf(interval), ts)
    if (candle === undefined) throw new Error(`the ${interval} bucket at ${ts} was not loaded`)
    return candle
  }

  launch(mint: Pubkey): LaunchRow | null {
    return this.#launches.of(mint)
  }

  token(mint: Pubkey): TokenRow | null {
    return this.#tokens.of(mint).row
  }

  pool(pool: Pubkey): PoolRow | null {
    return this.#pools.of(pool).row
  }

  curve(mint: Pubkey): CurveRow | null {
    return this.#curves.of(mint)
  }

  activity(of: ActivityOf, owner: Pubkey, hour: number): ActivityHour | null {
    const activity = this.#hoursOf(of, owner).at(hour)
    if (activity === undefined) throw new Error(`the hour ${hour} of a ${of} was not loaded`)
    return activity
  }

  /** Takes in what a committed block changed, and lets go of what is past the limits. */
  apply(fold: BlockFold): void {
    const { blockTime } = fold.slot
    this.#solUsd = fold.solUsd
    this.#totals = fold.totals ?? this.#totals
    this.#newestTime = Math.max(this.#newestTime, blockTime)
    for (const row of fold.pairs) this.#pairs.get(pairKey(row.mint, row.cash)).row = row
    this.#applyCandles(fold.candles, blockTime)
    for (const row of fold.launches) this.#launches.set(pubkeyMapKey(row.mint), row)
    for (const row of fold.tokens) this.#tokens.of(row.mint).row = row
    for (const row of fold.pools) this.#pools.of(row.pool).row = row
    for (const row of fold.curves) this.#curves.set(pubkeyMapKey(row.mint), row)
    for (const hour of fold.activity) this.#hoursOf(hour.of, hour.owner).wrote(hour, blockTime)
    for (const held of [this.#pairs, this.#launches, this.#tokens, this.#pools, this.#curves]) held.letGo()
  }

  #applyCandles(candles: readonly CandleUpsert[], blockTime: number): void {
    let entry: PairEntry | null = null
    let last: CandleUpsert | null = null
    for (const upsert of candles) {
      // The buckets of a pair follow each other, and finding its entry costs more than writing one.
      if (entry === null || upsert.mint !== last?.mint || upsert.cash !== last.cash) {
        entry = this.#pairs.get(pairKey(upsert.mint, upsert.cash))
        entry.storedUntil = Math.max(entry.storedUntil, blockTime)
      }
      const { interval, candle } = upsert
      entry.buckets[INTERVALS.indexOf(interval)] = { ts: candle.ts, candle }
      last = upsert
    }
  }

  #hoursOf(of: ActivityOf, owner: Pubkey): RunningHour {
    if (of === 'market') return this.#market
    return of === 'mint' ? this.#tokens.of(owner).hours : this.#pools.of(owner).hours
  }
}

function notHeld<T>(held: Recent<T>, wanted: Iterable<[string, Pubkey]>): Pubkey[] {
  const addresses: Pubkey[] = []
  for (const [key, address] of wanted) if (held.renew(key) === undefined) addresses.push(address)
  return addresses
}

/** A held bucket, null when the store cannot have it, undefined when only the store knows. */
function bucketOf(entry: PairEntry, index: number, ts: number): Candle | null | undefined {
  const bucket = entry.buckets[index]
  if (bucket?.ts === ts) return bucket.candle
  return ts > bucketStart(INTERVALS[index]!, entry.storedUntil) ? null : undefined
}
