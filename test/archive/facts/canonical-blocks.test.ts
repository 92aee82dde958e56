import fc from 'fast-check'
import t from 'tap'
import { CanonicalBlocks, HeadContradicted } from '../../../src/archive/facts/canonical-blocks.ts'
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
import { anyBlock, anyRow, anySlotTime, archivedBlock, rowOf, signature } from './any-facts.ts'
import { MemoryFacts } from './memory-facts.ts'

/** The time of a slot, as a node states it. */
interface SlotTime {
  readonly timedSlot: number
  readonly time: number
}

type Item = ArchivedRow | ArchivedBlock | SlotTime

/** Stores facts by one import after another. */
async function imported(imports: readonly (readonly Item[])[], facts = new MemoryFacts()) {
  const state = (await StoredState.read(facts)) ?? (await StoredState.begin(facts, newState(true)))
  for (const items of imports) {
    await addAll(new FactWriter(facts, state, new MintDecimals(facts), null), items)
  }
  return { facts, state }
}

async function addAll(writer: FactWriter, items: readonly Item[]): Promise<void> {
  for (const item of items) {
    if ('timedSlot' in item) await writer.addTimes(new Map([[item.timedSlot, item.time]]))
    else if ('block' in item) await writer.addBlock(item)
    else writer.addRow(item)
    // Batches of different lengths.
    if (writer.pendingRows > 3) await writer.flush()
  }
  await writer.flush()
}

type Stored = Awaited<ReturnType<typeof imported>>

async function blocksOf(
  { facts, state }: Stored,
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
      .array(
        fc.oneof(
          { weight: 5, arbitrary: anyRow },
          { weight: 1, arbitrary: anyBlock },
          { weight: 1, arbitrary: anySlotTime }
        ),
        { maxLength: 40 }
      )
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

t.test('an import that does not make the store stale changes no block that is folded', async (t) => {
  let unchanging = 0
  const items = fc.array(
    fc.oneof({ weight: 6, arbitrary: anyRow }, { weight: 1, arbitrary: anyBlock }, anySlotTime),
    { minLength: 1, maxLength: 6 }
  )
  const property = fc.asyncProperty(
    fc.array(items, { minLength: 2, maxLength: 6 }),
    fc.boolean(),
    async (imports, hasSlots) => {
      const facts = new MemoryFacts()
      const state = await StoredState.begin(facts, newState(true))
      let folded: DecodedBlock[] = []
      for (const all of imports) {
        const some = hasSlots ? all.filter((item) => !('fact' in item) || item.fact.slot !== null) : all
        const head = folded.at(-1)?.slot ?? null
        const count = facts.count('row')
        const writer = new FactWriter(facts, state, new MintDecimals(facts), head)
        await addAll(writer, some)
        let hasHeldBack = false
        const onHeldBack = async (): Promise<void> => void (hasHeldBack = true)
        const { blocks } = await blocksOf({ facts, state }, { onHeldBack })
        const isRefolded = state.value.isStale || (await contradictsHead({ facts, state }, folded.at(-1)))
        if (!isRefolded && head !== null) {
          t.strictSame(
            blocks.filter(({ slot }) => slot <= head),
            folded
          )
          if (facts.count('row') > count) unchanging++
        }
        await state.change({ isStale: false, hasHeldBack })
        folded = blocks
      }
    }
  )
  await fc.assert(property, randomRuns(200))
  t.ok(unchanging > 10, `${unchanging} imports add rows that change nothing`)
})

/** Returns whether a fold after the head says that the head is contradicted. */
async function contradictsHead(stored: Stored, head: DecodedBlock | undefined): Promise<boolean> {
  try {
    await blocksOf(stored, { after: head ?? null })
    return false
  } catch (error) {
    if (error instanceof HeadContradicted) return true
    throw error
  }
}

t.test('a block that contradicts the time of the head, if its trades are of files, is said', async (t) => {
  const head = (await made([rowOf()])).blocks[0]!
  const early = archivedBlock(block(11, NOON - 100, []))
  const stored = await imported([[rowOf()], [early]])
  t.ok(await contradictsHead(stored, head))
  t.notOk(await contradictsHead(stored, { ...head, parentSlot: 9 }), 'a whole block stays')
  t.strictSame((await blocksOf(stored)).blocks, [early.block], 'a fold of everything holds the trades back')
  const later = await imported([[rowOf(), rowOf({ slot: 11 })], [archivedBlock(block(12, NOON - 100, []))]])
  t.notOk(await contradictsHead(later, head), 'it is not the next slot')
})

t.test('facts that change no block do not make the store stale', async (t) => {
  const whole = archivedBlock(block(10, NOON, [buy(1n, 2n)]))
  const placed = rowOf({ slot: 11 })
  const { facts, state } = await imported([[whole, placed]])
  const added = async (...items: readonly Item[]) => {
    const writer = new FactWriter(facts, state, new MintDecimals(facts), 12)
    await addAll(writer, items)
    return { isStale: state.value.isStale, ...writer.unchanging }
  }
  t.strictSame(
    await added(
      rowOf(),
      rowOf({ signature: signature(2) }),
      rowOf({ slot: 11, pool: null, trader: null }, 9),
      {
        ...archivedBlock(block(10, NOON, [])),
        decoderVersion: 1
      }
    ),
    { isStale: false, superseded: 2, repeated: 1 }
  )
  t.strictSame(await added(rowOf({ slot: 11, solUsd: 140 })), { isStale: true, superseded: 0, repeated: 0 })
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
