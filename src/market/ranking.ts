import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { ActivityMinute } from './activity-rows.ts'
import { digestOf } from './block-digest.ts'
import { MintNumbers } from './mint-numbers.ts'
import { MinuteVolumes, type MintVolume } from './minute-volumes.ts'
import type { BlockCommit } from './records.ts'
import { minuteOf } from './sol-usd.ts'
import { byVolume } from './volume-order.ts'
import { WindowSums } from './window-sums.ts'

const MINUTE = 60
const HOUR = 3_600

/** The windows in which mints are ranked, in seconds. */
export const RANKED_WINDOWS = { '1h': HOUR, '4h': 4 * HOUR, '24h': 24 * HOUR } as const
export type RankedWindow = keyof typeof RANKED_WINDOWS

/** Maximum number of ranked mints: three times the length of an answer, for filters and other orders. */
export const RANKS_MAX = 300

/** Seconds by which the head's time may fall while windows stay complete. On the chain it never falls. */
export const RANKING_FALL = HOUR
/** Seconds for which minutes are stored before the end of the newest one. */
export const RANKING_KEEPS = RANKED_WINDOWS['24h'] + RANKING_FALL

/** Maximum number of pairs of a mint and a minute with trades. Mainnet makes 3 million in 25 hours; each takes 16 bytes. */
const PAIRS_MAX = 8_000_000
const MINTS_MAX = 500_000
/** Maximum number of minutes with an index of their mints: the current one, and the hour that a restart reads. */
const INDEXED_MAX = 64

export interface RankedMint extends MintVolume {
  readonly mint: Pubkey
}

type MinutesByStart = Map<number, MinuteVolumes>

/** A mint's trades in a minute at some block: totals, not the block's own share. */
export type MintMinute = Pick<ActivityMinute, 'minute' | 'trades' | 'volumeMicroUsd'>

/**
 * The trades of every mint in the rolling windows that end with the head's minute, exact at every block.
 *
 * R1. Sums are totals by mint and minute, and newer ones replace older ones. Their order and number make no
 *     difference, so a store may be read while blocks are committed and applied.
 * R2. A minute that leaves a window is subtracted once, however far the head jumps: the cost depends on trades, not
 *     on time.
 * R3. (INVARIANTS 10) Beyond the limit of pairs or mints the oldest minutes are evicted, and counted. The longest
 *     windows are then shorter than their names.
 * R4. Minutes of an archive are separate, so that a minute of both stores is the sum of both. All blocks of the archive
 *     come before the live ones.
 */
