import type { ActivityHour, ActivityMinute } from './activity-rows.ts'

/** Caches sums of past hours, which are read repeatedly as identical objects while the store caches them. */
const sums = new WeakMap<ActivityHour, ActivityMinute>()

/** Returns the sum of an hour's minutes; it has the start of the first one. */
export function sumOfHour(hour: ActivityHour): ActivityMinute {
  const known = sums.get(hour)
  if (known !== undefined) return known
  const sum = hour.minutes.reduce(mergeMinutes)
  sums.set(hour, sum)
  return sum
}

/** Merges two periods into one, the earlier first; the result has the start of the earlier one. Associative, to the bit. */
export function mergeMinutes(earlier: ActivityMinute, later: ActivityMinute): ActivityMinute {
  return {
    minute: earlier.minute,
    events: earlier.events + later.events,
    trades: earlier.trades + later.trades,
    buys: earlier.buys + later.buys,
    sells: earlier.sells + later.sells,
    liquidity: earlier.liquidity + later.liquidity,
    launches: earlier.launches + later.launches,
    priced: earlier.priced + later.priced,
    volumeMicroUsd: earlier.volumeMicroUsd + later.volumeMicroUsd,
    buyMicroUsd: earlier.buyMicroUsd + later.buyMicroUsd,
    sellMicroUsd: earlier.sellMicroUsd + later.sellMicroUsd,
    volumeCash: earlier.volumeCash + later.volumeCash,
    volumeToken: earlier.volumeToken + later.volumeToken,
    openUsd: earlier.openUsd ?? later.openUsd,
    closeUsd: later.closeUsd ?? earlier.closeUsd
  }
}
