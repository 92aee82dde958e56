import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CommitFeed } from '../src/commit-feed.ts'
import type { LiveRanking } from '../src/live-ranking.ts'
import { Ranking, RANKING_FALL, RANKING_KEEPS } from '../src/market/ranking.ts'
import type { Logger } from '../src/telemetry.ts'
import type { ActivityStore, Storage } from '../storage/port.ts'
import { aborted } from './aborted.ts'
import type { Run } from './process.ts'

const HOUR = 3_600
/** Mints that are read at a time, with some minutes each: a few milliseconds, between which others have their turn. */
const MINTS_PER_READ = 500

export interface RankingDeps {
  readonly feed: CommitFeed
  readonly live: LiveRanking
  readonly logger: Logger
}

/**
 * The process that keeps the ranking. It is ready at once, and shows the ranking when the last day is read.
 *
 * K1. It follows the feed before it reads, so that each block is in what is read or is told, or both; the ranking takes
 *     both for one (R1 of the ranking).
 * K2. It is restarted alone, and reads again; who asks meanwhile waits.
 */
export function ranking({ feed, live, logger }: RankingDeps): Run<{ readonly storage: Storage }> {
  return async ({ input: { storage }, draining, ready, gauge }) => {
    const ranking = new Ranking()
    const failure = new AbortController()
    const end = AbortSignal.any([draining, failure.signal])
    const unfollow = feed.follow((commit) => {
      try {
        ranking.apply(commit)
      } catch (error) {
        failure.abort(error)
      }
    })
    gauge('mints', () => ranking.size.mints)
    gauge('pairs', () => ranking.size.pairs)
    gauge('bytes', () => ranking.size.bytes)
    gauge('dropped_minutes', () => ranking.size.dropped)
    gauge('loaded', () => Number(live.current === ranking))
    ready()
    try {
      if (feed.head !== null) await load(ranking, storage.activity, feed.head.blockTime, end)
      if (!end.aborted) {
        live.show(ranking)
        logger.debug(ranking.size, 'the ranking is loaded')
      }
      await aborted(end)
      failure.signal.throwIfAborted()
    } finally {
      unfollow()
      live.withdraw()
    }
  }
}

/** Reads what the windows that end at `headTime` hold, and what block times that rise or fall can add to them. */
async function load(
  ranking: Ranking,
  activity: ActivityStore,
  headTime: number,
  end: AbortSignal
): Promise<void> {
  ranking.advance(headTime)
  const first = Math.floor((headTime - RANKING_KEEPS) / HOUR) * HOUR
  for (let hour = first; hour <= headTime + RANKING_FALL; hour += HOUR) {
    let page = await activity.mintsOfHour(hour, { limit: MINTS_PER_READ })
    for (;;) {
      if (end.aborted) return
      for (const { mint, minutes } of page) ranking.take(mint, minutes)
      const last = page.at(-1)
      if (last === undefined || page.length < MINTS_PER_READ) break
      await nextTurn()
      page = await activity.mintsOfHour(hour, { after: last.mint, limit: MINTS_PER_READ })
    }
  }
}
