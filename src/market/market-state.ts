import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { bucketStart, bucketStarts } from './candles.ts'
import type { BlockFold, KnownMarket } from './fold.ts'
import { pairKey } from './pairs.ts'
import type { PairKey } from './pairs.ts'
import { INTERVALS } from './rows.ts'
import type { Candle, CandleUpsert, Interval, LaunchRow, PairRow } from './rows.ts'
import type { SolUsd } from './sol-usd.ts'
import type { PairAddress, Touched } from './touched.ts'

/** What the store must be asked for before a block can be folded. */
export interface Missing {
  readonly pairs: readonly PairAddress[]
  readonly candles: readonly CandleAddress[]
  readonly launches: readonly Pubkey[]
}

export interface CandleAddress extends PairAddress {
  readonly interval: Interval
  readonly ts: number
}

/** The store's answers, null where it has none. */
export interface Loaded {
  readonly pairs: readonly (PairAddress & { readonly row: PairRow | null })[]
  readonly candles: readonly (CandleAddress & { readonly candle: Candle | null })[]
  readonly launches: readonly { readonly mint: Pubkey; readonly launch: LaunchRow | null }[]
}

interface PairEntry {
  row: PairRow | null
  /** By index in INTERVALS: the bucket last loaded or written, null for one that the store does not have. */
  readonly buckets: { ts: number; candle: Candle | null }[]
  /** No bucket that starts after this time is stored; unix seconds. */
  storedUntil: number
}

/** Measured: 7 KB a pair and 1 KB a launch, so 80 MB when full. */
const PAIRS_MAX = 10_000
const LAUNCHES_MAX = 10_000

/**
 * The part of the market that recent blocks touched, so that folding the next one seldom needs the store. For each
 * block: `missing` says what to load, `load` takes it, `foldBlock` reads, and `apply` takes the fold in once it is
 * durable. What is absent from the store is remembered as well.
 *
 * M1. (INVARIANTS 10) At most so many pairs and launches stay after `apply`; those untouched for longest go first.
 * M2. A bucket later than any block so far cannot be stored, so a new minute of a known pair loads nothing.
 * M3. To read what was neither loaded nor written is a fault of the caller and throws.
 */
export class MarketState implements KnownMarket {
  #solUsd: SolUsd
  #newestTime: number
  readonly #pairs = new Map<PairKey, PairEntry>()
  readonly #launches = new Map<string, LaunchRow | null>()
  readonly #pairsMax: number
  readonly #launchesMax: number

  /** `newestTime` is the block time of the committed head, -Infinity on an empty store. */
  constructor(
    start: { readonly solUsd: SolUsd; readonly newestTime: number },
    limits: { readonly pairsMax?: number; readonly launchesMax?: number } = {}
  ) {
    this.#solUsd = start.solUsd
    this.#newestTime = start.newestTime
    this.#pairsMax = limits.pairsMax ?? PAIRS_MAX
    this.#launchesMax = limits.launchesMax ?? LAUNCHES_MAX
  }

  get solUsd(): SolUsd {
    return this.#solUsd
  }

  get size(): { readonly pairs: number; readonly launches: number } {
    return { pairs: this.#pairs.size, launches: this.#launches.size }
  }

  /** What a block needs and is not held; also marks what it touches as recently used. */
  missing(touched: Touched): Missing {
    const starts = bucketStarts(touched.blockTime)
    const pairs: PairAddress[] = []
    const candles: CandleAddress[] = []
    for (const [key, { mint, cash }] of touched.pairs) {
      const entry = renew(this.#pairs, key)
      if (entry === undefined) pairs.push({ mint, cash })
      for (const [index, interval] of INTERVALS.entries()) {
        const ts = starts[index]!
        const isHeld = entry !== undefined && bucketOf(entry, index, ts) !== undefined
        if (!isHeld) candles.push({ mint, cash, interval, ts })
      }
    }
    const launches: Pubkey[] = []
    for (const [key, mint] of touched.launches) {
      if (renew(this.#launches, key) === undefined) launches.push(mint)
    }
    return { pairs, candles, launches }
  }

  load(loaded: Loaded): void {
    for (const { mint, cash, row } of loaded.pairs) {
      this.#pairs.set(pairKey(mint, cash), { row, buckets: [], storedUntil: this.#newestTime })
    }
    for (const { mint, cash, interval, ts, candle } of loaded.candles) {
      this.#entry(pairKey(mint, cash)).buckets[INTERVALS.indexOf(interval)] = { ts, candle }
    }
    for (const { mint, launch } of loaded.launches) this.#launches.set(pubkeyMapKey(mint), launch)
  }

  pair(key: PairKey): PairRow | null {
    return this.#entry(key).row
  }

  candle(key: PairKey, interval: Interval, ts: number): Candle | null {
    const candle = bucketOf(this.#entry(key), INTERVALS.indexOf(interval), ts)
    if (candle === undefined) throw new Error(`the ${interval} bucket at ${ts} was not loaded`)
    return candle
  }

  launch(mint: Pubkey): LaunchRow | null {
    const launch = this.#launches.get(pubkeyMapKey(mint))
    if (launch === undefined) throw new Error('the launch of a mint was not loaded')
    return launch
  }

  /** Takes in what a committed block changed, and lets go of what is past the limits. */
  apply(fold: BlockFold): void {
    const { blockTime } = fold.slot
    this.#solUsd = fold.solUsd
    this.#newestTime = Math.max(this.#newestTime, blockTime)
    for (const row of fold.pairs) this.#entry(pairKey(row.mint, row.cash)).row = row
    let entry: PairEntry | null = null
    let last: CandleUpsert | null = null
    for (const upsert of fold.candles) {
      // The buckets of a pair follow each other, and finding its entry costs more than writing one.
      if (entry === null || upsert.mint !== last?.mint || upsert.cash !== last.cash) {
        entry = this.#entry(pairKey(upsert.mint, upsert.cash))
        entry.storedUntil = Math.max(entry.storedUntil, blockTime)
      }
      const { interval, candle } = upsert
      entry.buckets[INTERVALS.indexOf(interval)] = { ts: candle.ts, candle }
      last = upsert
    }
    for (const row of fold.launches) this.#launches.set(pubkeyMapKey(row.mint), row)
    evict(this.#pairs, this.#pairsMax)
    evict(this.#launches, this.#launchesMax)
  }

  #entry(key: PairKey): PairEntry {
    const entry = this.#pairs.get(key)
    if (entry === undefined) throw new Error('a pair was not loaded')
    return entry
  }
}

/** A held bucket, null when the store cannot have it, undefined when only the store knows. */
function bucketOf(entry: PairEntry, index: number, ts: number): Candle | null | undefined {
  const bucket = entry.buckets[index]
  if (bucket?.ts === ts) return bucket.candle
  return ts > bucketStart(INTERVALS[index]!, entry.storedUntil) ? null : undefined
}

/** Maps keep insertion order, so putting an entry back makes it the newest. */
function renew<T>(map: Map<string, T>, key: string): T | undefined {
  const value = map.get(key)
  if (value !== undefined) {
    map.delete(key)
    map.set(key, value)
  }
  return value
}

function evict(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}
