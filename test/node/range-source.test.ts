import t from 'tap'
import type { SlotGap } from '../../src/node/chain-node.ts'
import { RangeSource, type SlotSpan } from '../../src/node/range-source.ts'
import { settle, virtualClock } from '../virtual-time.ts'
import { absent, chainOf, range, ScriptedNode } from './scripted-node.ts'

const SLOTS = range(100, 160).filter((slot) => slot % 6 !== 0)

/** Reads ranges to their end on a virtual clock. */
async function read(
  node: ScriptedNode,
  clock: ReturnType<typeof virtualClock>,
  ranges: readonly SlotSpan[],
  { after = null as number | null, continues = true } = {}
) {
  const lost: SlotGap[] = []
  const faults: string[] = []
  const source = new RangeSource([node], {
    ...{ ranges, prefetch: 4, giveUpMs: 30_000, clock, random: () => 1 },
    onLost: async (gap) => {
      lost.push(gap)
      return continues
    },
    onFault: (detail) => void faults.push(detail)
  })
  const slots: number[] = []
  let isOver = false
  const reading = (async () => {
    for await (const { block, commitment, receivedAtMs } of source.blocks({
      after,
      signal: new AbortController().signal
    })) {
      t.same([commitment, receivedAtMs], ['finalized', block.blockTime * 1_000])
      slots.push(block.slot)
    }
    isOver = true
  })()
  while (!isOver) {
    clock.increment(50)
    await settle()
  }
  await reading
  return { slots, lost, faults, reached: source.reached }
}

const within = (from: number, to: number): number[] => SLOTS.filter((slot) => slot >= from && slot <= to)

t.test('blocks of ranges come once and ascending, also those that no list has', async (t) => {
  const clock = virtualClock()
  const node = new ScriptedNode(clock, 'node', chainOf(SLOTS))
  for (const slot of [111, 112, 113, 121]) node.unlisted.add(slot)
  node.delayMs = (slot) => 1 + ((slot * 7) % 40)
  const { slots, lost, reached } = await read(node, clock, [
    { from: 103, to: 130 },
    { from: 140, to: 141 }
  ])
  t.same(slots, [...within(103, 130), ...within(140, 141)])
  t.same(lost, [])
  t.equal(reached, 141)
  t.ok(node.mostInFlight <= 5, 'a parent may be added to those in flight')
  const { slots: rest } = await read(node, clock, [{ from: 103, to: 130 }], { after: 112 })
  t.same(rest, within(113, 130), 'blocks after the end of a store')
})

t.test('faults of lists and of blocks are waited for', async (t) => {
  const clock = virtualClock()
  const node = new ScriptedNode(clock, 'node', chainOf(SLOTS))
  node.listFails = 3
  node.first.set(104, [absent('fault'), absent('unavailable')])
  // Longer than a block may be missing while nodes answer: the node limits the rate, and answers nothing.
  node.first.set(
    110,
    Array.from({ length: 30 }, () => absent('unavailable'))
  )
  const { slots, lost, faults } = await read(node, clock, [{ from: 103, to: 120 }])
  t.same([slots, lost], [within(103, 120), []])
  t.match(faults, ['node: HTTP 500', 'node: HTTP 500', 'node: HTTP 500', /fault|unavailable/])
  t.equal(faults.length, 3 + 2 + 30)
})

t.test('lost blocks end the ranges, or are left out', async (t) => {
  const clock = virtualClock()
  const node = new ScriptedNode(clock, 'node', chainOf(SLOTS))
  node.blocks.delete(110)
  node.phantoms.add(110)
  const left = await read(node, clock, [{ from: 103, to: 115 }])
  t.same(
    left.slots,
    within(103, 115).filter((slot) => slot !== 110)
  )
  t.match(left.lost, [{ from: 110, to: 110, reason: 'missing' }])
  const ended = await read(node, clock, [{ from: 103, to: 115 }], { continues: false })
  t.same(ended.slots, within(103, 109))
  t.equal(ended.reached, 109)
})

t.test('of many unlisted blocks the newest are read, and the others are lost', async (t) => {
  const clock = virtualClock()
  const node = new ScriptedNode(clock, 'node', chainOf(SLOTS))
  for (const slot of within(105, 150)) node.unlisted.add(slot)
  const { slots, lost } = await read(node, clock, [{ from: 101, to: 155 }])
  const unlisted = within(105, 150)
  const parents = unlisted.slice(-16)
  t.same(slots, [...within(101, 104), ...parents, ...within(151, 155)])
  t.match(lost, [{ from: 105, to: unlisted.at(-17), reason: 'missing' }])
})
