import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { ActiveHours } from '../market/active-hours.ts'
import { digestOf } from '../market/block-digest.ts'
import { extentOf, type BlockExtent } from '../market/block-extent.ts'
import type { MintHourSource } from '../market/mint-hours.ts'
import type { BlockCommit } from '../market/records.ts'
import { foldColumns } from '../market/minute-columns.ts'
import { RolledMint } from '../market/rolled-mint.ts'
import { foldWindow, windowHours, type MintWindow } from '../market/windows.ts'
import { SecondChanceCache, type CacheUse } from '../kernel/memory/second-chance-cache.ts'
import { RecentKeys } from '../kernel/memory/recent-keys.ts'
import type { CommitFeed } from '../kernel/feed/commit-feed.ts'

const DAY = 86_400
/** Bytes of memory by default: about 600 mints that trade in every minute of a day. */
const BYTES_MAX = 128 * 2 ** 20
/** Blocks without a request after which no mint follows the feed any more: a minute of the chain. */
const UNUSED_BLOCKS = 150

type Spans<Name extends string> = Readonly<Record<Name, number>>

/**
 * Rolling windows of mints. The last day of a mint that is requested again is aggregated in memory and then follows the feed.
 * Other mints are read from the store.
 *
 * W1. A mint is aggregated only from hours that were read while no block was published, and gets each later block
 *     from the feed. If the read was ahead of the feed, the blocks in between only repeat its totals.
 * W2. No mint is aggregated while the head's time is before that of an earlier block, because later hours than the
 *     head's then exist. On the chain this does not happen. For a minute after an archive's end it is assumed.
 * W3. If the feed skips blocks, or stored blocks or the archive have changed, everything is reloaded.
 * W4. After `UNUSED_BLOCKS` without a request, nothing is aggregated, so that a process without clients reads no blocks.
 * W5. A block in an hour that has rows of the archive evicts its mints: its hours lack those rows.
 */
export class MintWindows implements CacheUse {
  readonly #storesOf: () => MintHourSource
  readonly #feed: CommitFeed
  readonly #rolled: SecondChanceCache<RolledMint>
  readonly bytesMax: number
  /** Number of changes of the feed. */
  #changes = 0
  /** The number of changes at the last request. */
  #usedAt = 0
  /** The latest time of a block, Unix seconds. */
  #latest = -Infinity
  /** Mints whose price was requested before: most are requested once, and rolling a mint takes longer than folding it. */
  readonly #asked = new RecentKeys()
  /** The stores that provided the rolled mints. */
  #stores: MintHourSource

  /** `storesOf` returns the stores of the current archive. */
  constructor(storesOf: () => MintHourSource, feed: CommitFeed, bytesMax = BYTES_MAX) {
    this.#storesOf = storesOf
    this.#stores = storesOf()
    this.#feed = feed
    this.bytesMax = bytesMax
    this.#rolled = new SecondChanceCache(bytesMax)
  }

  /** Bytes in use, estimated; never above the limit. */
  get bytes(): number {
    return this.#rolled.bytes
  }

  /** Number of rolled mints. */
  get size(): number {
    return this.#rolled.size
  }

