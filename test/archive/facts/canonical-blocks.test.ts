import fc from 'fast-check'
import t from 'tap'
import { CanonicalBlocks } from '../../../src/archive/facts/canonical-blocks.ts'
import type { ArchivedRow } from '../../../src/archive/facts/archived-row.ts'
import type { ArchivedBlock } from '../../../src/archive/facts/block-pack.ts'
import { FactWriter } from '../../../src/archive/facts/fact-writer.ts'
import { FoldTally } from '../../../src/archive/facts/held-back.ts'
import { newState, StoredState } from '../../../src/archive/facts/import-state.ts'
import { MintDecimals } from '../../../src/archive/facts/mint-decimals.ts'
import { isUnstated, type Trade } from '../../../src/chain/events.ts'
import type { DecodedBlock } from '../../../src/market/block.ts'
import { randomRuns } from '../../random-runs.ts'
import { block, buy, NOON, OTHER, TOKEN } from '../../market/world.ts'
import { anyBlock, anyRow, archivedBlock, rowOf, signature } from './any-facts.ts'
import { MemoryFacts } from './memory-facts.ts'

type Item = ArchivedRow | ArchivedBlock

/** Stores facts by one import after another. */
async function imported(imports: readonly (readonly Item[])[], facts = new MemoryFacts()) {
  const state = (await StoredState.read(facts)) ?? (await StoredState.begin(facts, newState(true)))
  for (const items of imports) {
    const writer = new FactWriter(facts, state, new MintDecimals(facts), null)
    for (const item of items) {
      if ('block' in item) await writer.addBlock(item)
      else writer.addRow(item)
      // Batches of different lengths.
      if (writer.pendingRows > 3) await writer.flush()
    }
    await writer.flush()
  }
  return { facts, state }
}

async function blocksOf(
  { facts, state }: Awaited<ReturnType<typeof imported>>,
  more: Partial<ConstructorParameters<typeof CanonicalBlocks>[0]> = {}
): Promise<{ readonly blocks: DecodedBlock[]; readonly tally: FoldTally }> {
  const tally = new FoldTally()
  const canonical = new CanonicalBlocks({
    facts,
    decimals: new MintDecimals(facts),
    firstLive: null,
    after: null,
    hasTimed: state.value.hasTimed,
    tally,
    onHeldBack: async () => undefined,
    ...more
  })
  const blocks: DecodedBlock[] = []
  for await (const { block } of canonical.blocks()) blocks.push(block)
  return { blocks, tally }
}

const made = async (items: readonly Item[], more: Parameters<typeof blocksOf>[1] = {}) =>
  blocksOf(await imported([items]), more)

const trades = ({ entries }: DecodedBlock): Trade[] => entries.map(({ event }) => event as Trade)

t.test('any split and any order of the same facts give the same blocks', async (t) => {
  const property = fc.asyncProperty(
    fc
      .array(fc.oneof({ weight: 5, arbitrary: anyRow }, { weight: 1, arbitrary: anyBlock }), {
        maxLength: 40
      })
      .chain((items) =>
        fc.record({
          items: fc.constant(items),
          shuffled: fc.shuffledSubarray(items, { minLength: items.length }),
          cuts: fc.array(fc.nat(Math.max(items.length, 1)), { maxLength: 5 }),
          repeated: fc.subarray(items)
        })
      ),
    fc.option(fc.constant({ slot: 9, blockTime: NOON + 165 })),
    async ({ items, shuffled, cuts, repeated }, firstLive) => {
      const ends = [...cuts.sort((a, b) => a - b), shuffled.length]
      const parts = ends.map((end, at) => shuffled.slice(at === 0 ? 0 : ends[at - 1], end))
      const [one, other] = [await imported([items]), await imported([...parts, repeated])]
      const expected = await blocksOf(one, { firstLive })
      const found = await blocksOf(other, { firstLive })
      t.strictSame(found.blocks, expected.blocks)
      const slots = found.blocks.map(({ slot }) => slot)
      t.strictSame(
        slots,
        [...new Set(slots)].sort((a, b) => a - b),
        'each slot comes once, ascending'
      )
      if (firstLive !== null) t.ok(slots.every((slot) => slot < firstLive.slot))
      // A fold that was interrupted continues in the same way.
      const at = found.blocks[Math.floor(found.blocks.length / 2)]
      if (at === undefined) return
      const rest = await blocksOf(other, { firstLive, after: at })
      t.strictSame(
        rest.blocks,
        expected.blocks.filter(({ slot }) => slot > at.slot)
      )
    }
  )
  await fc.assert(property, randomRuns(150))
})

