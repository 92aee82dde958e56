import type { Pubkey } from '../../src/chain/pubkey.ts'
import { noRows } from '../../src/market/records.ts'
import type { RowOrigin } from '../../src/market/rows.ts'
import type { BlockCommit } from '../port.ts'
import { Choices } from './choices.ts'
import { FIRST_TIME, SAMPLE_CASHES, sampleCash, slotAt, timeAt } from './sample-addresses.ts'
import { sampleActivity, sampleTotals } from './sample-activity.ts'
import { launchesAt } from './sample-launches.ts'
import { sampleLog } from './sample-log.ts'
import { samplePair, sampleUpserts } from './sample-pairs.ts'
import { sampleCurveOf, sampleListedPool, sampleToken } from './sample-registry.ts'
import { originAt, samplePoolEvent, sampleTrade, tradedMint } from './sample-rows.ts'

/** The block at an index of a seed's series. It follows from both numbers alone. */
export function sampleBlock(seed: number, index: number): BlockCommit {
  const choices = new Choices(seed * 7_919 + index)
  const slot = slotAt(index)
  const blockTime = timeAt(index)
  const rows = Array.from({ length: choices.below(14) }, (_, i) =>
    sampleTrade(choices, originAt(choices, slot, i * 4, blockTime), tradedMint(choices))
  )
  const poolEvents = Array.from({ length: choices.below(5) }, (_, i) =>
    samplePoolEvent(choices, originAt(choices, slot, 100 + i, blockTime))
  )
  const mints = distinct(rows.map((row) => row.mint))
  const pools = distinct([...rows, ...poolEvents].map((row) => row.pool))
  const pairs = mints.map((mint) => ({
    mint,
    cash: sampleCash(choices.below(SAMPLE_CASHES))
  }))
  return {
    slot: {
      slot,
      blockTime,
      parentSlot: choices.chance(0.1) ? null : slot - 1,
      blockhash: slot % 5 === 0 ? null : `hash of ${slot}`,
      transactions: choices.below(2_000),
      trades: rows.length,
      events: rows.length + poolEvents.length,
      receivedAtMs: blockTime * 1_000 + choices.below(5_000)
    },
    trades: rows,
    poolEvents,
    log: sampleLog(seed, index),
    candles: pairs.flatMap((pair) => sampleUpserts(choices, pair, blockTime)),
    launches: launchesAt(seed, index),
    pairs: pairs.map((pair) => samplePair(choices, pair, rows.at(-1)!)),
    solPrices:
      index % 3 === 0
        ? [
            {
              minute: blockTime - (blockTime % 60),
              usd: 100 + choices.fraction(),
              sourceMinute: choices.chance(0.5) ? null : blockTime - 60
            }
          ]
        : [],
    activity: sampleActivity(choices, blockTime, mints, pools),
    tokens: mints.map((mint) => sampleToken(choices, mint, rows.at(-1)!)),
    pools: [index, index - 1, index - 4].filter((n) => n >= 0).map((n) => sampleListedPool(choices, n)),
    curves: mints.filter(() => choices.chance(0.3)).map((mint) => sampleCurveOf(choices, mint, rows.at(-1)!)),
    totals: choices.chance(0.8) ? sampleTotals(choices) : null
  }
}

/** A block with a number of trades of one mint and nothing else. */
export function blockOfTrades(index: number, mint: Pubkey, count: number): BlockCommit {
  const choices = new Choices(index)
  const slot = slotAt(index)
  const blockTime = FIRST_TIME + index
  const origin = (i: number): RowOrigin => originAt(choices, slot, i * 4, blockTime)
  return {
    ...emptyBlock(index),
    trades: Array.from({ length: count }, (_, i) => sampleTrade(choices, origin(i), mint))
  }
}

export function emptyBlock(index: number): BlockCommit {
  const slot = slotAt(index)
  return {
    slot: {
      slot,
      blockTime: FIRST_TIME + index,
      parentSlot: slot - 1,
      blockhash: `hash of ${slot}`,
      transactions: 0,
      trades: 0,
      events: 0,
      receivedAtMs: 1
    },
    ...noRows()
  }
}

const distinct = (keys: readonly Pubkey[]): Pubkey[] => [
  ...new Map(keys.map((key) => [key.join(), key])).values()
]
