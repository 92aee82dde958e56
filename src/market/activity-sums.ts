import type { ActivityHour, ActivityMinute } from './activity-rows.ts'

/** Hours that are over are asked for again and again, and stay the same objects as long as the store has them in memory. */
const sums = new WeakMap<ActivityHour, ActivityMinute>()

/** All minutes of an hour as one part, which starts with the first of them. */
export function sumOfHour(hour: ActivityHour): ActivityMinute {
  const known = sums.get(hour)
  if (known !== undefined) return known
  const sum = hour.minutes.reduce(mergeMinutes)
  sums.set(hour, sum)
  return sum
}

/** Two parts of a time as one, the earlier first, which gives its start. Associative, to the bit. */
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