t.test('a whole block counts before rows of its slot, and the newest decoder before others', async (t) => {
  const whole = archivedBlock(block(10, NOON, [buy(1n, 2n)]))
  const { blocks, tally } = await made([
    rowOf(),
    whole,
    rowOf({ slot: 11 }),
    { ...archivedBlock(block(10, NOON, [])), decoderVersion: 1 }
  ])
  t.strictSame(blocks[0], whole.block)
  t.equal(blocks[1]!.slot, 11)
  t.match(tally, { superseded: 1, rows: 1 })
})

t.test('rows of two vendors that state one trade are one trade, with the facts of both', async (t) => {
  const { blocks, tally } = await made([
    rowOf({ pool: null, trader: null, place: { txIndex: null, ixIndex: null, innerIxIndex: null } }),
    rowOf({ solUsd: null, program: null }),
    rowOf({ pool: null, solUsd: 140, place: { txIndex: 4, ixIndex: 2, innerIxIndex: null } })
  ])
  t.equal(tally.repeated, 2)
  t.equal(blocks.length, 1)
  const [trade, ...others] = trades(blocks[0]!)
  t.strictSame(others, [])
  t.match(trade, { ixIndex: 2, solUsd: 140, inDecimals: 9, outDecimals: 6 })
  t.notOk(isUnstated(trade!, 'pool') || isUnstated(trade!, 'user'))
  t.equal(blocks[0]!.entries[0]!.txIndex, 1, 'the lower of two stated indexes')
})

t.test(
  'trades of one transaction with different amounts, or at different places, are different',
  async (t) => {
    const unplaced = { txIndex: null, ixIndex: null, innerIxIndex: null }
    const out = { mint: TOKEN, amountRaw: 6n, decimals: 6 }
    const { blocks } = await made([
      rowOf({ place: unplaced }, 1),
      rowOf({ place: unplaced, out }, 2),
      rowOf({ signature: signature(2), place: { ...unplaced, ixIndex: 0 } }, 3),
      rowOf({ signature: signature(2), place: { ...unplaced, ixIndex: 1 } }, 4)
    ])
    t.equal(trades(blocks[0]!).length, 4)
  }
)

t.test('rows without a place have the order of their lines', async (t) => {
  const place = { txIndex: null, ixIndex: null, innerIxIndex: null }
  const rows = [3, 1, 2].map((number, at) => rowOf({ signature: signature(number), place }, at + 1))
  const { blocks } = await made(rows.toReversed())
  t.strictSame(
    blocks[0]!.entries.map(({ signature }) => signature[0]),
    [3, 1, 2]
  )
  t.ok(trades(blocks[0]!).every((trade) => isUnstated(trade, 'txIndex') && isUnstated(trade, 'ixIndex')))
})

t.test('a row without a time has that of its slot, and is held back if nothing states it', async (t) => {
  const untimed = rowOf({ blockTime: null, signature: signature(2) })
  const { blocks } = await made([untimed, rowOf({ blockTime: NOON + 3 })])
  t.match(blocks, [{ blockTime: NOON + 3, entries: { length: 2 } }])
  const alone = await made([untimed])
  t.strictSame([alone.blocks, [...alone.tally.heldBack]], [[], [['unknown-time', 1]]])
})

