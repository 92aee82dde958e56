import type { Pubkey } from '../../src/chain/pubkey.ts'
import type {
  ActivityHour,
  ActivityMinute,
  ActivityOf,
  TotalsRow,
  UsdPrice
} from '../../src/market/activity-rows.ts'
import { sampleBytes } from './choices.ts'
import type { Choices } from './choices.ts'

const MARKET = new Uint8Array(32)

/** The running hour of each mint and pool, and of the market. */
export function sampleActivity(
  choices: Choices,
  blockTime: number,
  mints: readonly Pubkey[],
  pools: readonly Pubkey[]
): ActivityHour[] {
  const hour = blockTime - (blockTime % 3_600)
  return [
    ...mints.map((mint) => sampleHour(choices, 'mint', mint, hour)),
    ...pools.map((pool) => sampleHour(choices, 'pool', pool, hour)),
    sampleHour(choices, 'market', MARKET, hour)
  ]
}

export function sampleHour(choices: Choices, of: ActivityOf, owner: Pubkey, hour: number): ActivityHour {
  const minutes: ActivityMinute[] = []
  for (let minute = choices.below(20); minute < 60; minute += 1 + choices.below(30))
    minutes.push(sampleMinute(choices, hour + 60 * minute))
  return {
    of,
    owner,
    hour,
    minutes,
    priorUsd: choices.chance(0.5) ? null : sampleUsd(choices),
    traders: of === 'pool' ? new Uint8Array(0) : sampleBytes(choices.below(300), choices.below(1e9))
  }
}

function sampleMinute(choices: Choices, minute: number): ActivityMinute {
  const trades = choices.chance(0.3) ? 0 : choices.below(400)
  const openUsd = choices.chance(0.3) ? null : sampleUsd(choices)
  return {
    minute,
    events: trades + (choices.chance(0.5) ? 0 : choices.below(9)),
    trades,
    buys: choices.below(200),
    sells: choices.below(200),
    liquidity: choices.chance(0.5) ? 0 : choices.below(3),
    launches: choices.chance(0.8) ? 0 : 1,
    priced: choices.below(400),
    volumeMicroUsd: choices.amount(),
    buyMicroUsd: choices.amount(),
    sellMicroUsd: choices.amount(),
    volumeCash: choices.amount() * choices.amount(),
    volumeToken: choices.amount() * choices.amount(),
    openUsd,
    closeUsd: choices.chance(0.3) ? openUsd : choices.chance(0.3) ? null : sampleUsd(choices)
  }
}

/** A price in USD, or that of a trade without one. */
export function sampleUsd(choices: Choices): UsdPrice {
  const usd = choices.fraction()
  return usd < 0.2 ? 'unpriced' : usd
}

export function sampleTotals(choices: Choices): TotalsRow {
  return {
    trades: choices.below(1e9),
    volumeMicroUsd: choices.amount(),
    volumeLamports: choices.amount() * choices.amount(),
    tokens: choices.below(1e6),
    launches: choices.below(1e6),
    traders: sampleBytes(choices.below(500), choices.below(1e9)),
    ...(choices.chance(0.5) && { unpriced: choices.below(1e6) })
  }
}
