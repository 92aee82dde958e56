import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { RANKS_MAX } from '../../src/market/ranking.ts'
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

export interface NamesDeps {
  readonly feed: CommitFeed
  readonly names: NameIndex
  readonly ranking: RankingHandle
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
 */
export function names(deps: NamesDeps): Run<{ readonly storage: Storage }> {
  const { names: index, feed, logger, clock } = deps
  return async ({ input: { storage }, draining, ready, gauge }) => {
    gauge('tokens', () => index.size)
    gauge('bytes', () => index.bytes)
    gauge('bytes_max', () => index.bytesMax)
    gauge('left_out', () => index.leftOut)
    gauge('loaded', () => Number(index.isLoaded))
    // The first head may already be there; a jump that is noted while launches are read has them read once more.
    let isStale = true
    let wake = new AbortController()
    const read = async (reading: Reading): Promise<void> => {
      ready()
      while (!reading.end.aborted) {
        wake = new AbortController()
        if (isStale) {
          isStale = false
          await reload(index, storage.launches, reading)
          index.isLoaded &&= !isStale
          logger.debug({ tokens: index.size, left_out: index.leftOut }, 'the names of launches are read')
          await sleep(clock, RELOAD_PAUSE_MS, reading.end)
          continue
        }
        await readTraded(deps, storage.launches, reading)
        await sleep(clock, POLL_INTERVAL_MS, AbortSignal.any([reading.end, wake.signal]))
      }
    }
    const jumped = (): void => {
      isStale = true
      index.isLoaded = false
      wake.abort()
    }
    const fed: FedIndex = {
      apply: (commit) => apply(index, commit),
      jumped,
      read,
      refuse: (error) => logger.error(`the names of launches cannot be read: ${error.detail}`)
    }
    try {
      await followFeed({ feed, storage, clock }, fed, draining)
    } finally {
      index.isLoaded = false
    }
  }
}

function apply(index: NameIndex, { launches, activity }: BlockCommit): void {
  for (const launch of launches) index.setLaunch(launch)
  for (const { of, owner } of activity) if (of === 'mint') index.touch(owner)
}

/** Reads the newest launches that memory has room for. They are added the oldest first: the index evicts in that order. */
async function reload(
  index: NameIndex,
  launches: Pick<LaunchStore, 'page'>,
  { retry, end }: Reading
): Promise<void> {
  index.beginReload()
  const found: LaunchNames[] = []
  let bytes = 0
  let isOver = false
  let from: number | undefined
  while (!isOver && bytes < index.bytesMax) {
    const page = await retry(
      () =>
        launches.page({
          order: 'desc',
          limit: LAUNCHES_PER_READ,
          ...(from === undefined ? {} : { from })
        }),
      end
    )
    if (end.aborted) return
    for (const { mint, symbol, name } of page) {
      found.push({ mint, symbol, name })
      bytes += nameBytes({ symbol, name })
    }
    from = page.at(-1)?.cursor
    isOver = page.length < LAUNCHES_PER_READ
    await yieldToEventLoop()
  }
  // A block may have brought newer names of a launch meanwhile, but they never change.
  for (let at = found.length; at > 0; at -= LAUNCHES_PER_READ) {
    for (const launch of found.slice(Math.max(at - LAUNCHES_PER_READ, 0), at).reverse())
      index.setLaunch(launch)
    await yieldToEventLoop()
    if (end.aborted) return
  }
  if (!isOver) index.leftOut++
  index.endReload()
}

/** Reads the launches of traded mints that memory had no room for: those with the largest volume. */
async function readTraded(
  { ranking, names: index }: NamesDeps,
  launches: Pick<LaunchStore, 'get'>,
  { retry, end }: Reading
): Promise<void> {
  for (const mint of unnamed(ranking, index)) {
    const launch = await retry(() => launches.get(mint), end)
    if (end.aborted) return
    if (launch !== null) index.setLaunch(launch)
  }
}

/** Returns the mints with the largest volume of the last day whose names are not in the index. */
function unnamed(ranking: RankingHandle, index: NameIndex): Pubkey[] {
  const top = ranking.current?.top('24h', RANKS_MAX) ?? []
  return top.map(({ mint }) => mint).filter((mint) => !index.has(mint))
}
