import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { RankingHandle } from '../../src/data/ranking-handle.ts'
import type { Archive } from '../../src/archive/archive.ts'
import type { ServedArchive } from '../../src/archive/served-archive.ts'
import { TIME_FALLS_MAX } from '../../src/market/market-state.ts'
import { Ranking, RANKING_FALL, RANKING_KEEPS, type MintMinute } from '../../src/market/ranking.ts'
import type { Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { ActivityStore, Storage } from '../../storage/port.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { followFeed, type FedIndex, type Reading } from '../followers/feed-follower.ts'
import type { Run } from '../supervision/process.ts'

const HOUR = 3_600
/** Mints read at a time, with some minutes each: a few milliseconds, after which the event loop runs other work. */
const MINTS_PER_READ = 500

/**
 * Shortest time between two loads because of changes of an archive that stays adjacent, in milliseconds. A load takes seconds
 * of CPU on mainnet, and an import can change the archive every ten seconds.
 */
const RELOAD_INTERVAL_MS = 300_000

export interface RankingDeps {
  readonly feed: CommitFeed
  readonly live: RankingHandle
  /** Windows continue into an adjacent archive; absent if none is served. */
  readonly archive?: ServedArchive
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Maintains the ranking. The process is ready at once; the ranking becomes available when the last day is loaded.
 *
 * K1. A block that is both read and published counts once (R1 of the ranking).
 * K2. It restarts alone and rereads its rows, while requests wait. It also restarts if the feed skipped blocks.
 * K3. If a damaged store has lost the rows it needs, requests are refused with the store's error.
 * K4. The last day of an adjacent archive is read once, and again when the archive changes. Until that read ends, the
 *     ranking before it is served. If the archive cannot be read, the ranking is that of the live store.
 */
export function ranking(deps: RankingDeps): Run<{ readonly storage: Storage }> {
  const { live } = deps
  return async ({ input: { storage }, draining, ready, gauge }) => {
    let rankings = new LoadedRankings(storage, deps)
    gauge('mints', () => rankings.size.mints)
    gauge('pairs', () => rankings.size.pairs)
    gauge('bytes', () => rankings.size.bytes)
    gauge('dropped_minutes', () => rankings.size.dropped)
    gauge('loaded', () => Number(live.current !== null))
    ready()
    while (!draining.aborted) {
      await rankings.keep(draining)
      rankings = new LoadedRankings(storage, deps)
    }
  }
}

/** The ranking that is served, and the one that replaces it once it is loaded with another archive. */
class LoadedRankings {
  readonly #storage: Storage
  readonly #deps: RankingDeps
  #served: Ranking | null = null
  #loading: Ranking | null = null

  constructor(storage: Storage, deps: RankingDeps) {
    this.#storage = storage
    this.#deps = deps
  }

  get size(): Ranking['size'] {
    return (this.#served ?? this.#loading)?.size ?? NO_SIZE
  }

  /** Loads rankings and applies the feed to them, until a drain or until the feed has skipped blocks. */
  async keep(draining: AbortSignal): Promise<void> {
    const { feed, live, logger, clock } = this.#deps
    const jump = new AbortController()
    const index: FedIndex = {
      apply: (commit) => {
        this.#served?.apply(commit)
        this.#loading?.apply(commit)
      },
      needs: () => 'digest',
      jumped: () => jump.abort(),
      read: (reading) => this.#read(reading),
      refuse: (error) => {
        logger.error(`the ranking cannot be read: ${error.detail}`)
        live.refuse(error)
      }
    }
    try {
      const end = AbortSignal.any([draining, jump.signal])
      await followFeed({ feed, storage: this.#storage, clock }, index, end)
    } finally {
      live.withdraw()
    }
  }

  async #read(reading: Reading): Promise<void> {
    const { live, logger, clock, archive: served } = this.#deps
    const changes = new AutoResetEvent()
    const unfollow = served?.onChange(() => changes.set())
    try {
      while (!reading.end.aborted) {
        const archive = adjacent(served)
        const loadedMs = clock.now()
        const loaded = await this.#load(archive, reading)
        if (reading.end.aborted) return
        this.#served = loaded
        this.#loading = null
        live.show(loaded)
        logger.debug(loaded.size, 'the ranking is loaded')
        while (!reading.end.aborted && !this.#isStale(archive, loadedMs))
          await changes.wait(clock, RELOAD_INTERVAL_MS, reading.end)
      }
    } finally {
      unfollow?.()
    }
  }

  /** Returns whether the windows have to be loaded with another archive. */
  #isStale(archive: Archive | null, loadedMs: number): boolean {
    const { archive: served, feed, clock } = this.#deps
    const current = adjacent(served)
    if (current === archive) return false
    const from = (feed.head?.blockTime ?? 0) - RANKING_KEEPS
    const reaches = [current, archive].some((each) => each !== null && endTimeOf(each) >= from)
    const isUrgent = current === null || archive === null
    return reaches && (isUrgent || clock.now() - loadedMs >= RELOAD_INTERVAL_MS)
  }

  /** Loads a ranking at the head, which follows the feed meanwhile. */
  async #load(archive: Archive | null, reading: Reading): Promise<Ranking> {
    const { feed, logger } = this.#deps
    const loading = new Ranking()
    this.#loading = loading
    try {
      if (feed.head === null) return loading
      const headTime = feed.head.blockTime
      await load(loading, this.#storage.activity, headTime, reading)
      if (archive !== null) await loadArchived(loading, archive, headTime, reading)
      return loading
    } catch (error) {
      if (archive === null || !(error instanceof ArchiveFailure)) throw error
      logger.warn(
        { err: error.cause },
        'the archive cannot be read: the ranking lacks its trades until it changes or the service restarts'
      )
      return await this.#load(null, reading)
    }
  }
}

const NO_SIZE: Ranking['size'] = { mints: 0, pairs: 0, bytes: 0, dropped: 0 }

/** A read of the archive failed; the live store is sound. */
class ArchiveFailure extends Error {}

/** Returns the adjacent archive, which windows continue into; null while no archive is adjacent. */
function adjacent(served: ServedArchive | undefined): Archive | null {
  const current = served?.current ?? null
  return current?.isAdjacent === true ? current : null
}

/** Returns the latest time that a block of an archive can have, Unix seconds. */
const endTimeOf = ({ last }: Archive): number => last.blockTime + TIME_FALLS_MAX

/**
 * Reads the activity of all windows that end at `headTime` (Unix seconds), with a margin for block times that rise or
 * fall.
 */
async function load(
  ranking: Ranking,
  activity: ActivityStore,
  headTime: number,
  reading: Reading
): Promise<void> {
  ranking.advance(headTime)
  await readHours(activity, firstHourOf(headTime), headTime + RANKING_FALL, reading, (mint, minutes) =>
    ranking.take(mint, minutes)
  )
}

/** Reads the activity of an archive in these windows. Rejects with ArchiveFailure. */
async function loadArchived(
  ranking: Ranking,
  archive: Archive,
  headTime: number,
  reading: Reading
): Promise<void> {
  const { activity } = archive.storage
  // No retries: a replaced archive never answers again, and its successor is announced.
  const once: Reading = { retry: (ask) => ask(), end: reading.end }
  const take = (mint: Pubkey, minutes: readonly MintMinute[]): void => ranking.takeArchived(mint, minutes)
  try {
    await readHours(activity, firstHourOf(headTime), endTimeOf(archive), once, take)
  } catch (error) {
    throw new ArchiveFailure('the archive cannot be read', { cause: error })
  }
}

const firstHourOf = (headTime: number): number => Math.floor((headTime - RANKING_KEEPS) / HOUR) * HOUR

/** Reads all mints of the hours from one up to a time, in Unix seconds. */
async function readHours(
  activity: ActivityStore,
  first: number,
  until: number,
  { retry, end }: Reading,
  take: (mint: Pubkey, minutes: readonly MintMinute[]) => void
): Promise<void> {
  const read = (hour: number, after?: Pubkey) =>
    retry(
      () => activity.mintsOfHour(hour, { ...(after === undefined ? {} : { after }), limit: MINTS_PER_READ }),
      end
    )
  for (let hour = first; hour <= until; hour += HOUR) {
    let page = await read(hour)
    for (;;) {
      if (end.aborted) return
      for (const { mint, minutes } of page) take(mint, minutes)
      const last = page.at(-1)
      if (last === undefined || page.length < MINTS_PER_READ) break
      await yieldToEventLoop()
      page = await read(hour, last.mint)
    }
  }
}
