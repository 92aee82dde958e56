import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { CashList } from '../../src/market/cash.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { ChannelHistory } from '../../src/stream/channel-history.ts'
import { changesTtlMs } from '../../src/transactions/change-batch.ts'
import { ChangeHistory } from '../../src/transactions/change-history.ts'
import { StreamHub } from '../../src/stream/hub.ts'
import type { TakeTurns } from '../../src/kernel/work/turns.ts'
import type { Storage } from '../../storage/port.ts'
import {
  isDamage,
  retryWhileUnavailable,
  undefinedIfUnavailable,
  type RetryPolicy
} from '../storage/retry.ts'
import type { Run } from '../supervision/process.ts'
import { Horizon } from './horizon.ts'
import { cacheGauges } from '../storage/cache-gauges.ts'
import { Replays } from './replays.ts'

/**
 * Interval of reading the replay horizon, in milliseconds. The store keeps a minute more than the horizon says, so a stale
 * value is safe.
 */
const HORIZON_MS = 15_000
export interface ChannelsDeps {
  readonly feed: CommitFeed
  readonly cash: CashList
  readonly clock: Clock
  /** The turns of tenants, in which replays read. */
  readonly turns: TakeTurns
  /** Seconds of events that can be replayed; null if everything stored can be. */
  readonly horizonSeconds: number | null
  /** Bytes of memory for the pages of all replays. */
  readonly replayBytes?: number
}

/** The live side (hub) and the past side (history, horizon, replays) of the stream's channels. */
export interface Channels {
  readonly hub: StreamHub
  readonly history: ChannelHistory
  readonly changes: ChangeHistory
  readonly horizon: Horizon
  readonly replays: Replays
  readonly retry: RetryPolicy
}

/** Publishes committed blocks to the stream's readers, and keeps the replay horizon up to date. */
export function channels(deps: ChannelsDeps): Run<{ readonly storage: Storage }, Channels> {
  const { feed, cash, clock, turns, horizonSeconds, replayBytes } = deps
  return async ({ input: { storage }, draining, ready, gauge, report }) => {
    const hub = new StreamHub(feed, cash, report)
    const horizon = new Horizon(storage.blocks, horizonSeconds)
    const replays = new Replays(turns, replayBytes)
    const retry = retryWhileUnavailable(storage, clock)
    const unfollow = hub.follow()
    try {
      await retry(() => horizon.look(), draining).catch((error: unknown) => {
        if (!isDamage(error, storage)) throw error
      })
      gauge('channels', () => hub.channels)
      gauge('events', () => hub.eventsPublished)
      gauge('replay_pieces', () => replays.pieces)
      cacheGauges(gauge, 'replay', () => replays.cache)
      ready({
        hub,
        history: new ChannelHistory(storage, cash),
        changes: new ChangeHistory(storage.documents, {
          isShared: storage.isShared,
          ttlMs: changesTtlMs(horizonSeconds)
        }),
        horizon,
        replays,
        retry
      })
      while (!draining.aborted) {
        await sleep(clock, HORIZON_MS, draining)
        await undefinedIfUnavailable(horizon.look())
      }
    } finally {
      unfollow()
    }
  }
}