export class Ranking {
  readonly #mints = new MintNumbers()
  readonly #minutes = new Map<number, MinuteVolumes>()
  /** Minutes of an archive. The minute at its end can be in both maps. */
  readonly #archived = new Map<number, MinuteVolumes>()
  readonly #indexed = new Set<MinuteVolumes>()
  readonly #sums: Readonly<Record<RankedWindow, WindowSums>> = {
    '1h': new WindowSums(RANKED_WINDOWS['1h']),
    '4h': new WindowSums(RANKED_WINDOWS['4h']),
    '24h': new WindowSums(RANKED_WINDOWS['24h'])
  }
  readonly #windows = Object.values(this.#sums)
  /** Cached rankings, cleared by every change. */
  readonly #tops = new Map<RankedWindow, readonly RankedMint[]>()
  #pairs = 0
  /** End of the windows. */
  #end = -Infinity
  /** Start of the stored minutes; earlier ones are ignored. */
  #keptFrom = -Infinity
  #dropped = 0
  readonly #pairsMax: number
  readonly #mintsMax: number

  constructor(limits: { readonly pairsMax?: number; readonly mintsMax?: number } = {}) {
    this.#pairsMax = limits.pairsMax ?? PAIRS_MAX
    this.#mintsMax = limits.mintsMax ?? MINTS_MAX
  }

  /** Sizes; `bytes` is that of the columns, `dropped` counts the minutes evicted early. */
  get size(): {
    readonly mints: number
    readonly pairs: number
    readonly bytes: number
    readonly dropped: number
  } {
    const columns = [...this.#allMinutes(), ...this.#windows]
    const bytes = columns.reduce((sum, column) => sum + column.bytes, 0)
    return { mints: this.#mints.size, pairs: this.#pairs, bytes, dropped: this.#dropped }
  }

  /** Applies a committed block, whose minute becomes the head's. */
  apply(commit: BlockCommit): void {
    const { blockTime } = commit.slot
    this.advance(blockTime)
    const minute = minuteOf(blockTime)
    for (const { mapKey, trades, microUsd } of digestOf(commit).mints)
      if (trades > 0) this.#take(mapKey, [{ minute, trades, volumeMicroUsd: microUsd }], this.#minutes)
  }

  /** Moves the windows to end with the minute of a time, in Unix seconds. */
  advance(headTime: number): void {
    const end = minuteOf(headTime) + MINUTE
    if (end === this.#end) return
    this.#end = end
    this.#tops.clear()
    for (const window of this.#windows) window.move(end, this.#allMinutes())
    this.#keepFrom(end - RANKING_KEEPS)
  }

  /** Adds minutes of a mint, in any order (R1). */
  take(mint: Pubkey, minutes: readonly MintMinute[]): void {
    this.#take(pubkeyMapKey(mint), minutes, this.#minutes)
  }

  /** Adds minutes of a mint in the archive, like `take`. They count beside those of the live store (R4). */
  takeArchived(mint: Pubkey, minutes: readonly MintMinute[]): void {
    this.#take(pubkeyMapKey(mint), minutes, this.#archived)
  }

  #take(mapKey: string, minutes: readonly MintMinute[], store: MinutesByStart): void {
    let number: number | null = null
    for (const { minute, trades, volumeMicroUsd } of minutes) {
      if (trades === 0 || minute < this.#keptFrom) continue
      number ??= this.#mints.of(mapKey)
      this.#raise(number, this.#minute(minute, store), { trades, microUsd: volumeMicroUsd })
    }
    while (this.#pairs > this.#pairsMax || this.#mints.size > this.#mintsMax) {
      const oldest = Math.min(...this.#archived.keys(), ...this.#minutes.keys())
      if (oldest >= Math.max(...this.#archived.keys(), ...this.#minutes.keys())) return
      this.#dropped++
      this.#keepFrom(oldest + MINUTE)
    }
  }

  /** Returns the number of mints that traded in a window. */
  activeMints(window: RankedWindow): number {
    return this.#sums[window].active
  }

  /** Returns the trades of a mint in a window by the mint's map key; undefined if it did not trade. */
  volume(window: RankedWindow, mapKey: string): MintVolume | undefined {
    const number = this.#mints.find(mapKey)
    if (number === undefined) return undefined
    const sums = this.#sums[window]
    return sums.trades(number) === 0 ? undefined : sums.of(number)
  }

  /**
   * Yields mints with a volume in USD by their map keys, the largest volume first, after null for each ORDERED_AT_ONCE
   * mints of the pass before. The next change ends the iteration.
   */
  *byVolume(window: RankedWindow): Generator<{ readonly mapKey: string; readonly microUsd: bigint } | null> {
    const sums = this.#sums[window]
    for (const number of byVolume(sums, this.#mints.end))
      yield number === null ? null : { mapKey: this.#mints.mapKey(number), microUsd: sums.microUsd(number) }
  }

  /**
   * Returns the mints with the largest volume in USD, at most RANKS_MAX; unpriced volume counts as zero. Equals are
   * ordered by more trades, then by lower bytes.
   */
  top(window: RankedWindow, limit: number): readonly RankedMint[] {
    let top = this.#tops.get(window)
    if (top === undefined) {
      const sums = this.#sums[window]
      top = this.#best(sums).map((number) => ({ mint: this.#mints.mint(number), ...sums.of(number) }))
      this.#tops.set(window, top)
    }
    return top.slice(0, limit)
  }

  #raise(mint: number, minute: MinuteVolumes, volume: MintVolume): void {
    const change = minute.raise(mint, volume)
    if (change === null) return
    this.#tops.clear()
    for (const window of this.#windows) if (window.covers(minute.start)) window.change(mint, change)
    if (change.trades < volume.trades) return
    this.#pairs++
    this.#mints.hold(mint)
  }

  /** Returns the numbers of the best mints, by insertion. One comparison excludes nearly all others. */
  #best(sums: WindowSums): number[] {
    const best: number[] = []
    for (let number = 0; number < this.#mints.end; number++) {
      if (sums.trades(number) === 0) continue
      if (best.length === RANKS_MAX && !this.#isAbove(sums, number, best[RANKS_MAX - 1]!)) continue
      best.splice(this.#placeIn(best, sums, number), 0, number)
      if (best.length > RANKS_MAX) best.pop()
    }
    return best
  }

  /** Returns the place of a mint in a list, the best first, by bisection. */
  #placeIn(best: readonly number[], sums: WindowSums, number: number): number {
    let [low, high] = [0, best.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#isAbove(sums, number, best[middle]!)) high = middle
      else low = middle + 1
    }
    return low
  }

  #isAbove(sums: WindowSums, a: number, b: number): boolean {
    const volume = sums.microUsd(a)
    const other = sums.microUsd(b)
    if (volume !== other) return volume > other
    const more = sums.trades(a) - sums.trades(b)
    return more > 0 || (more === 0 && this.#mints.mapKey(a) < this.#mints.mapKey(b))
  }

  *#allMinutes(): Generator<MinuteVolumes> {
    yield* this.#archived.values()
    yield* this.#minutes.values()
  }

  #minute(start: number, store: MinutesByStart): MinuteVolumes {
    let minute = store.get(start)
    if (minute === undefined) {
      minute = new MinuteVolumes(start)
      store.set(start, minute)
    }
    if (!this.#indexed.has(minute)) {
      this.#indexed.add(minute)
      const [first] = this.#indexed
      if (this.#indexed.size > INDEXED_MAX && first !== undefined) {
        this.#indexed.delete(first)
        first.settle()
      }
    }
    return minute
  }

  #keepFrom(from: number): void {
    if (from <= this.#keptFrom) return
    this.#keptFrom = from
    for (const store of [this.#archived, this.#minutes])
      for (const minute of store.values()) if (minute.start < from) this.#forget(minute, store)
  }

  #forget(minute: MinuteVolumes, store: MinutesByStart): void {
    for (const window of this.#windows) if (window.covers(minute.start)) window.subtract(minute)
    for (const number of minute.mints) this.#mints.release(number)
    this.#pairs -= minute.length
    store.delete(minute.start)
    this.#indexed.delete(minute)
  }
}
