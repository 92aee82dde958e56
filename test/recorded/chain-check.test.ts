import fc from 'fast-check'
import t from 'tap'
import { standingOf, type PlacedBlock, type StoredBlocks } from '../../src/recorded/chain-check.ts'
import { ProblemTally } from '../../src/recorded/problems.ts'
import type { RecordedIndex } from '../../src/recorded/scan.ts'
import { randomRuns } from '../random-runs.ts'

function storeOf(blocks: readonly PlacedBlock[]): StoredBlocks {
  return {
    head: async () => blocks.at(-1) ?? null,
    at: async (slot) => blocks.find((block) => block.slot === slot) ?? null,
    firstSince: async (blockTime) => blocks.find((block) => block.blockTime >= blockTime)?.slot ?? null
  }
}

function folderOf(blocks: readonly PlacedBlock[]): RecordedIndex {
  const sorted = [...blocks].sort((a, b) => a.slot - b.slot)
  return {
    kind: 'indexed',
    directory: 'folder',
    slots: sorted.map(({ slot }) => slot),
    bySlot: new Map(
      sorted.map((block) => [
        block.slot,
        { ...block, blockhash: null, parentBlockhash: null, block: null, singles: new Map() }
      ])
    ),
    files: sorted.length,
    repeated: 0,
    votes: 0,
    problems: new ProblemTally(),
    recordBytesMax: 1
  }
}

/** Returns blocks of a chain: two and a half slots a second, from a first slot at a first time. */
function chain(slots: readonly number[], firstSlot: number, firstTime: number): PlacedBlock[] {
  return slots.map((slot, at) => ({
    slot,
    blockTime: firstTime + Math.floor((slot - firstSlot) * 0.4),
    parentSlot: slots[at - 1] ?? slot - 1
  }))
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Mainnet in 2022, and a localnet of 2026, which has low slots and recent times. */
const OLD = Date.UTC(2022, 0, 1) / 1000
const NEW = Date.UTC(2026, 9, 1) / 1000
const mainnet = (from: number, to: number): PlacedBlock[] => chain(range(from, to), 115_000_000, OLD)
const localnet = (from: number, to: number): PlacedBlock[] => chain(range(from, to), 1, NEW)

t.test('an empty store takes every folder', async (t) => {
  t.match(await standingOf(folderOf(localnet(1, 9)), storeOf([])), { kind: 'empty', head: null, above: 9 })
})

t.test('a folder of the stored chain is the same, whatever of it is new', async (t) => {
  const stored = storeOf(mainnet(115_000_100, 115_000_200))
  const kindOf = async (blocks: readonly PlacedBlock[]) => standingOf(folderOf(blocks), stored)
  t.match(await kindOf(mainnet(115_000_100, 115_000_200)), {
    kind: 'same',
    detail: null,
    above: 0,
    notStored: 0
  })
  t.match(await kindOf(mainnet(115_000_190, 115_000_300)), { kind: 'same', detail: null, above: 100 })
  t.match(await kindOf(mainnet(115_000_000, 115_000_300)), {
    kind: 'same',
    detail: null,
    above: 100,
    notStored: 100
  })
  t.match(
    await kindOf(mainnet(115_000_201, 115_000_300)),
    { kind: 'same', detail: null, compared: 0 },
    'it follows'
  )
})

t.test('single transactions say no parent, and are of the chain all the same', async (t) => {
  const singles = mainnet(115_000_150, 115_000_300).map((block) => ({ ...block, parentSlot: null }))
  const standing = await standingOf(folderOf(singles), storeOf(mainnet(115_000_100, 115_000_200)))
  t.match(standing, { kind: 'same', detail: null })
})

t.test('a folder months later, of which nothing is stored, is taken and said to be unproven', async (t) => {
  const stored = storeOf(mainnet(115_000_100, 115_000_200))
  const later = await standingOf(folderOf(mainnet(135_000_000, 135_000_010)), stored)
  t.match(later, { kind: 'unknown', detail: 'none of its blocks is stored', above: 11 })
  const earlier = await standingOf(folderOf(mainnet(100_000_000, 100_000_010)), stored)
  t.match(earlier, { kind: 'unknown', above: 0, notStored: 11 })
})

t.test('a folder of another chain is refused by what shows it', async (t) => {
  const refused = async (stored: PlacedBlock[], recorded: PlacedBlock[], detail: RegExp): Promise<void> =>
    void t.match(await standingOf(folderOf(recorded), storeOf(stored)), { kind: 'other', detail })
  await refused(
    localnet(1, 500),
    mainnet(115_000_000, 115_000_100),
    /^its slot 115000000 is of 2022-01-01T00:00:00.000Z, the stored slot 500 of 2026-10-01T00:03:19.000Z$/
  )
  await refused(mainnet(115_000_000, 115_000_100), localnet(1, 500), /^its slot 1 is of 2026/)
  const newer = chain(range(460_000_000, 460_000_100), 460_000_000, NEW + 86_400)
  await refused(localnet(1, 500), newer, /no chain produces slots so fast/)
  const devnet = chain(range(115_000_050, 115_000_150), 115_000_000, OLD + 7)
  await refused(mainnet(115_000_000, 115_000_100), devnet, /^its block of slot 115000050 is of 2022/)
  const twin = mainnet(115_000_050, 115_000_150).map((block) => ({ ...block, parentSlot: block.slot - 2 }))
  await refused(
    mainnet(115_000_000, 115_000_100),
    twin,
    /^its block of slot 115000050 follows slot 115000048, the stored one slot 115000049$/
  )
})

t.test('a folder of which a few files are of another chain is taken, and they are told of', async (t) => {
  const odd = { slot: 115_000_180, blockTime: OLD - 1_000, parentSlot: 115_000_179 }
  const blocks = [...mainnet(115_000_100, 115_000_179), odd, ...mainnet(115_000_181, 115_000_250)]
  const standing = await standingOf(folderOf(blocks), storeOf(mainnet(115_000_000, 115_000_200)))
  t.match(standing, { kind: 'same', detail: /^its block of slot 115000180 is of 2021/ })
})

t.test('no folder of the stored chain is ever refused', async (t) => {
  // Steps of a chain that stops at times and continues, at up to the rate of the fastest localnet.
  const step = fc.record({
    slots: fc.integer({ min: 1, max: 5_000_000 }),
    idle: fc.integer({ min: 0, max: 5_000_000 })
  })
  const parts = fc.array(fc.constantFrom('stored', 'recorded', 'both', 'neither'), {
    minLength: 40,
    maxLength: 40
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 40, maxLength: 40 }),
      fc.double({ min: 0.01, max: 0.4, noNaN: true }),
      fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 40, maxLength: 40 }),
      parts,
      async (steps, seconds, jitter, of) => {
        let [slot, time] = [0, OLD]
        const blocks = steps.map(({ slots, idle }, at): PlacedBlock => {
          const parentSlot = slot
          slot += slots
          time += slots * seconds + idle
          return { slot, blockTime: Math.floor(time) + jitter[at]!, parentSlot }
        })
        const part = (...names: string[]): PlacedBlock[] => blocks.filter((_, at) => names.includes(of[at]!))
        const standing = await standingOf(folderOf(part('recorded', 'both')), storeOf(part('stored', 'both')))
        t.not(standing.kind, 'other')
        t.equal(standing.kind === 'unknown' ? null : standing.detail, null)
      }
    ),
    randomRuns(300, 7)
  )
})
