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
import { bytesOfMarket, DEFAULT_LIMITS, type MarketLimits, type MarketSize } from './market-limits.ts'
import { noneStored } from './read-set.ts'
import type { LoadedRecords, ReadSet } from './read-set.ts'
import { pairKey } from './pairs.ts'
import type { PairKey } from './pairs.ts'
import { addressText, byName, LATEST, rowText } from './records.ts'
import type { AddressOf, LatestName, RowOf } from './records.ts'
import { INTERVALS } from './rows.ts'
import type { Candle, CandleAddress, CandleUpsert, Interval, SlotRow } from './rows.ts'
import { RunningBuckets } from './running-buckets.ts'
import { RunningHour } from './running-hour.ts'
import { COLD_SOL_USD, type SolUsd } from './sol-usd.ts'
import { affectedKeys, affectedKeysOf, type AffectedKeys } from './affected-keys.ts'

/** A cached row, with the cached end of its series. */
interface Held<Row> {
  row: Row | null
  /** Those of a pair; null for other rows. */
  readonly buckets: RunningBuckets | null
  /** The hour of a token or a pool; null for other rows. */
  readonly hours: RunningHour | null
}

export interface MarketStart {
  readonly solUsd: SolUsd
  readonly totals: TotalsRow | null
  /** The last block; null on an empty store. */
  readonly head: SlotRow | null
}

/** The start of an empty store. */
export const EMPTY_START: MarketStart = { solUsd: COLD_SOL_USD, totals: null, head: null }

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
  #newestTime: number
  readonly #latest: { readonly [Name in LatestName]: LruCache<Held<RowOf<Name>>> }
  readonly #market: RunningHour

  constructor(start: MarketStart, limits: Partial<MarketLimits> = {}) {
    this.#solUsd = start.solUsd
    this.#totals = start.totals
    this.#head = start.head
    this.#newestTime = (start.head?.blockTime ?? -Infinity) + TIME_FALLS_MAX
    const sizes = { ...DEFAULT_LIMITS, ...limits }
    this.#latest = byName(LATEST, (name) => new LruCache<Held<never>>(name, sizes[name], sizes.quietBlocks))
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

  /** No stored block is later; Unix seconds. */
  get newestTime(): number {
    return this.#newestTime
  }

  /** Estimated bytes in memory. */
  get bytes(): number {
    return bytesOfMarket(this.size)
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
   * Begins to fold blocks after the head at once (`foldBlocks`), of which each can be (`areFoldedTogether`). Marks their cached
   * rows as used.
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
      this.#bucketsOf(pairKey(mint, cash)).hold(interval, ts, row === null ? null : row.candle)
    }
    for (const { address, row } of loaded.activity)
      this.#hoursOf(address.of, address.owner).hold(address.hour, row)
  }

  /** The row at an address, which is named as in `AffectedKeys`. */
  latest<Name extends LatestName>(name: Name, text: string): RowOf<Name> | null {
    return this.#latest[name].get(text).row
  }

  candle(key: PairKey, interval: Interval, ts: number): Candle | null {
    const candle = this.#bucketsOf(key).at(interval, ts)
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
    let buckets: RunningBuckets | null = null
    let last: CandleUpsert | null = null
    for (const upsert of candles) {
      // The buckets of a pair are adjacent, and finding its entry costs more than writing one.
      if (buckets === null || upsert.mint !== last?.mint || upsert.cash !== last.cash) {
        buckets = this.#bucketsOf(pairKey(upsert.mint, upsert.cash))
        buckets.wrote(blockTime)
      }
      const { interval, candle } = upsert
      buckets.hold(interval, candle.ts, candle)
      last = upsert
    }
  }

  #hold<Name extends LatestName>(name: Name, text: string, row: RowOf<Name> | null): void {
    const isOwner = name === 'tokens' || name === 'pools'
    this.#latest[name].set(text, {
      row,
      buckets: name === 'pairs' ? new RunningBuckets(this.#newestTime) : null,
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
        if (buckets?.at(interval, ts) === undefined) candles.push({ mint, cash, interval, ts })
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

  #bucketsOf(key: PairKey): RunningBuckets {
    return this.#latest.pairs.get(key).buckets!
  }

  #hoursOf(of: ActivityOf, owner: Pubkey): RunningHour {
    if (of === 'market') return this.#market
    return this.#latest[of === 'mint' ? 'tokens' : 'pools'].get(pubkeyMapKey(owner)).hours!
  }
}
