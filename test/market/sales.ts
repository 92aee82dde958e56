import fc from 'fast-check'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import { RANKED_WINDOWS, RANKS_MAX, type Ranking, type RankedWindow } from '../../src/market/ranking.ts'
import type { ActivityHour } from '../../src/market/activity-rows.ts'
import { noRows, type BlockCommit } from '../../src/market/records.ts'
import type { HourlyMintVolume } from '../../storage/port.ts'
import { key, NOON } from './world.ts'

/** A trade with the fields that a ranking needs. */
export interface Sale {
  readonly mint: Pubkey
  readonly time: number
  readonly microUsd: bigint
}

export interface SalesBlock {
  readonly time: number
  readonly sales: readonly Sale[]
}

export const MINTS = Array.from({ length: 6 }, (_, n) => key(n + 1))

export const minuteStart = (time: number): number => Math.floor(time / 60) * 60
export const hourStart = (time: number): number => Math.floor(time / 3_600) * 3_600

const anySale = fc.record({
  mint: fc.constantFrom(...MINTS),
  microUsd: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: 2n ** 58n }))
})

const anyStep = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 90 }), weight: 6 },
  { arbitrary: fc.integer({ min: 91, max: 9_000 }), weight: 4 },
  { arbitrary: fc.constantFrom(3_600, 14_400, 86_400, 90_000), weight: 1 },
  { arbitrary: fc.integer({ min: 9_001, max: 40_000_000 }), weight: 1 },
  { arbitrary: fc.integer({ min: -3_000, max: -1 }), weight: 2 }
)

/** Blocks whose times repeat, jump ahead, and fall by an hour at most. */
export const anySalesBlocks = fc
  .array(fc.record({ seconds: anyStep, sales: fc.array(anySale, { maxLength: 6 }) }), {
    minLength: 1,
    maxLength: 40
  })
  .map((steps) => {
    let time = NOON
    let newest = NOON
    return steps.map(({ seconds, sales }): SalesBlock => {
      time = Math.max(time + seconds, minuteStart(newest) - 3_600)
      newest = Math.max(newest, time)
      return { time, sales: sales.map((sale) => ({ ...sale, time })) }
    })
  })

/** Returns the expected ranking, computed from sales alone. */
export function recomputed(sales: readonly Sale[], headTime: number, window: RankedWindow) {
  const end = minuteStart(headTime) + 60
  const byMint = new Map<string, { mint: Pubkey; trades: number; microUsd: bigint }>()
  for (const { mint, time, microUsd } of sales) {
    if (time < end - RANKED_WINDOWS[window] || time >= end) continue
    const sum = byMint.get(pubkeyMapKey(mint)) ?? { mint, trades: 0, microUsd: 0n }
    byMint.set(pubkeyMapKey(mint), { mint, trades: sum.trades + 1, microUsd: sum.microUsd + microUsd })
  }
  const ranked = [...byMint.values()].sort(
    (a, b) => Number(b.microUsd - a.microUsd) || b.trades - a.trades || Buffer.compare(a.mint, b.mint)
  )
  return { active: ranked.length, top: ranked.slice(0, RANKS_MAX) }
}

export function answered(ranking: Ranking, window: RankedWindow) {
  return { active: ranking.activeMints(window), top: ranking.top(window, RANKS_MAX) }
}

/** Returns a mint's hourly volume by minute, as a store with these sales answers it. */
export function hourlyMintVolumeOf(
  sales: readonly Sale[],
  mint: Pubkey,
  hour: number
): HourlyMintVolume['minutes'] {
  const byMinute = Map.groupBy(
    sales.filter((sale) => sale.mint === mint && hourStart(sale.time) === hour),
    ({ time }) => minuteStart(time)
  )
  return [...byMinute]
    .map(([minute, own]) => ({
      minute,
      trades: own.length,
      volumeMicroUsd: own.reduce((sum, { microUsd }) => sum + microUsd, 0n)
    }))
    .sort((a, b) => a.minute - b.minute)
}

/** Returns the commit of a block; `sales` are all sales of the store including it. */
export function commitOf(
  slot: number,
  sales: readonly Sale[],
  { time, sales: added }: SalesBlock
): BlockCommit {
  const mints = new Set(added.map(({ mint }) => mint))
  const counts = { transactions: 0, trades: added.length, events: added.length, receivedAtMs: 0 }
  return {
    slot: { slot, blockTime: time, parentSlot: null, blockhash: null, ...counts },
    ...noRows(),
    activity: [...mints].map((mint) => hourOf(sales, mint, hourStart(time)))
  }
}

function hourOf(sales: readonly Sale[], mint: Pubkey, hour: number): ActivityHour {
  const sums = {
    events: 0,
    buys: 0,
    sells: 0,
    liquidity: 0,
    launches: 0,
    priced: 0,
    openUsd: null,
    closeUsd: null
  }
  const volumes = { buyMicroUsd: 0n, sellMicroUsd: 0n, volumeCash: 0n, volumeToken: 0n }
  const minutes = hourlyMintVolumeOf(sales, mint, hour).map((volume) => ({ ...sums, ...volumes, ...volume }))
  return { of: 'mint', owner: mint, hour, minutes, priorUsd: null, traders: new Uint8Array() }
}
