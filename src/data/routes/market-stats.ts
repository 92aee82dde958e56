import type { MarketStats, MarketWindow } from '../bodies/stats.ts'
import { MARKET } from '../../market/activity.ts'
import { RANKED_WINDOWS } from '../../market/ranking.ts'
import type { SlotRow } from '../../market/rows.ts'
import { minuteOf, solPriceAt } from '../../market/sol-usd.ts'
import { windowHours, windowOf, windowSpan } from '../../market/windows.ts'
import type { WindowStores } from '../../archive/window-stores.ts'
import type { Storage } from '../../../storage/port.ts'
import type { WindowRankings } from '../market-index.ts'

const DAY = RANKED_WINDOWS['24h']

/**
 * Reads the market's figures up to a head: at most 52 hours of activity and three rows. Windows continue into an adjacent
 * archive; totals are of the live store, because tokens of both stores cannot be counted once.
 */
export async function marketStats(
  { totals: allTime }: Pick<Storage, 'totals'>,
  windows: WindowStores,
  ranking: Pick<WindowRankings, 'activeMints'>,
  head: SlotRow | null
): Promise<MarketStats> {
  const headTime = head?.blockTime ?? 0
  const minute = minuteOf(headTime)
  // Read synchronously, so that the counts are at the head.
  const active = { '1h': ranking.activeMints('1h'), '24h': ranking.activeMints('24h') }
  const dayBefore = windowHours(headTime - DAY, DAY)
  const [today, yesterday, earlier, price, totals] = await Promise.all([
    windows.hours('market', MARKET, windowHours(headTime, DAY)),
    windows.hours('market', MARKET, dayBefore),
    windows.hours('market', MARKET, { from: 0, to: dayBefore.from, limit: 1 }),
    windows.solPrice(minute),
    allTime.get()
  ])
  const hours = [...yesterday, ...today.filter(({ hour }) => hour !== yesterday.at(-1)?.hour)]
  const first = Math.min(...[...earlier, ...hours].flatMap(({ minutes }) => minutes[0]?.minute ?? []))
  const windowNow = (name: '1h' | '24h'): MarketWindow => {
    const seconds = RANKED_WINDOWS[name]
    const isKnown = first <= windowSpan(headTime - seconds, seconds).from
    return {
      now: windowOf(hours, headTime, seconds),
      before: isKnown ? windowOf(hours, headTime - seconds, seconds) : null,
      activeTokens: active[name]
    }
  }
  return {
    head,
    solPrice: solPriceAt(price, headTime),
    windows: { '1h': windowNow('1h'), '24h': windowNow('24h') },
    totals
  }
}
