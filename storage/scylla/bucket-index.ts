import type { Pubkey } from '../../src/chain/pubkey.ts'
import { SecondChanceCache } from '../../src/kernel/memory/second-chance-cache.ts'
import type { ScyllaBase } from './base.ts'
import { blob } from './client.ts'
import type { TableCommit } from './commit.ts'

/** Owner of a list: an address, or other bytes that name one, such as the code of a status. */
export type Owner = Pubkey | Uint8Array

/** Entries that are read at a time, and cached for an owner. */
const ENTRIES_PER_READ = 32
/** Age at which cached buckets are reread, because entries expire. */
const KNOWN_MS = 10 * 60_000
/** Later buckets that are read without the index, for an owner whose newest entries were read a while ago. */
const UNINDEXED_MAX = 1
/** The longest possible time to live: 20 years. */
const TTL_MAX = 630_720_000
/** An entry is rewritten, with a new TTL, after this fraction of its rows' time; it outlives them by as much. */
const RENEWAL = 0.1

/** The newest buckets of an owner, newest first, at an earlier read. */
interface Known {
  readonly buckets: readonly number[]
  /** The newest bucket of all owners at that time: entries below it are complete. */
  readonly newest: number
  /** Whether older buckets exist. */
  readonly more: boolean
  readonly atMs: number
  /** The newest amendment then: a later one may have filled any bucket. */
  readonly amended: number
}

/** Buckets in the order of a range, the first of which may turn out to be empty. */
interface FoundBuckets {
  readonly buckets: readonly number[]
  readonly unindexed: number
}

/** Selects the buckets of a range. */
interface BucketRange {
  readonly low: number
  readonly high: number
  /** The newest bucket in which any owner can have a visible row. */
  readonly newest: number
  readonly order: 'asc' | 'desc'
}

/** The buckets of an owner that have rows, or have had rows of a block that never became visible. */
export class BucketIndex {
  readonly #base: ScyllaBase
  readonly #ttlSeconds: number
  readonly #insert: string
  readonly #select: Readonly<Record<'asc' | 'desc', string>>
  /** When entries were written last, by owner and bucket: they are not written again. About 2,500 a megabyte. */
  readonly #written: SecondChanceCache<number>
  /** Newest buckets of owners as they were read, about 1,250 owners a megabyte. */
  readonly #known: SecondChanceCache<Known>

  /** `ttlSeconds`: of the rows; 0 where they stay. */
  constructor(base: ScyllaBase, table: string, ttlSeconds: number) {
    this.#base = base
    this.#ttlSeconds = ttlSeconds
    this.#written = new SecondChanceCache(base.indexBytesMax / 2)
    this.#known = new SecondChanceCache(base.indexBytesMax / 2)
    this.#insert = `INSERT INTO ${table} (owner, bucket) VALUES (?, ?) USING TIMESTAMP ? AND TTL ?`
    const select = (order: string): string =>
      `SELECT bucket FROM ${table} WHERE owner = ? AND bucket >= ? AND bucket <= ? ORDER BY bucket ${order}`
    this.#select = { asc: select('ASC'), desc: select('DESC') }
  }

  /** Adds the entry of an owner's bucket to a commit that writes rows there; `text` is of both. */
  stage(commit: TableCommit, owner: Owner, bucket: number, text: string): void {
    const now = this.#base.client.now()
    const written = this.#written.get(text)
    if (
      written !== undefined &&
      (this.#ttlSeconds === 0 || now - written < this.#ttlSeconds * RENEWAL * 1_000)
    )
      return
    const ttl = Math.min(Math.ceil(this.#ttlSeconds * (1 + RENEWAL)), TTL_MAX)
    const timestamp = BigInt(commit.blockTime) * 1_000_000n
    commit.write([
      { statement: this.#insert, params: [blob(owner), bucket, timestamp, ttl], bytes: text.length + 40 }
    ])
    commit.whenVisible(() => this.#written.set(text, now, text.length))
  }

  /**
   * Buckets of an owner within a range, in its order, as many at a time as are known at once. The newest bucket of all is
   * read without the index: it may have no rows.
   */
  async *find(owner: Owner, range: BucketRange): AsyncGenerator<FoundBuckets, void, undefined> {
    const isNewest = range.order === 'desc' && range.high === range.newest
    const text = isNewest ? blob(owner).toString('latin1') : ''
    const known = isNewest ? this.#fresh(text, range.newest) : undefined
    let { high } = range
    if (known !== undefined) {
      const found = laterAndKnown(known, range)
      if (found.buckets.length > 0) yield found
      high = (known.buckets.at(-1) ?? 0) - 1
      if (!known.more || high < range.low) return
    }
    // Entries are cached as they are read, from the newest to the oldest, with no bound in between.
    const isCached = isNewest && known === undefined && range.low === 0
    const { amended } = this.#base.visibility
    const params = [blob(owner), range.low, high]
    let first: readonly number[] | null = null
    let pages = 0
    for await (const rows of this.#base.client.pages(this.#select[range.order], params, ENTRIES_PER_READ)) {
      const buckets = rows.map((row) => row['bucket'] as number)
      first ??= buckets
      if (isCached && ++pages === 1) this.#cache(text, { buckets, newest: range.newest, more: true, amended })
      if (buckets.length > 0) yield { buckets, unindexed: 0 }
    }
    if (isCached && pages === 1 && first !== null)
      this.#cache(text, { buckets: first, newest: range.newest, more: false, amended })
  }

  /** The buckets of `find`, without the number of those that were not read. */
  async *read(owner: Owner, range: BucketRange): AsyncGenerator<readonly number[], void, undefined> {
    for await (const { buckets } of this.find(owner, range)) yield buckets
  }

  #fresh(text: string, newest: number): Known | undefined {
    const known = this.#known.get(text)
    if (known === undefined || newest - known.newest > UNINDEXED_MAX) return undefined
    if (known.amended !== this.#base.visibility.amended) return undefined
    return this.#base.client.now() - known.atMs > KNOWN_MS ? undefined : known
  }

  #cache(text: string, known: Omit<Known, 'atMs'>): void {
    const { length } = known.buckets
    this.#known.set(text, { ...known, atMs: this.#base.client.now() }, text.length + 8 * length)
  }
}

/** Puts newer buckets, which became the newest since, before the known ones. */
function laterAndKnown({ buckets, newest }: Known, range: BucketRange): FoundBuckets {
  const later: number[] = []
  for (let bucket = range.newest; bucket >= newest; bucket--) if (bucket !== buckets[0]) later.push(bucket)
  const all = [...later, ...buckets].filter((bucket) => bucket >= range.low)
  return { buckets: all, unindexed: Math.min(later.length, all.length) }
}
