import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { MARKET } from './activity.ts'
import type { ActivityHour, ActivityOf, HourAddress, TotalsRow } from './activity-rows.ts'
import { bucketStart, bucketStarts } from './buckets.ts'
import type { DecodedBlock } from './block.ts'
import { foldBlock, foldBlocks } from './fold.ts'
import type { BlockFold, BlocksFold, FoldOptions, KnownMarket } from './fold.ts'
import { marketBefore, type KeptBlock } from './kept-block.ts'
import { LruCache } from './lru-cache.ts'
import { noneStored } from './read-set.ts'
import type { LoadedRecords, ReadSet } from './read-set.ts'
import { pairKey } from './pairs.ts'
import type { PairKey } from './pairs.ts'
import { addressText, byName, LATEST, rowText } from './records.ts'
import type { AddressOf, LatestName, RowOf } from './records.ts'
import { INTERVALS } from './rows.ts'
import type { Candle, CandleAddress, CandleUpsert, Interval, SlotRow } from './rows.ts'
import { RunningHour } from './running-hour.ts'
import { COLD_SOL_USD, type SolUsd } from './sol-usd.ts'
import { affectedKeys, affectedKeysOf, type AffectedKeys } from './affected-keys.ts'

/** A cached row, with the cached end of its series. */
interface Held<Row> {
  row: Row | null
  /** Buckets of a pair; empty for other rows. */
  readonly buckets: Buckets
  /** The hour of a token or a pool; null for other rows. */
  readonly hours: RunningHour | null
}

/** The buckets of a pair. */
interface Buckets {
  /** By index in INTERVALS: the bucket last loaded or written; null for one that the store does not have. */
  readonly held: { ts: number; candle: Candle | null }[]
  /** No bucket that starts after this time is stored; Unix seconds. */
  storedUntil: number
}

export interface MarketStart {
  readonly solUsd: SolUsd
  readonly totals: TotalsRow | null
  /** The last block; null on an empty store. */
  readonly head: SlotRow | null
}

/** The start of an empty store. */
export const EMPTY_START: MarketStart = { solUsd: COLD_SOL_USD, totals: null, head: null }

type Timed = Pick<DecodedBlock, 'blockTime'>

/** A block that can be folded once the store has answered. */
export interface PreparedBlock {
  readonly affected: AffectedKeys
  /** Addresses that the block needs and memory does not hold. */
  readonly readSet: ReadSet
  /** Folds the block on the store's answers, and advances the market. Throws if another block was prepared since. */
  fold(loaded: LoadedRecords): BlockFold
  /** Folds the block, and returns it also with the state that it was folded on. */
  foldKept(loaded: LoadedRecords): { readonly fold: BlockFold; readonly kept: KeptBlock }
}

/** Blocks that can be folded at once when the store has answered. */
export interface PreparedBlocks extends Pick<PreparedBlock, 'affected' | 'readSet'> {
  /** Folds the blocks on the store's answers, and advances the market. Throws if other blocks were prepared since. */
  fold(loaded: LoadedRecords): BlocksFold
}

/**
 * Seconds by which a block time may be below an earlier one. On the chain times fall by a second or two at most. The store
 * records only the head's time, so after a restart buckets up to this much later are not assumed to be absent.
 */
export const TIME_FALLS_MAX = 60

/** Rows by record. */
export type MarketSize = Readonly<Record<LatestName, number>>

export interface MarketLimits extends MarketSize {
  /** Number of blocks without a use after which a row is evicted; up to twice as many in practice. */
  readonly quietBlocks: number
}

/**
 * Memory of a mint with one row of each kind. Measured: 5 KB if it traded in one minute of the hour, 10 KB in five,
 * 19 KB in twenty.
 */
const MINT_BYTES = 10_000

/**
 * Default number of rows of each record: about 100 MB (`MINT_BYTES`). Most coins never trade again after ten minutes
 * without a trade, the duration of as many blocks.
 */
const ROWS_MAX = 10_000
const QUIET_BLOCKS = 1_500

const rowsOfEach = (count: number): MarketSize => byName<MarketSize>(LATEST, () => count)

/** The number of rows of each record that fits into these bytes. */
export function marketLimits(bytesMax: number): MarketSize {
  return rowsOfEach(Math.max(Math.floor(bytesMax / MINT_BYTES), 1))
}

/** Folds a block as the first of an empty store. Pure: the result depends only on the block. */
export function foldAlone(block: DecodedBlock, options: FoldOptions): BlockFold {
  const prepared = new MarketState(EMPTY_START).prepare(block, options)
  return prepared.fold(noneStored(prepared.readSet))
}

/**
 * The market after a block, and the rows that recent blocks affected, so that folding the next block seldom reads the
 * store. `prepare` returns what to read, and `fold` of what it returned gives all records of the block. Absence from the
 * store is cached as well.
 *
 * M1. (INVARIANTS 10) A fold leaves at most a fixed number of rows of each kind and evicts the least recently used.
 *     It also evicts rows unused for many blocks.
 * M2. A bucket or hour later than any block so far cannot be stored, so a new minute of a known pair loads nothing. So
 *     blocks of several minutes can be folded at once if none of these minutes is before the newest known time.
 * M3. Reading a row that was neither loaded nor written is a caller's error and throws.
 */
