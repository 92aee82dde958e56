import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { RankingHandle } from '../../src/data/ranking-handle.ts'
import { Ranking, RANKING_FALL, RANKING_KEEPS } from '../../src/market/ranking.ts'
import type { Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { ActivityStore, Storage } from '../../storage/port.ts'
import { aborted } from '../supervision/aborted.ts'
import { followFeed, type FedIndex, type Reading } from '../followers/feed-follower.ts'
import type { Run } from '../supervision/process.ts'

const HOUR = 3_600
/** Mints read at a time, with some minutes each: a few milliseconds, after which the event loop runs other work. */
const MINTS_PER_READ = 500

export interface RankingDeps {
  readonly feed: CommitFeed
  readonly live: RankingHandle
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Maintains the ranking. The process is ready at once; the ranking becomes available when the last day is loaded.
 *
 * K1. A block that is both read and published counts once (R1 of the ranking).
 * K2. It restarts alone and rereads its rows, while requests wait. It also restarts if the feed skipped blocks.
 * K3. If a damaged store has lost the rows it needs, requests are refused with the store's error.
 */
export function ranking(deps: RankingDeps): Run<{ readonly storage: Storage }> {
  const { live } = deps
  return async ({ input: { storage }, draining, ready, gauge }) => {
    let ranking = new Ranking()
    gauge('mints', () => ranking.size.mints)
    gauge('pairs', () => ranking.size.pairs)
    gauge('bytes', () => ranking.size.bytes)
    gauge('dropped_minutes', () => ranking.size.dropped)
    gauge('loaded', () => Number(live.current === ranking))
    ready()
    while (!draining.aborted) {
      await keep(ranking, storage, deps, draining)
      ranking = new Ranking()
    }
  }
}

/** Loads a ranking and applies the feed to it, until a drain or until the feed has skipped blocks. */
async function keep(
  ranking: Ranking,
  storage: Storage,
  { feed, live, logger, clock }: RankingDeps,
  draining: AbortSignal
): Promise<void> {
  const jump = new AbortController()
  const index: FedIndex = {
    apply: (commit) => ranking.apply(commit),
    jumped: () => jump.abort(),
    read: async (reading) => {
      if (feed.head !== null) await load(ranking, storage.activity, feed.head.blockTime, reading)
      if (!reading.end.aborted) {
        live.show(ranking)
        logger.debug(ranking.size, 'the ranking is loaded')
      }
      await aborted(reading.end)
    },
    refuse: (error) => {
      logger.error(`the ranking cannot be read: ${error.detail}`)
      live.refuse(error)
    }
  }
  try {
    await followFeed({ feed, storage, clock }, index, AbortSignal.any([draining, jump.signal]))
  } finally {
    live.withdraw()
  }
}

/**
 * Reads the activity of all windows that end at `headTime` (Unix seconds), with a margin for block times that rise or
 * fall.
 */
async function load(
  ranking: Ranking,
  activity: ActivityStore,
  headTime: number,
  { retry, end }: Reading
): Promise<void> {
  const read = (hour: number, after?: Pubkey) =>
    retry(
      () => activity.mintsOfHour(hour, { ...(after === undefined ? {} : { after }), limit: MINTS_PER_READ }),
      end
    )
  ranking.advance(headTime)
  const first = Math.floor((headTime - RANKING_KEEPS) / HOUR) * HOUR
  for (let hour = first; hour <= headTime + RANKING_FALL; hour += HOUR) {
    let page = await read(hour)
    for (;;) {
      if (end.aborted) return
      for (const { mint, minutes } of page) ranking.take(mint, minutes)
      const last = page.at(-1)
      if (last === undefined || page.length < MINTS_PER_READ) break
      await yieldToEventLoop()
      page = await read(hour, last.mint)
    }
  }
}
