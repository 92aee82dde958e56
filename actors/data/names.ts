import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { digestOf } from '../../src/market/block-digest.ts'
import { extentOf } from '../../src/market/block-extent.ts'
import { RANKS_MAX } from '../../src/market/ranking.ts'
import type { Archive } from '../../src/archive/archive.ts'
import type { ServedArchive } from '../../src/archive/served-archive.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { nameBytes, type LaunchNames, type NameIndex } from '../../src/data/name-index.ts'
import type { RankingHandle } from '../../src/data/ranking-handle.ts'
import type { LaunchStore, Storage } from '../../storage/port.ts'
import { followFeed, type FedIndex, type Reading } from '../followers/feed-follower.ts'
import type { Run } from '../supervision/process.ts'

/** Launches read at a time: a few milliseconds, after which the event loop runs other work. */
const LAUNCHES_PER_READ = 500
/** Poll interval of the ranking for traded tokens without names, in milliseconds. A ranking changes little in a minute. */
const POLL_INTERVAL_MS = 60_000
/** Shortest pause between reloads, in milliseconds, so that a series of replaced blocks causes few. */
const RELOAD_PAUSE_MS = 5_000
/** Shortest pause between reads of a growing archive, in milliseconds: an import changes it every ten seconds. */
const ARCHIVE_PAUSE_MS = 300_000

