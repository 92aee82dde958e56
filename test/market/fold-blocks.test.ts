import fc from 'fast-check'
import t from 'tap'
import type { DecodedBlock } from '../../src/market/block.ts'
import { areFoldedTogether } from '../../src/market/folded-together.ts'
import { minuteOf } from '../../src/market/sol-usd.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { MANY, SINGLE } from '../../src/market/records.ts'
import type { MarketState } from '../../src/market/market-state.ts'
import { randomRuns } from '../random-runs.ts'
import { ingestAll, MemoryStore } from './memory-store.ts'
import { anyChain, anyChainWithUnsteadyTimes, block, buy, NOON, OPTIONS } from './world.ts'

/** Folds a chain in runs of any length, with a restart of the state after some of them. Returns the store and the runs. */
function foldedInRuns(chain: readonly DecodedBlock[], lengths: readonly number[], restarts: number) {
  const store = new MemoryStore()
  const runs: DecodedBlock[][] = []
  const slots: SlotRow[] = []
  let state = store.restart()
  const fold = (blocks: readonly DecodedBlock[]): void => {
    const prepared = state.prepareBlocks(blocks, OPTIONS)
    const folded = prepared.fold(store.load(prepared.readSet))
    slots.push(...folded.slots)
    store.commit({ ...folded, slot: folded.slots.at(-1)!, log: [] })
    if (restarts > 0 && runs.length % restarts === 0) state = store.restart()
  }
  const isNext = (of: MarketState, run: readonly DecodedBlock[], next: DecodedBlock): boolean =>
    run.length < lengths[runs.length % lengths.length]! &&
    areFoldedTogether(run[0]!, run.at(-1)!, next, of.newestTime)
  let run: DecodedBlock[] = []
  const end = (): void => {
    runs.push(run)
    fold(run)
  }
  for (const next of chain) {
    if (run.length > 0 && !isNext(state, run, next)) {
      end()
      run = []
    }
    run.push(next)
  }
  if (run.length > 0) end()
  return { store, runs, slots }
}

const minutesOf = (run: readonly DecodedBlock[]): number =>
  new Set(run.map(({ blockTime }) => minuteOf(blockTime))).size

const rowsOf = ({ rows }: MemoryStore) => ({
  many: Object.fromEntries(
    MANY.filter((name) => name !== 'log').map((name) => [
      name,
      [...rows.maps[name]].sort(([a], [b]) => (a < b ? -1 : 1))
    ])
  ),
  single: SINGLE.map((name) => rows.singles[name])
})

for (const [name, chains] of [
  ['times that never fall', anyChain],
  ['unsteady times', anyChainWithUnsteadyTimes]
] as const)
  t.test(`blocks folded at once give the rows of blocks folded one by one: ${name}`, async (t) => {
    let [together, overMinutes] = [0, 0]
    fc.assert(
      fc.property(
        chains,
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 3 }),
        (chain, lengths, restarts) => {
          const alone = ingestAll(chain, OPTIONS)
          const inRuns = foldedInRuns(chain, lengths, restarts)
          t.strictSame(rowsOf(inRuns.store), rowsOf(alone.store))
          t.strictSame(
            inRuns.slots,
            alone.folds.map(({ slot }) => slot)
          )
          together += chain.length - inRuns.runs.length
          overMinutes += inRuns.runs.filter((run) => minutesOf(run) > 1).length
        }
      ),
      randomRuns(60)
    )
    t.ok(together > 50, `${together} blocks are folded with the one before`)
    t.ok(overMinutes > 20, `${overMinutes} runs have several minutes`)
  })

t.test('blocks are folded at once within an hour, as long as minutes do not fall', async (t) => {
  const { newestTime } = new MemoryStore().restart()
  const areTogether = (...times: readonly [number, number, number]): boolean => {
    const [first, last, block] = times.map((seconds) => ({ blockTime: NOON + seconds }))
    return areFoldedTogether(first!, last!, block!, newestTime)
  }
  t.ok(areTogether(0, 59, 60), 'a later minute')
  t.ok(areTogether(0, 3_599, 3_540), 'an earlier second')
  t.notOk(areTogether(0, 60, 59), 'an earlier minute')
  t.notOk(areTogether(0, 3_599, 3_600), 'another hour')
})

t.test('after a restart the minutes that the store may have are folded alone', async (t) => {
  const store = new MemoryStore()
  const before = store.restart().prepareBlocks([block(5, NOON + 30, [buy(1n, 1n)])], OPTIONS)
  const folded = before.fold(store.load(before.readSet))
  store.commit({ ...folded, slot: folded.slots.at(-1)!, log: [] })
  const { newestTime } = store.restart()
  const at = (seconds: number) => ({ blockTime: NOON + seconds })
  t.ok(areFoldedTogether(at(30), at(30), at(59), newestTime))
  t.notOk(areFoldedTogether(at(30), at(59), at(60), newestTime), 'buckets of the next minute may be stored')
  t.ok(areFoldedTogether(at(90), at(90), at(150), newestTime))
})

t.test('blocks that were prepared before others are not folded', async (t) => {
  const state = new MemoryStore().restart()
  const [first, second] = [5, 6].map((slot) =>
    state.prepareBlocks([block(slot, NOON, [buy(1n, 1n)])], OPTIONS)
  )
  const store = new MemoryStore()
  t.throws(() => first!.fold(store.load(first!.readSet)), /block 5 is folded out of order/)
  t.doesNotThrow(() => second!.fold(store.load(second!.readSet)))
  t.throws(() => state.prepareBlocks([], OPTIONS), /a fold needs a block/)
})
