import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { BlockFold } from '../../src/market/fold.ts'
import { solPriceAt } from '../../src/market/sol-usd.ts'
import { randomRuns } from '../random-runs.ts'
import { ingest, MemoryStore } from './memory-store.ts'
import { plainCurves } from './plain-curves.ts'
import { plainHours, plainPools, plainTokens, plainTotals, list } from './plain-market.ts'
import { anyChain, anyChainWithFallingTimes, anyChainWithUnsteadyTimes, OPTIONS } from './world.ts'

const NARROW = { pairs: 2, tokens: 1, pools: 1, curves: 1, launches: 1 }

// INVARIANTS 6
for (const [times, anyBlocks] of [
  ['times that never fall', anyChain],
  ['times that fall by a minute at most', anyChainWithUnsteadyTimes]
] as const)
  t.test(
    `with ${times}, what is kept beside rows equals a plain fold of all events, restarted at any block`,
    async (t) => {
      let stored = 0
      fc.assert(
        fc.property(anyBlocks, fc.integer({ min: 1, max: 6 }), (chain, blocks) => {
          const store = new MemoryStore()
          let state = store.restart()
          const folds = chain.map((block, i) => {
            if (i % blocks === 0) state = store.restart()
            return ingest(store, state, block, OPTIONS)
          })
          equalsPlainFold(t, store, chain, folds)
          stored += store.rows.maps.activity.size
        }),
        randomRuns(40, 21)
      )
      t.ok(stored > 500)
    }
  )

t.test('it does so with hardly any room in memory, even when times fall', async (t) => {
  fc.assert(
    fc.property(anyChainWithFallingTimes, (chain) => {
      const store = new MemoryStore()
      const state = store.restart(NARROW)
      const folds = chain.map((block) => ingest(store, state, block, OPTIONS))
      equalsPlainFold(t, store, chain, folds)
    }),
    randomRuns(40, 22)
  )
})

function equalsPlainFold(
  t: Test,
  store: MemoryStore,
  chain: readonly DecodedBlock[],
  folds: readonly BlockFold[]
): void {
  const story = list(chain, store.trades, OPTIONS.cash)
  t.strictSame(sorted(store.rows.maps.activity), sorted(plainHours(story)))
  t.strictSame(sorted(store.rows.maps.tokens), sorted(plainTokens(story)))
  t.strictSame(sorted(store.rows.maps.pools), sorted(plainPools(story)))
  const solUsd = new Map(
    folds.map(({ slot, solUsd }) => [slot.slot, solPriceAt(solUsd.price, slot.blockTime)?.usd ?? null])
  )
  const curves = plainCurves(story, (mint, { block }) =>
    OPTIONS.cash.usdOf(mint, solUsd.get(block.slot) ?? null)
  )
  t.strictSame(sorted(store.rows.maps.curves), sorted(curves))
  t.strictSame(store.rows.singles.totals, plainTotals(story))
}

function sorted<T>(rows: ReadonlyMap<string, T>): [string, T][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
}
