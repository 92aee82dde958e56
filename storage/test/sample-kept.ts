import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { LoadedRecords } from '../../src/market/read-set.ts'
import { byName, READ_FIRST } from '../../src/market/records.ts'
import { COLD_SOL_USD } from '../../src/market/sol-usd.ts'
import { Choices, sampleBytes } from './choices.ts'
import { sampleMint, samplePool, slotAt, timeAt } from './sample-addresses.ts'
import { sampleCurveOf, sampleListedPool } from './sample-registry.ts'
import { originAt, sampleTrade } from './sample-rows.ts'

/** Kept block at an index: something of every kind of value. */
export function sampleKept(index: number): KeptBlock {
  const choices = new Choices(index)
  const slot = slotAt(index)
  const blockTime = timeAt(index)
  const mint = sampleMint(index % 3)
  const trade = sampleTrade(choices, originAt(choices, slot, 4, blockTime), mint)
  return {
    block: {
      slot,
      blockTime,
      parentSlot: slot - 1,
      blockhash: `hash of ${slot}`,
      receivedAtMs: blockTime * 1_000 + 7,
      commitment: 'processed',
      transactions: choices.below(2_000),
      entries: [
        {
          signature: sampleBytes(64, index),
          txIndex: 3,
          feePayer: samplePool(1),
          event: { ...trade, kind: 'trade', traderIn: 2n ** 63n }
        }
      ]
    },
    before: {
      head: null,
      solUsd: { ...COLD_SOL_USD, trades: [{ price: 150.25, lamports: 7n }] },
      totals: null,
      values: {
        ...byName<LoadedRecords>(READ_FIRST, () => []),
        launches: [{ address: mint, row: null }],
        pools: [{ address: samplePool(2), row: sampleListedPool(choices, index) }],
        curves: [{ address: mint, row: sampleCurveOf(choices, mint, trade) }]
      }
    }
  }
}
