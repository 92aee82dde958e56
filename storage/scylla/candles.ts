import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import { SingleFlight } from '../../src/kernel/work/single-flight.ts'
import { currentTenant } from '../../src/kernel/work/current-tenant.ts'
import { bucketAt } from '../../src/market/candles.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import { candlePageKind } from '../codec/candle.ts'
import { openCandlesKind, replaceNewest, type OpenCandles } from '../codec/open-candles.ts'
import { mergedPage, PAGE_BUCKETS, pageAt, takeNewest } from '../codec/candle-pages.ts'
import { candlePageKey, keyText, openCandlesKey, seriesKey } from '../codec/keys.ts'
import type { CandleRange, CandleStore, CandleUpsert } from '../port.ts'
import { addressIn } from './address-records.ts'
import type { ScyllaBase } from './base.ts'
import { BucketedRecords } from './bucketed-records.ts'
import type { Place } from './bucketed-records.ts'
import { amendCandles, type Pair } from './candle-amendments.ts'
import { blob } from './client.ts'
import type { Commit, TableCommit } from './commit.ts'
import { RecordTable } from './records.ts'
import { readConsistently } from './read-consistently.ts'
import type { Table } from './table.ts'
import type { Snapshot } from './visibility.ts'

/** Half a year of minutes, 262,144 candles: 53 MB in two versions of each page, if there is one every minute. */
const PAGES_PER_BUCKET = 4_096
/** Maximum pages that are read at a time: about 400 KB of a busy pair. */
const PAGES_PER_READ_MAX = 32

interface Series extends Pair {
  readonly interval: Interval
}

/**
 * The newest bucket of each interval of a pair is in one record, which a block rewrites. Older buckets are in pages, written
 * when a bucket stops being the newest.
 */
export function candleTable(base: ScyllaBase): Table<CandleStore> {
  const candles = new CandleRecords(base)
  return {
    port: {
      get: (at) => readConsistently(base, async () => bucketAt(at, await candles.at(at, at.ts))),
      range: (mint, cash, interval, range) =>
        readConsistently(base, () => candles.within({ mint, cash, interval }, range))
    },
    stage: (commit) => candles.stage(commit),
    amend: (commit, amendment) => candles.amend(commit, amendment.candles)
  }
}

class CandleRecords {
  readonly #base: ScyllaBase
  readonly #open: RecordTable<Pair, OpenCandles>
  readonly #pages: BucketedRecords<readonly Candle[]>
  /** Reads of newest candles that a fold has in flight, by pair, and the snapshot at which they were begun. */
  readonly #sharedReads = new SingleFlight<OpenCandles | null>()
  #sharedAt: Snapshot | null = null