export class MarketState implements KnownMarket {
  #solUsd: SolUsd
  #totals: TotalsRow | null
  #head: SlotRow | null
  /** Stands for the blocks that are folded next. */
  #prepared: symbol | null = null
  /** No stored block is later. */
  #newestTime: number
  readonly #latest: { readonly [Name in LatestName]: LruCache<Held<RowOf<Name>>> }
  readonly #market: RunningHour

  constructor(start: MarketStart, limits: Partial<MarketLimits> = {}) {
    const { quietBlocks = QUIET_BLOCKS, ...rows } = limits
    this.#solUsd = start.solUsd
    this.#totals = start.totals
    this.#head = start.head
    this.#newestTime = (start.head?.blockTime ?? -Infinity) + TIME_FALLS_MAX
    const sizes = { ...rowsOfEach(ROWS_MAX), ...rows }
    this.#latest = byName(LATEST, (name) => new LruCache<Held<never>>(name, sizes[name], quietBlocks))
    this.#market = new RunningHour(this.#newestTime)
  }

  get solUsd(): SolUsd {
    return this.#solUsd
  }

  get totals(): TotalsRow | null {
    return this.#totals
  }

  /** The last block that was folded; null on an empty store. */
  get head(): SlotRow | null {
    return this.#head
  }

  /** Estimated from the kind with the most rows. */
  get bytes(): number {
    return Math.max(...Object.values<number>(this.size)) * MINT_BYTES
  }