  /** Follows the feed. Returns a function that ends it. */
  follow(): () => void {
    return this.#feed.follow({
      published: (commit) => this.#apply(commit),
      jumped: () => this.#forget(),
      needs: (commit) => this.#needed(commit)
    })
  }

  /**
   * Returns windows of a mint by name. Each has a length in seconds, at most a day, and ends with the minute of
   * `headTime`. Traders are included if requested. `active` are the mint's live hours with an event, read after the head
   * was noted. Rejects with the store's error.
   */
  async of<Name extends string>(
    mint: Pubkey,
    headTime: number,
    spans: Spans<Name>,
    options: { readonly traders: boolean; readonly active?: ActiveHours | undefined }
  ): Promise<Record<Name, MintWindow>> {
    const key = pubkeyMapKey(mint)
    this.#usedAt = this.#changes
    const stores = this.#current()
    const known = this.#rolled.get(key)
    // A view that counts traders is one of several of its token, and the others follow.
    if (known?.covers(headTime) !== true && !options.traders && !this.#asked.has(key)) {
      this.#asked.add(key)
      const folded = await foldOnce(stores, mint, headTime, spans, options)
      if (folded !== null) return folded
    }
    const rolled =
      known?.covers(headTime) === true ? known : await this.#roll(stores, mint, headTime, options.active)
    const windows = Object.entries<number>(spans).map(([name, seconds]) => {
      const window =
        rolled instanceof RolledMint
          ? rolled.window(headTime, seconds, options)
          : foldWindow(rolled, headTime, seconds)
      return [name, window]
    })
    return Object.fromEntries(windows) as Record<Name, MintWindow>
  }

  /** Reads the last day of a mint. Returns it aggregated, or its hours if it cannot be cached. */
  async #roll(stores: MintHourSource, mint: Pubkey, headTime: number, active: ActiveHours | undefined) {
    const changes = this.#changes
    const range = windowHours(headTime, DAY)
    const { hours, earlierUsd } = await stores.mintHours(mint, range, active)
    const isHead =
      changes === this.#changes && stores === this.#current() && this.#feed.head?.blockTime === headTime
    if (hours.length === 0 || !isHead || range.to <= Math.max(this.#latest, stores.archivedUntil))
      return hours
    const rolled = RolledMint.of(range.from, hours, earlierUsd)
    if (rolled === null) return hours
    this.#rolled.set(pubkeyMapKey(mint), rolled, rolled.bytes)
    return rolled
  }

  /** Returns the current stores. If another archive is served, everything is reloaded. */
  #current(): MintHourSource {
    const stores = this.#storesOf()
    if (stores !== this.#stores) this.#forget()
    this.#stores = stores
    return stores
  }

  #needed(commit: BlockCommit): BlockExtent {
    if (this.#rolled.size === 0 || this.#changes - this.#usedAt >= UNUSED_BLOCKS) return 'slot'
    if (extentOf(commit) === 'slot') return 'digest'
    return this.#changesRolled(commit) ? 'rows' : 'digest'
  }

  #changesRolled(commit: BlockCommit): boolean {
    return digestOf(commit).mints.some(({ mapKey }) => this.#rolled.peek(mapKey) !== undefined)
  }

  #apply(commit: BlockCommit): void {
    const { slot } = commit
    this.#changes++
    this.#latest = Math.max(this.#latest, slot.blockTime)
    if (this.#rolled.size === 0) return
    if (extentOf(commit) === 'slot') return this.#rolled.clear()
    // A follower reads the rows of activity only if they concern a rolled mint.
    if (!this.#changesRolled(commit)) return
    if (extentOf(commit) !== 'rows') return this.#rolled.clear()
    for (const hour of commit.activity) {
      if (hour.of !== 'mint') continue
      const key = pubkeyMapKey(hour.owner)
      const rolled = this.#rolled.peek(key)
      if (rolled === undefined) continue
      const isLiveOnly = hour.hour > this.#stores.archivedUntil
      if (isLiveOnly && rolled.apply(hour, slot.blockTime)) this.#rolled.weigh(key, rolled.bytes)
      else this.#rolled.delete(key)
    }
  }

  #forget(): void {
    this.#changes++
    this.#rolled.clear()
  }
}

/** Folds windows of a mint from the store. Null if its minutes do not fit columns, or if the store has none. */
async function foldOnce<Name extends string>(
  stores: MintHourSource,
  mint: Pubkey,
  headTime: number,
  spans: Spans<Name>,
  options: { readonly traders: boolean; readonly active?: ActiveHours | undefined }
): Promise<Record<Name, MintWindow> | null> {
  if (stores.mintMinutes === undefined) return null
  const { from, to } = windowHours(headTime, DAY)
  const columns = await stores.mintMinutes(mint, { from, to }, options.active)
  if (columns === null) return null
  const windows: Partial<Record<Name, MintWindow>> = {}
  for (const [name, seconds] of Object.entries<number>(spans)) {
    const window = foldColumns(columns, headTime, seconds, options)
    if (window === null) return null
    windows[name as Name] = window
  }
  return windows as Record<Name, MintWindow>
}
