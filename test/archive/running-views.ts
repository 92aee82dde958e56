import { pino } from 'pino'
import type { Test } from 'tap'
import { names } from '../../actors/data/names.ts'
import { ranking } from '../../actors/data/ranking.ts'
import type { MarketApp } from '../http/market-app.ts'
import { until } from '../until.ts'
import { settle, virtualClock } from '../virtual-time.ts'

/** The processes that keep the ranking and the index of names of an app. */
export interface RunningViews {
  /** Lets both begin to wait, and moves their clock by some milliseconds. */
  advance(ms: number): Promise<void>
}

/** Runs both processes over an app's store and archive, until the test ends. */
export async function runViews(t: Test, { deps, storage }: MarketApp): Promise<RunningViews> {
  const clock = virtualClock()
  const drain = new AbortController()
  const logger = pino({ level: 'silent' })
  const { feed, names: index, archive } = deps
  const shared = { feed, logger, clock, ...(archive && { archive }) }
  const run = {
    input: { storage },
    draining: drain.signal,
    signal: drain.signal,
    ready: () => undefined,
    gauge: () => undefined,
    supervises: () => undefined,
    show: () => undefined,
    report: (error: unknown) => t.error(error)
  }
  // The app's ranking has only the blocks of its feed.
  deps.ranking.withdraw()
  const running = [
    ranking({ ...shared, live: deps.ranking })(run),
    names({ ...shared, names: index, ranking: deps.ranking })(run)
  ]
  t.teardown(async () => {
    drain.abort()
    await Promise.all(running)
  })
  await deps.ranking.loaded()
  await until(() => index.isLoaded)
  return {
    async advance(ms) {
      for (let turn = 0; turn < 20; turn++) await settle()
      clock.increment(ms)
    }
  }
}
