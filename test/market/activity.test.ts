import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { DecodedBlock } from '../../src/market/block.ts'
import { ingest, MemoryStore } from './memory-store.ts'
import { plainHours, plainPools, plainTokens, plainTotals, tell } from './plain-market.ts'
import { anyChain, anyChainWithFallingTimes, OPTIONS } from './world.ts'

const NARROW = { pairs: 2, tokens: 1, pools: 1, curves: 1, launches: 1 }

// INVARIANTS 6
t.test('what is kept beside rows equals a plain fold of all events, restarted at any block', async (t) => {
  let stored = 0
  fc.assert(
    fc.property(anyChain, fc.integer({ min: 1, max: 6 }), (chain, blocks) => {
      const store = new MemoryStore()
      let state = store.restart()
      for (const [i, block] of chain.entries()) {
        if (i % blocks === 0) state = store.restart()
        ingest(store, state, block, OPTIONS)
      }
      equalsPlainFold(t, store, chain)
      stored += store.hours.size
    }),
    { seed: 21, numRuns: 40 }
  )
  t.ok(stored > 500)
})

t.test('it does so with hardly any room in memory, even when times fall', async (t) => {
  fc.assert(
    fc.property(anyChainWithFallingTimes, (chain) => {
      const store = new MemoryStore()
      const state = store.restart(NARROW)
      for (const block of chain) ingest(store, state, block, OPTIONS)
      equalsPlainFold(t, store, chain)
    }),
    { seed: 22, numRuns: 40 }
  )
})

function equalsPlainFold(t: Test, store: MemoryStore, chain: readonly DecodedBlock[]): void {
  const story = tell(chain, store.trades, OPTIONS.cash)
  t.strictSame(sorted(store.hours), sorted(plainHours(story)))
  t.strictSame(sorted(store.tokens), sorted(plainTokens(story)))
  t.strictSame(sorted(store.pools), sorted(plainPools(story)))
  t.strictSame(store.totals, plainTotals(story))
}

function sorted<T>(rows: ReadonlyMap<string, T>): [string, T][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
}
