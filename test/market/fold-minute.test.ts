import fc from 'fast-check'
import t from 'tap'
import type { DecodedBlock } from '../../src/market/block.ts'
import { MANY, SINGLE } from '../../src/market/records.ts'
import { minuteOf } from '../../src/market/sol-usd.ts'
import { randomRuns } from '../random-runs.ts'
import { ingestAll, MemoryStore } from './memory-store.ts'
import { anyChain, anyChainWithUnsteadyTimes, block, buy, NOON, OPTIONS } from './world.ts'

/** Cuts a chain into runs of blocks of one minute, of any length. */
function minutesOf(chain: readonly DecodedBlock[], lengths: readonly number[]): DecodedBlock[][] {
  const minutes: DecodedBlock[][] = []
  for (const each of chain) {
    const last = minutes.at(-1)
    const isSame = last !== undefined && minuteOf(last[0]!.blockTime) === minuteOf(each.blockTime)
    if (isSame && last.length < lengths[(minutes.length - 1) % lengths.length]!) last.push(each)
    else minutes.push([each])
  }
  return minutes
}

/** Folds a chain minute by minute from an empty store. Returns the store, and the rows of its slots. */
function foldedByMinute(chain: readonly DecodedBlock[], lengths: readonly number[]) {
  const store = new MemoryStore()
  const state = store.restart()
  const slots = []
  for (const blocks of minutesOf(chain, lengths)) {
    const prepared = state.prepareMinute(blocks, OPTIONS)
    const fold = prepared.fold(store.load(prepared.readSet))
    slots.push(...fold.slots)
    store.commit({ ...fold, slot: fold.slots.at(-1)!, log: [] })
  }
  return { store, slots }
}

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
  t.test(
    `blocks of a minute folded at once give the rows of blocks folded one by one: ${name}`,
    async (t) => {
      let together = 0
      fc.assert(
        fc.property(
          chains,
          fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
          (chain, lengths) => {
            const alone = ingestAll(chain, OPTIONS)
            const byMinute = foldedByMinute(chain, lengths)
            t.strictSame(rowsOf(byMinute.store), rowsOf(alone.store))
            t.strictSame(
              byMinute.slots,
              alone.folds.map(({ slot }) => slot)
            )
            together += chain.length - minutesOf(chain, lengths).length
          }
        ),
        randomRuns(60)
      )
      t.ok(together > 50, `${together} blocks are folded with the one before`)
    }
  )

t.test('a minute that was prepared before another one is not folded', async (t) => {
  const state = new MemoryStore().restart()
  const [first, second] = [5, 6].map((slot) =>
    state.prepareMinute([block(slot, NOON, [buy(1n, 1n)])], OPTIONS)
  )
  const store = new MemoryStore()
  t.throws(() => first!.fold(store.load(first!.readSet)), /block 5 is folded out of order/)
  t.doesNotThrow(() => second!.fold(store.load(second!.readSet)))
  t.throws(() => state.prepareMinute([], OPTIONS), /a minute needs a block/)
})
