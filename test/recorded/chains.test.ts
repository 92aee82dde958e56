import fc from 'fast-check'
import t from 'tap'
import { strayBlocks } from '../../src/recorded/chains.ts'
import { readRecorded } from '../../src/recorded/read.ts'
import { scanRecorded, type RecordedSlot } from '../../src/recorded/scan.ts'
import { randomRuns } from '../random-runs.ts'

interface ChainBlock {
  readonly slot: number
  readonly parentSlot: number
  readonly blockhash: string
  readonly parentBlockhash: string
}

/** Returns a chain with blocks in these slots, after a parent; hashes begin with its name. */
function chain(name: string, slots: readonly number[], parent?: ChainBlock): ChainBlock[] {
  let before = parent ?? { slot: slots[0]! - 1, blockhash: `${name}-start` }
  return slots.map((slot) => {
    const { slot: parentSlot, blockhash: parentBlockhash } = before
    return (before = { slot, parentSlot, blockhash: `${name}${slot}`, parentBlockhash })
  })
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Returns the blocks of a folder that do not count; of two of a slot the first is in the folder. */
function strayOf(blocks: readonly (ChainBlock | Partial<ChainBlock>)[]) {
  const bySlot = new Map<number, RecordedSlot>()
  for (const { slot, parentSlot = null, blockhash = null, parentBlockhash = null } of blocks) {
    if (bySlot.has(slot!)) continue
    const place = { file: `${slot}.json`, line: null }
    const facts = { parentSlot, blockhash, parentBlockhash, block: place }
    bySlot.set(slot!, { blockTime: slot!, ...facts, singles: new Map() })
  }
  const slots = [...bySlot.keys()].sort((a, b) => a - b)
  return strayBlocks(slots, bySlot)
}

const slotsOf = (stray: readonly { readonly slot: number }[]): number[] => stray.map(({ slot }) => slot)

t.test('blocks of one chain all stay, whatever is missing between them', async (t) => {
  t.same(strayOf(chain('a', range(1, 50))), [])
  t.same(strayOf(chain('a', [1, 2, 5, 6, 9]).filter((_, at) => at !== 2)), [])
  t.same(strayOf([{ slot: 3 }, { slot: 4 }, { slot: 9 }]), [], 'that name neither parents nor hashes')
})

t.test('one stray block is left out, at the start, in the middle and at the end', async (t) => {
  const real = chain('a', [10, 12, 14, 16])
  for (const [slot, contradicts] of [
    [9, 10],
    [11, 12],
    [13, 14]
  ] as const) {
    const stray = chain('b', [slot])
    t.same(
      strayOf([...stray, ...real]),
      slot === 9 ? [{ slot, contradicts }] : [{ slot, contradicts: slot - 1 }]
    )
  }
  // The last block names a parent that the chain has with another hash.
  t.same(strayOf([...real, ...chain('b', [17])]), [{ slot: 17, contradicts: 16 }])
})

t.test(
  'of two whole chains the longer one stays whole, the earlier one where they are as long',
  async (t) => {
    const even = range(1, 20).map((at) => 100 + at * 2)
    const odd = range(1, 20).map((at) => 101 + at * 2)
    t.same(slotsOf(strayOf([...chain('a', even), ...chain('b', odd.slice(0, 19))])), odd.slice(0, 19))
    t.same(slotsOf(strayOf([...chain('a', even.slice(0, 19)), ...chain('b', odd)])), even.slice(0, 19))
    t.same(slotsOf(strayOf([...chain('a', even), ...chain('b', odd)])), odd)
  }
)

t.test('of two branches the one that goes on longest stays, with what both descend from', async (t) => {
  const trunk = chain('a', range(1, 5))
  const left = chain('l', [6, 7, 8], trunk.at(-1))
  const right = chain('r', range(9, 15), trunk.at(-1))
  t.same(slotsOf(strayOf([...trunk, ...left, ...right])), [6, 7, 8])
  t.same(slotsOf(strayOf([...trunk, ...left, ...right.slice(0, 2)])), [9, 10])
})

t.test('blocks that name no hash are joined by the slots of their parents', async (t) => {
  const bare = chain('a', [10, 12, 14]).map(({ slot, parentSlot }) => ({ slot, parentSlot }))
  t.same(strayOf([...bare, { slot: 11, parentSlot: 10 }]), [{ slot: 11, contradicts: 12 }])
})

t.test('the blocks kept of any mixture of chains do not contradict each other', async () => {
  const slots = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 40 })
  const mixture = fc.array(slots, { minLength: 1, maxLength: 4 }).map((chains) =>
    chains.flatMap((each, at) =>
      chain(
        'abcd'[at]!,
        each.toSorted((a, b) => a - b)
      )
    )
  )
  fc.assert(
    fc.property(mixture, (blocks) => {
      const served = [...Map.groupBy(blocks, ({ slot }) => slot).values()].map(([first]) => first!)
      served.sort((a, b) => a.slot - b.slot)
      const gone = new Set(slotsOf(strayOf(blocks)))
      const left = served.filter(({ slot }) => !gone.has(slot))
      return (
        left.length > 0 &&
        left.every((block, at) => {
          const before = left[at - 1]
          if (before === undefined || block.parentSlot > before.slot) return true
          return block.parentSlot === before.slot && block.parentBlockhash === before.blockhash
        })
      )
    }),
    randomRuns(100)
  )
})

t.test('a folder of two chains serves one of them, and each block of the other is a problem', async (t) => {
  const fileOf = (block: ChainBlock): string =>
    JSON.stringify({
      slot: block.slot,
      block: {
        blockTime: 1_000 + block.slot,
        parentSlot: block.parentSlot,
        blockhash: block.blockhash,
        previousBlockhash: block.parentBlockhash,
        transactions: []
      }
    })
  const lines = (blocks: readonly ChainBlock[]): string => blocks.map(fileOf).join('\n')
  const directory = t.testdir({
    'a.ndjson': lines(chain('a', [2, 4, 6, 8])),
    'b.ndjson': lines(chain('b', [3, 5, 7]))
  })
  const index = await scanRecorded(directory)
  t.same(index.slots, [2, 4, 6, 8])
  t.same(index.problems.counts, { 'other-chain': 3 })
  t.match(index.problems.listed, [
    { file: 'b.ndjson', line: 1, detail: /^slot 3 is not of the chain of slot 2/ },
    { file: 'b.ndjson', line: 2 },
    { file: 'b.ndjson', line: 3 }
  ])
  const read: number[] = []
  for await (const { slot } of readRecorded(index)) read.push(slot)
  t.same(read, [2, 4, 6, 8])
})
