import fc from 'fast-check'
import t from 'tap'
import { FoldProgress } from '../../src/archive/commands/fold-progress.ts'
import type { FactList } from '../../storage/port.ts'
import { randomRuns } from '../random-runs.ts'
import { virtualClock } from '../virtual-time.ts'
import { MemoryFacts } from './facts/memory-facts.ts'

async function factsAt(positions: { readonly [List in FactList]?: readonly number[] }): Promise<MemoryFacts> {
  const facts = new MemoryFacts()
  for (const [list, all] of Object.entries(positions) as [FactList, readonly number[]][])
    await facts.put(
      list,
      all.map((position) => ({ position, key: Uint8Array.of(1), value: Uint8Array.of(1) }))
    )
  return facts
}

const block = (slot: number, trades = 10, blockTime = 1_700_000_000 + slot) => ({ slot, blockTime, trades })

t.test('the progress of a fold has the slot, the share, the rate and the time left', async (t) => {
  const clock = virtualClock()
  const facts = await factsAt({ block: [101, 110, 150], row: [100, 199], timed: [] })
  const progress = new FoldProgress(clock)
  clock.increment(5_000)
  await progress.begin(facts, null, null)
  t.equal(progress.line(), 'folding, slot –, 0 %: 0 blocks, 0 trades, 0 trades/s')
  clock.increment(10_000)
  for (let slot = 100; slot < 110; slot++) progress.committed(block(slot, 30))
  t.equal(progress.line(), 'folding, slot 109, 10 %: 10 blocks, 300 trades, 30 trades/s, 90 s left')
  clock.increment(30_000)
  progress.committed(block(139, 100))
  t.equal(progress.line(), 'folding, slot 139, 40 %: 11 blocks, 400 trades, 10 trades/s, 60 s left')
  progress.committed(block(199))
  t.equal(progress.line(), 'folding, slot 199, 100 %: 12 blocks, 410 trades, 10 trades/s')
})

t.test('a fold that continues counts from its head, and ends before the first indexed block', async (t) => {
  const clock = virtualClock()
  const facts = await factsAt({ row: [1, 50, 500, 600, 699, 900, 2_000] })
  const progress = new FoldProgress(clock)
  await progress.begin(facts, block(499), block(700))
  clock.increment(3_600_000)
  progress.committed(block(549))
  t.match(progress.line(), /^folding, slot 549, 25 %: .*, 3 h left$/)
  progress.committed(block(699))
  t.match(progress.line(), / 100 %: /)
})

t.test('rows without a slot count by their time', async (t) => {
  const clock = virtualClock()
  const progress = new FoldProgress(clock)
  await progress.begin(await factsAt({ row: [100], timed: [1_000, 1_999] }), null, null)
  clock.increment(1_000)
  progress.committed(block(100, 1, 1_499))
  t.match(progress.line(), / 50 %: .*, 1 s left$/)
})

t.test('a fold of nothing has no time left', async (t) => {
  const progress = new FoldProgress(virtualClock())
  await progress.begin(await factsAt({ block: [900] }), block(10), block(800))
  progress.committed(block(11))
  t.match(progress.line(), / 100 %: 1 blocks, 10 trades, \d+ trades\/s$/)
})

t.test('the share reaches 100 % with the last fact, and not before, wherever the facts are', async (t) => {
  const slots = fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 34 }), { minLength: 2, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(slots, async (positions) => {
      const sorted = positions.toSorted((a, b) => a - b)
      const progress = new FoldProgress(virtualClock())
      await progress.begin(await factsAt({ row: positions }), null, null)
      for (const slot of sorted.slice(0, -1)) {
        progress.committed(block(slot))
        t.notMatch(progress.line(), / 100 %/)
      }
      progress.committed(block(sorted.at(-1)!))
      t.match(progress.line(), / 100 %/)
    }),
    randomRuns(30)
  )
})
