import type { LaunchRow, LaunchStatus } from '../../src/market/rows.ts'
import { Choices, sampleBytes } from './choices.ts'
import { sampleCash, samplePool, slotAt, timeAt } from './sample-addresses.ts'
import { originAt } from './sample-rows.ts'

/** A launch every fourth block, trading two blocks later, every second of them graduated four blocks after that. */
export function launchesAt(seed: number, index: number): LaunchRow[] {
  const launches: LaunchRow[] = []
  if (index >= 6 && (index - 6) % 8 === 0) launches.push(sampleLaunch(seed, index - 6, 'graduated'))
  if (index >= 2 && (index - 2) % 4 === 0) launches.push(sampleLaunch(seed, index - 2, 'trading'))
  if (index % 4 === 0) launches.push(sampleLaunch(seed, index, 'created'))
  return launches
}

export function sampleLaunch(seed: number, index: number, status: LaunchStatus): LaunchRow {
  const choices = new Choices(seed * 104_729 + index)
  return {
    ...originAt(choices, slotAt(index), 500, timeAt(index)),
    ingestedAtMs: timeAt(index) * 1_000 + 3,
    mint: sampleBytes(32, 50_000 + index),
    quoteMint: sampleCash(0),
    creator: samplePool(choices.below(9)),
    name: choices.of(['Ünïcode 🚀 coin', '', 'plain']),
    symbol: 'SYM',
    uri: 'https://example.org/' + index,
    decimals: choices.chance(0.3) ? null : 6,
    supply: choices.chance(0.3) ? null : choices.amount(),
    curve: samplePool(choices.below(9)),
    status
  }
}