export interface NamesDeps {
  readonly feed: CommitFeed
  readonly names: NameIndex
  readonly ranking: RankingHandle
  /** Its launches are searched too; absent if none is served. */
  readonly archive?: ServedArchive
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Fills the index of names, and applies the feed to it. The process is ready at once. Until the launches are read, a search
 * finds only some of them, and its answer says so.
 *
 * N1. Each launch is read, or published, or both (`followFeed`).
 * N2. If the feed skipped blocks, or published blocks have changed, the launches are read again. Retracted launches leave
 *     the index when that read ends.
 * N3. It reads the newest launches, as many as memory allows, and the launches of the mints with the largest volume.
 * N4. If a damaged store has lost launches, the index stays incomplete.
 * N5. The launches of a served archive are older than the live ones, so they take the memory that live launches leave. An
 *     archive that has grown is read within five minutes, and an archive that has gone leaves the index at once. If the
 *     archive cannot be read, the index stays incomplete until it changes.
 */
export function names(deps: NamesDeps): Run<{ readonly storage: Storage }> {
  const { names: index, feed, logger, clock, archive: served } = deps
  return async ({ input: { storage }, draining, ready, gauge }) => {
    gauge('tokens', () => index.size)
    gauge('bytes', () => index.bytes)
    gauge('bytes_max', () => index.bytesMax)
    gauge('left_out', () => index.leftOut)
    gauge('loaded', () => Number(index.isLoaded))
    // The first head may already be there; a jump that is noted while launches are read has them read once more.
    let isStale = true
    /** The archive whose launches were read last. */
    let archive: Archive | null = null
    let archiveReadMs = -Infinity
    let wake = new AbortController()
    const read = async (reading: Reading): Promise<void> => {
      ready()
      while (!reading.end.aborted) {
        wake = new AbortController()
        const current = served?.current ?? null
        const hasGrown = current !== archive && clock.now() - archiveReadMs >= ARCHIVE_PAUSE_MS
        if (isStale || hasGrown) {
          isStale = false
          archive = current
          if (archive !== null) archiveReadMs = clock.now()
          await reload(deps, storage.launches, archive, reading)
          index.isLoaded &&= !isStale
          logger.debug({ tokens: index.size, left_out: index.leftOut }, 'the names of launches are read')
          await sleep(clock, RELOAD_PAUSE_MS, reading.end)
          continue
        }
        await readTraded(deps, storage.launches, current, reading)
        await sleep(clock, POLL_INTERVAL_MS, AbortSignal.any([reading.end, wake.signal]))
      }
    }
    const jumped = (): void => {
      isStale = true
      index.isLoaded = false
      wake.abort()
    }
    const archiveChanged = (): void => {
      const current = served?.current ?? null
      // A grown archive is read by a later round.
      if (archive !== null && (current === null || current.last.slot < archive.last.slot)) jumped()
      else {
        index.isLoaded = false
        wake.abort()
      }
    }
    const fed: FedIndex = {
      apply: (commit) => apply(index, commit),
      needs: (commit) =>
        extentOf(commit) === 'slot' || digestOf(commit).launches !== null ? 'digest' : 'rows',
      jumped,
      read,
      refuse: (error) => logger.error(`the names of launches cannot be read: ${error.detail}`)
    }
    const unfollow = served?.onChange(archiveChanged)
    try {
      await followFeed({ feed, storage, clock }, fed, draining)
    } finally {
      unfollow?.()
      index.isLoaded = false
    }
  }
}

function apply(index: NameIndex, commit: BlockCommit): void {
  const { launches, mints } = digestOf(commit)
  for (const launch of launches ?? commit.launches) index.setLaunch(launch)
  for (const { mapKey } of mints) index.touch(mapKey)
}

/**
 * Reads the newest launches that memory has room for, first the live ones. They are added the oldest first: the index evicts
 * in that order.
 */
async function reload(
  { names: index, logger }: NamesDeps,
  launches: Pick<LaunchStore, 'page'>,
  archive: Archive | null,
  reading: Reading
): Promise<void> {
  const { end } = reading
  index.beginReload()
  const found = await newestLaunches(launches, index.bytesMax, reading)
  if (archive !== null && found.isWhole) {
    try {
      // A replaced archive never answers again, and its successor is announced.
      const once: Reading = { retry: (ask) => ask(), end }
      const older = await newestLaunches(archive.storage.launches, index.bytesMax - found.bytes, once)
      for (const launch of older.launches) found.launches.push(launch)
      found.isWhole = older.isWhole
    } catch (error) {
      found.isWhole = false
      logger.warn({ err: error }, 'launches of the archive cannot be read, so their names are not searched')
    }
  }
  if (end.aborted) return
  // A block may have brought newer names of a launch meanwhile, but they never change.
  for (let at = found.launches.length; at > 0; at -= LAUNCHES_PER_READ) {
    for (const launch of found.launches.slice(Math.max(at - LAUNCHES_PER_READ, 0), at).reverse())
      index.setLaunch(launch)
    await yieldToEventLoop()
    if (end.aborted) return
  }
  if (!found.isWhole) index.leftOut++
  index.endReload()
}

/** Reads the newest launches of a store, newest first, until they fill some bytes of the index. */
async function newestLaunches(
  launches: Pick<LaunchStore, 'page'>,
  bytesMax: number,
  { retry, end }: Reading
): Promise<{ readonly launches: LaunchNames[]; readonly bytes: number; isWhole: boolean }> {
  const found: LaunchNames[] = []
  let bytes = 0
  let from: number | undefined
  while (bytes < bytesMax && !end.aborted) {
    const page = await retry(
      () =>
        launches.page({
          order: 'desc',
          limit: LAUNCHES_PER_READ,
          ...(from === undefined ? {} : { from })
        }),
      end
    )
    for (const { mint, symbol, name } of page) {
      found.push({ mint, symbol, name })
      bytes += nameBytes({ symbol, name })
    }
    from = page.at(-1)?.cursor
    if (page.length < LAUNCHES_PER_READ) return { launches: found, bytes, isWhole: true }
    await yieldToEventLoop()
  }
  return { launches: found, bytes, isWhole: false }
}

/** Reads the launches of traded mints that memory had no room for: those with the largest volume. */
async function readTraded(
  { ranking, names: index }: NamesDeps,
  launches: Pick<LaunchStore, 'get'>,
  archive: Archive | null,
  { retry, end }: Reading
): Promise<void> {
  for (const mint of unnamed(ranking, index)) {
    const live = await retry(() => launches.get(mint), end)
    const launch = live ?? (await archive?.storage.launches.get(mint).catch(() => null)) ?? null
    if (end.aborted) return
    if (launch !== null) index.setLaunch(launch)
  }
}

/** Returns the mints with the largest volume of the last day whose names are not in the index. */
function unnamed(ranking: RankingHandle, index: NameIndex): Pubkey[] {
  const top = ranking.current?.top('24h', RANKS_MAX) ?? []
  return top.map(({ mint }) => mint).filter((mint) => !index.has(mint))
}
