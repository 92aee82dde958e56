import fc from 'fast-check'
import t from 'tap'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import { Refold } from '../../src/market/refold.ts'
import type { RefoldTools } from '../../src/market/refold.ts'
import { byName, MANY, type BlockRows } from '../../src/market/records.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import { randomRuns } from '../random-runs.ts'
import { ingestAll, MemoryStore } from './memory-store.ts'
import { anyChain, anyChainWithUnsteadyTimes, OPTIONS } from './world.ts'

const encode = (rows: BlockRows) => encodeLog(rows, OPTIONS.cash)

/** A store that has folded a chain, and each of its blocks with its read set. */
function keepAll(chain: readonly DecodedBlock[]): { store: MemoryStore; kept: KeptBlock[] } {
  const store = new MemoryStore()
  const state = store.restart()
  const kept: KeptBlock[] = []
  for (const block of chain) {
    const prepared = state.prepare(block, OPTIONS)
    const folded = prepared.foldKept(store.load(prepared.readSet))
    kept.push(folded.kept)
    store.commit({ ...folded.fold, log: encode(folded.fold) })
  }
  return { store, kept }
}

/** Replaces the stored chain by the wanted one, from the first kept block that is not in both. */
async function amend(store: MemoryStore, kept: readonly KeptBlock[], wanted: readonly DecodedBlock[]) {
  const start = kept.findIndex(({ block }, i) => wanted[i] !== block)
  const from = start === -1 ? kept.length - 1 : start
  const rest = kept.slice(from)
  const later = wanted.slice(from)
  const load: RefoldTools['load'] = async (readSet) => store.load(readSet)
  const refold = new Refold(rest[0]!.before, { fold: OPTIONS, load, encode }, 3)
  for (const { before } of rest) refold.knows(before.values)
  const stored = new Set(rest.map(({ block }) => block))
  const all = [...new Set([...stored, ...later])].sort((a, b) => a.slot - b.slot)
  for (const block of all) {
    if (!stored.has(block)) await refold.with(block)
    else if (later.includes(block)) await refold.both(block)
    else await refold.without(block)
  }
  const amendment = refold.amendment()
  store.amend(amendment)
  return amendment
}

const stateOf = ({ head, rows: { maps, singles } }: MemoryStore) => ({
  head,
  singles,
  ...byName<typeof maps>(
    MANY,
    (name) => new Map([...maps[name]].sort(([a], [b]) => (a < b ? -1 : 1)) as [string, unknown][])
  )
})

for (const [name, chains] of [
  ['rising', anyChain],
  // A refold starts at the time of a head, below which times fall by a minute at most (TIME_FALLS_MAX).
  ['falling', anyChainWithUnsteadyTimes]
] as const) {
  t.test(`with ${name} times, blocks that come late leave a store as if they had come in time`, async (t) => {
    let rowsChanged = 0
    await fc.assert(
      fc.asyncProperty(chains, fc.infiniteStream(fc.boolean()), async (chain, isMissing) => {
        const missing = new Set(chain.slice(0, -1).filter(() => isMissing.next().value))
        const { store, kept } = keepAll(chain.filter((block) => !missing.has(block)))
        const before = store.trades.length
        const { trades } = await amend(store, kept, chain)
        t.strictSame(trades.remove, [])
        rowsChanged += trades.put.length - (store.trades.length - before)
        t.strictSame(stateOf(store), stateOf(ingestAll(chain, OPTIONS).store))
      }),
      randomRuns(25, 21)
    )
    t.ok(rowsChanged > 0, 'later rows were valued anew')
  })

  t.test(`with ${name} times, blocks that a fork has lost leave nothing behind`, async (t) => {
    await fc.assert(
      fc.asyncProperty(chains, fc.nat(10), async (chain, lost) => {
        const rest = chain.slice(0, Math.max(0, chain.length - 1 - lost))
        const { store, kept } = keepAll(chain)
        await amend(store, kept, rest)
        t.strictSame(stateOf(store), stateOf(ingestAll(rest, OPTIONS).store))
      }),
      randomRuns(25, 22)
    )
  })
}

t.test('a refold returns the new read sets of the newest blocks', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyChain, async (chain) => {
      if (chain.length < 6) return
      const late = chain[1]!
      const { store, kept } = keepAll(chain.filter((block) => block !== late))
      const amendment = await amend(store, kept, chain)
      const whole = keepAll(chain)
      t.strictSame(amendment.kept.put.slice(-3), whole.kept.slice(-3))
    }),
    randomRuns(20, 23)
  )
})