t.test(
  'decimals that a row lacks are those of any other fact, and contradictions are held back',
  async (t) => {
    const paid = (decimals: number | null) => ({ mint: OTHER, amountRaw: 5n, decimals })
    const lacking = rowOf({ in: paid(null) })
    const alone = await made([lacking])
    t.strictSame([alone.blocks, [...alone.tally.heldBack]], [[], [['unknown-decimals', 1]]])
    const stated = rowOf({ slot: 12, in: paid(5) })
    t.equal(trades((await made([lacking, stated])).blocks[0]!)[0]!.inDecimals, 5)
    const contradicting = await made([stated, rowOf({ slot: 13, in: paid(7) })])
    t.strictSame([...contradicting.tally.heldBack], [['decimals-contradict', 1]])
    const ofBlock = block(14, NOON + 9, [buy(1n, 2n, { outMint: OTHER, outDecimals: 7 })])
    const { tally } = await made([stated, rowOf({ slot: 13, in: paid(7) }), archivedBlock(ofBlock)])
    t.strictSame([...tally.heldBack], [['decimals-contradict', 1]], 'a block counts before a file')
  }
)

t.test('times of files do not fall from slot to slot', async (t) => {
  const { blocks, tally } = await made([
    rowOf({ blockTime: NOON }),
    rowOf({ slot: 11, blockTime: NOON - 2 }),
    rowOf({ slot: 12, blockTime: NOON - 600 }),
    rowOf({ slot: 13, blockTime: NOON + 6_000 }),
    archivedBlock(block(14, NOON + 1, []))
  ])
  t.strictSame(
    blocks.map(({ slot, blockTime }) => [slot, blockTime - NOON]),
    [
      [10, 0],
      [11, 0],
      [14, 1]
    ]
  )
  t.strictSame([...tally.heldBack], [['time-contradicts-slot', 2]])
})

t.test('a row without a slot has the place of its time, below the first indexed slot', async (t) => {
  const timed = (time: number, number: number) =>
    rowOf({ slot: null, blockTime: time, signature: signature(number) }, number)
  const items = [
    archivedBlock(block(10, NOON, [])),
    archivedBlock(block(20, NOON + 5, [])),
    timed(NOON, 2),
    timed(NOON + 2, 3),
    timed(NOON + 7, 4),
    timed(NOON + 10, 5)
  ]
  const { blocks, tally } = await made(items, { firstLive: { slot: 30, blockTime: NOON + 10 } })
  t.strictSame(
    blocks.map(({ slot, entries }) => [slot, entries.map(({ signature }) => signature[0])]),
    [
      [10, []],
      [11, [2]],
      [14, [3]],
      [20, []],
      [24, [4]]
    ]
  )
  t.ok(trades(blocks[1]!).every((trade) => isUnstated(trade, 'slot')))
  t.equal(tally.live, 1)
})

t.test('a row without a slot is left out if a slot of its second has its signature', async (t) => {
  const { blocks, tally } = await made([
    rowOf({ blockTime: NOON }),
    rowOf({ slot: 11, blockTime: NOON + 1, signature: signature(2) }),
    rowOf({ slot: null, blockTime: NOON }),
    rowOf({ slot: null, blockTime: NOON + 1, signature: signature(3) })
  ])
  t.equal(tally.repeated, 1)
  t.strictSame(
    blocks.map(({ slot, entries }) => [slot, entries.length]),
    [
      [10, 1],
      [11, 2]
    ]
  )
})

t.test(
  'the state says before a write that the store is stale, so that a failed write harms nothing',
  async (t) => {
    const facts = new MemoryFacts()
    const { state } = await imported([[rowOf({ slot: 10 })]], facts)
    const write = async (slot: number): Promise<void> => {
      const writer = new FactWriter(facts, state, new MintDecimals(facts), 10)
      writer.addRow(rowOf({ slot, signature: signature(slot) }))
      await writer.flush()
    }
    await write(11)
    t.equal(state.value.isStale, false, 'it is after the end')
    facts.beforePut = async (list) => {
      if (list === 'row') throw new Error('the disk is full')
    }
    await t.rejects(write(9), /the disk is full/)
    const stored = await StoredState.read(facts)
    t.equal(stored!.value.isStale, true)
    facts.beforePut = async () => undefined
    await state.change({ isStale: false })
    await write(11)
    t.equal(state.value.isStale, false, 'a repeated fact changes nothing')
    t.equal(facts.count('row'), 2)
  }
)