  constructor(base: ScyllaBase) {
    this.#base = base
    this.#open = new RecordTable<Pair, OpenCandles>(base, {
      table: 'newest_candles',
      partition: ['mint', 'cash'],
      clustering: [],
      kind: openCandlesKind,
      values: ({ mint, cash }) => [blob(mint), blob(cash)],
      storeKey: ({ mint, cash }) => openCandlesKey(mint, cash),
      keyOf: (row) => ({ mint: addressIn(row, 'mint'), cash: addressIn(row, 'cash') })
    })
    this.#pages = new BucketedRecords(base, {
      table: 'candle_pages',
      position: 'page',
      positionBytes: 4,
      positionsPerBucket: PAGES_PER_BUCKET,
      kind: candlePageKind
    })
  }

  async at(series: Series, ts: number): Promise<Candle | null> {
    const newest = await this.#newest(series)
    if (newest === null || ts > newest.ts) return null
    if (ts === newest.ts) return newest
    const page = await this.#pages.get({ owner: ownerOf(series), position: pageAt(series.interval, ts) })
    return page?.find((candle) => candle.ts === ts) ?? null
  }

  /** The newest of a range, oldest first. */
  async within(series: Series, range: CandleRange): Promise<Candle[]> {
    const newest = await this.#newest(series)
    if (newest === null || range.limit <= 0 || range.to <= range.from || newest.ts < range.from) return []
    const found = newest.ts < range.to ? [newest] : []
    // If a block came between, a page has the candle that was read as the newest.
    const older = { ...range, to: Math.min(range.to, newest.ts) }
    if (found.length < range.limit && older.from < older.to) await this.#takeFromPages(series, older, found)
    return found.reverse()
  }

  async stage(commit: Commit): Promise<void> {
    const pairs = [
      ...Map.groupBy(
        commit.blocks.candles,
        ({ mint, cash }) => pubkeyMapKey(mint) + pubkeyMapKey(cash)
      ).values()
    ]
    const keys = pairs.map(([first]): Pair => ({ mint: first!.mint, cash: first!.cash }))
    const open = await this.#open.committed(commit, keys)
    const replaced = pairs.map((upserts, i) => replaceNewest(open[i] ?? {}, upserts))
    await Promise.all([
      this.#open.stage(
        commit,
        replaced.map(({ newest }, i) => ({ key: keys[i]!, value: newest }))
      ),
      this.#stagePages(
        commit,
        replaced.flatMap(({ passed }) => passed)
      )
    ])
  }

  amend(commit: TableCommit, edit: Amendment['candles']): Promise<void> {
    return amendCandles(commit, { open: this.#open, pages: this.#pages }, edit)
  }

  async #stagePages(commit: Commit, upserts: readonly CandleUpsert[]): Promise<void> {
    const changes = new Map<string, Place & { readonly candles: Candle[] }>()
    for (const upsert of upserts) {
      const place = { owner: ownerOf(upsert), position: pageAt(upsert.interval, upsert.candle.ts) }
      const text = keyText(candlePageKey(place.owner, place.position))
      const change = changes.get(text) ?? { ...place, candles: [] }
      changes.set(text, change)
      change.candles.push(upsert.candle)
    }
    const pages = [...changes.values()]
    const stored = await this.#pages.committed(commit, pages)
    await this.#pages.stage(
      commit,
      pages.map(({ owner, position, candles }, i) => ({
        owner,
        position,
        value: mergedPage(stored[i] ?? [], candles)
      }))
    )
  }

  async #newest({ mint, cash, interval }: Series): Promise<Candle | null> {
    return (await this.#newestOf({ mint, cash }))?.[interval] ?? null
  }

  /**
   * Reads the newest candles of a pair. A fold needs those of each interval, which are one record, so its reads share one. A tenant's
   * read never waits for that of another.
   */
  #newestOf(pair: Pair): Promise<OpenCandles | null> {
    if (currentTenant() !== null) return this.#open.get(pair)
    const { snapshot } = this.#base.visibility
    if (snapshot !== this.#sharedAt) this.#sharedReads.clear()
    this.#sharedAt = snapshot
    return this.#sharedReads.run(keyText(openCandlesKey(pair.mint, pair.cash)), () => this.#open.get(pair))
  }

  /** Takes candles of a range from their pages, newest first. For a series with gaps each read takes more pages. */
  async #takeFromPages(series: Series, range: CandleRange, found: Candle[]): Promise<void> {
    const gte = pageAt(series.interval, range.from)
    let lt = pageAt(series.interval, range.to - 1) + 1
    for (let least = 1; lt > gte; least *= 2) {
      // One more than full pages would need, because the read begins in the middle of the first page.
      const needed = Math.ceil((range.limit - found.length) / PAGE_BUCKETS) + 1
      const limit = Math.min(Math.max(needed, least), PAGES_PER_READ_MAX)
      const pages = await this.#pages.range(ownerOf(series), { gte, lt, order: 'desc', limit })
      for (const { value } of pages) if (takeNewest(found, value, range)) return
      if (pages.length < limit) return
      lt = pages.at(-1)!.position
    }
  }
}

const ownerOf = ({ mint, cash, interval }: Series): Buffer => seriesKey(mint, cash, interval)