  get size(): MarketSize {
    return byName<MarketSize>(LATEST, (name) => this.#latest[name].size)
  }

  /** Begins to fold the block after the head. Marks the cached rows that it needs as used. */
  prepare(block: DecodedBlock, options: FoldOptions): PreparedBlock {
    const affected = affectedKeys(block, options.cash)
    const load = this.#prepareAt(block.slot)
    const fold = (): BlockFold => {
      const folded = foldBlock(this, block, options)
      this.#apply(folded, [folded.slot])
      return folded
    }
    return {
      affected,
      readSet: this.#readSet(affected),
      fold: (loaded) => {
        load(loaded)
        return fold()
      },
      foldKept: (loaded) => {
        load(loaded)
        const kept = { block, before: marketBefore(this, this.#head, affected) }
        return { fold: fold(), kept }
      }
    }
  }

  /**
   * Returns whether a block can be folded at once with blocks after the head that are not folded yet, of which the first and
   * the last are given (M2).
   */
  isFoldedWith(first: Timed, last: Timed, block: Timed): boolean {
    const [begin, end, minute] = [first, last, block].map(({ blockTime }) => bucketStart('1m', blockTime))
    if (minute! < end! || bucketStart('1h', minute!) !== bucketStart('1h', begin!)) return false
    return minute === begin || bucketStart('1m', this.#newestTime) <= begin!
  }

  /**
   * Begins to fold blocks after the head at once (`foldBlocks`): each is folded with those before it, as `isFoldedWith` tells.
   * Marks their cached rows as used.
   */
  prepareBlocks(blocks: readonly DecodedBlock[], options: FoldOptions): PreparedBlocks {
    const [first] = blocks
    if (first === undefined) throw new RangeError('a fold needs a block')
    const affected = affectedKeysOf(blocks, options.cash)
    const load = this.#prepareAt(first.slot)
    return {
      affected,
      readSet: this.#readSet(affected),
      fold: (loaded) => {
        load(loaded)
        const folded = foldBlocks(this, blocks, options)
        this.#apply(folded, folded.slots)
        return folded
      }
    }
  }

  /** Returns a function that takes the store's answers for the blocks from a slot on, unless others were prepared since. */
  #prepareAt(slot: number): (loaded: LoadedRecords) => void {
    const prepared = Symbol(slot)
    this.#prepared = prepared
    return (loaded) => {
      if (this.#prepared !== prepared) throw new Error(`block ${slot} is folded out of order`)
      this.#prepared = null
      this.#load(loaded)
    }
  }

  #readSet(affected: AffectedKeys): ReadSet {
    const latest = byName<Pick<ReadSet, LatestName>>(LATEST, (name) => this.#notHeld(name, affected))
    return { ...latest, candles: this.#candlesNotHeld(affected), activity: this.#hoursNotHeld(affected) }
  }

  #load(loaded: LoadedRecords): void {
    for (const name of LATEST)
      for (const { address, row } of loaded[name]) this.#hold(name, addressText(name, address), row)
    for (const { address, row } of loaded.candles) {
      const { mint, cash, interval, ts } = address
      const { held } = this.#latest.pairs.get(pairKey(mint, cash)).buckets
      held[INTERVALS.indexOf(interval)] = { ts, candle: row === null ? null : row.candle }
    }
    for (const { address, row } of loaded.activity)
      this.#hoursOf(address.of, address.owner).hold(address.hour, row)
  }

  /** The row at an address, which is named as in `AffectedKeys`. */
  latest<Name extends LatestName>(name: Name, text: string): RowOf<Name> | null {
    return this.#latest[name].get(text).row
  }

  candle(key: PairKey, interval: Interval, ts: number): Candle | null {
    const candle = bucketOf(this.#latest.pairs.get(key).buckets, INTERVALS.indexOf(interval), ts)
    if (candle === undefined) throw new Error(`the ${interval} bucket at ${ts} was not loaded`)
    return candle
  }

  activity(of: ActivityOf, owner: Pubkey, hour: number): ActivityHour | null {
    const activity = this.#hoursOf(of, owner).at(hour)
    if (activity === undefined) throw new Error(`the hour ${hour} of a ${of} was not loaded`)
    return activity
  }

  /** Applies the changes of blocks, and evicts what exceeds the limits. */
  #apply(fold: Omit<BlockFold, 'slot'>, slots: readonly SlotRow[]): void {
    const blockTime = Math.max(...slots.map((slot) => slot.blockTime))
    this.#head = slots.at(-1) ?? this.#head
    this.#solUsd = fold.solUsd
    this.#totals = fold.totals ?? this.#totals
    this.#newestTime = Math.max(this.#newestTime, blockTime)
    for (const name of LATEST)
      for (const row of fold[name]) this.#latest[name].get(rowText(name, row)).row = row as never
    this.#applyCandles(fold.candles, blockTime)
    for (const hour of fold.activity) this.#hoursOf(hour.of, hour.owner).wrote(hour, blockTime)
    for (const name of LATEST) this.#latest[name].evict()
  }

  #applyCandles(candles: readonly CandleUpsert[], blockTime: number): void {
    let buckets: Buckets | null = null
    let last: CandleUpsert | null = null
    for (const upsert of candles) {
      // The buckets of a pair are adjacent, and finding its entry costs more than writing one.
      if (buckets === null || upsert.mint !== last?.mint || upsert.cash !== last.cash) {
        buckets = this.#latest.pairs.get(pairKey(upsert.mint, upsert.cash)).buckets
        buckets.storedUntil = Math.max(buckets.storedUntil, blockTime)
      }
      const { interval, candle } = upsert
      buckets.held[INTERVALS.indexOf(interval)] = { ts: candle.ts, candle }
      last = upsert
    }
  }

  #hold<Name extends LatestName>(name: Name, text: string, row: RowOf<Name> | null): void {
    const isOwner = name === 'tokens' || name === 'pools'
    this.#latest[name].set(text, {
      row,
      buckets: { held: [], storedUntil: this.#newestTime },
      hours: isOwner ? new RunningHour(this.#newestTime) : null
    })
  }

  #notHeld<Name extends LatestName>(name: Name, affected: AffectedKeys): AddressOf<Name>[] {
    const addresses: AddressOf<Name>[] = []
    for (const [text, address] of affected[name])
      if (this.#latest[name].renew(text) === undefined) addresses.push(address as AddressOf<Name>)
    return addresses
  }

  #candlesNotHeld({ pairs, blockTime, laterPairs }: AffectedKeys): CandleAddress[] {
    const first = bucketStarts(blockTime)
    const candles: CandleAddress[] = []
    for (const [text, { mint, cash }] of pairs) {
      const buckets = this.#latest.pairs.peek(text)?.buckets
      const later = laterPairs?.get(text)
      const starts = later === undefined ? first : bucketStarts(later)
      for (const [index, interval] of INTERVALS.entries()) {
        const ts = starts[index]!
        const isHeld = buckets !== undefined && bucketOf(buckets, index, ts) !== undefined
        if (!isHeld) candles.push({ mint, cash, interval, ts })
      }
    }
    return candles
  }

  #hoursNotHeld({ tokens, pools, blockTime }: AffectedKeys): HourAddress[] {
    const hour = bucketStart('1h', blockTime)
    const hours: HourAddress[] = []
    const add = (of: ActivityOf, owner: Pubkey, held: RunningHour | null | undefined): void => {
      if (held?.at(hour) === undefined) hours.push({ of, owner, hour })
    }
    add('market', MARKET, this.#market)
    for (const [text, owner] of tokens) add('mint', owner, this.#latest.tokens.peek(text)?.hours)
    for (const [text, owner] of pools) add('pool', owner, this.#latest.pools.peek(text)?.hours)
    return hours
  }

  #hoursOf(of: ActivityOf, owner: Pubkey): RunningHour {
    if (of === 'market') return this.#market
    return this.#latest[of === 'mint' ? 'tokens' : 'pools'].get(pubkeyMapKey(owner)).hours!
  }
}

/** A held bucket; null if the store cannot have it, undefined if the store must be read. */
function bucketOf({ held, storedUntil }: Buckets, index: number, ts: number): Candle | null | undefined {
  const bucket = held[index]
  if (bucket?.ts === ts) return bucket.candle
  return ts > bucketStart(INTERVALS[index]!, storedUntil) ? null : undefined
}
