import fc from 'fast-check'
import t from 'tap'
import { advance } from '../virtual-time.ts'
import { randomRuns } from '../random-runs.ts'
import { absent, chainOf, emptyBlock, range, Reading } from './scripted-node.ts'

t.test('blocks come in order, each once, whatever order the answers come in', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 60))
  node.delayMs = (slot) => 1 + ((slot * 7919) % 50)
  reading.start([node], 0)
  t.ok(await reading.until(60, 5_000))
  await reading.end()
  t.same(reading.slots, range(1, 60))
  t.same(reading.gaps, [])
  t.equal(node.mostInFlight, reading.prefetch, 'as many at once as stated, and no more')
  t.same(
    [...node.asked].sort((a, b) => a - b),
    range(1, 60),
    'each is asked for once'
  )
})

t.test('with an empty store, blocks start at the newest one', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 50))
  node.headSlot = 40
  reading.start([node], null)
  t.ok(await reading.until(40, 1_000))
  node.headSlot = 43
  t.ok(await reading.until(43, 1_000))
  await reading.end()
  t.same(reading.slots, [40, 41, 42, 43])
})

t.test('skipped slots are no gap', async (t) => {
  const reading = new Reading()
  const slots = [1, 2, 5, 6, 90, 91]
  const node = reading.node('a', slots)
  node.otherwise = absent('skipped')
  reading.start([node], 0)
  t.ok(await reading.until(91, 5_000))
  await reading.end()
  t.same(reading.slots, slots)
  t.same(reading.gaps, [])
  t.same(node.asked, slots, 'nobody asks for a slot that was skipped')
})

t.test('a slot that is listed, has no block, and is passed over by a later parent is skipped', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', [1, 2, 4, 5])
  node.phantoms.add(3)
  node.otherwise = absent('skipped')
  reading.start([node], 0)
  t.ok(await reading.until(5, 60_000))
  await reading.end()
  t.same(reading.slots, [1, 2, 4, 5])
  t.same(reading.gaps, [])
  t.ok(node.asked.filter((slot) => slot === 3).length > 1, 'it was asked for')
})

t.test('a block that one node does not list comes from another, before those after it', async (t) => {
  const reading = new Reading()
  const first = reading.node(
    'a',
    range(1, 20).filter((slot) => slot !== 7 && slot !== 8)
  )
  first.blocks.set(9, emptyBlock(9, 8))
  const second = reading.node('b', range(1, 20))
  second.rank = 1
  reading.start([first, second], 0)
  t.ok(await reading.until(20, 5_000))
  await reading.end()
  t.same(reading.slots, range(1, 20))
  t.same(reading.gaps, [])
  t.same(second.asked, [7, 8], 'the other is asked for nothing else')
})

t.test('blocks that no node lists are followed back from parent to parent', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 12))
  for (const slot of [5, 6, 7]) node.unlisted.add(slot)
  reading.start([node], 0)
  t.ok(await reading.until(12, 5_000))
  await reading.end()
  t.same(reading.slots, range(1, 12))
  t.same(reading.gaps, [])
})

t.test('a block that is missing and comes before its time is over is waited for', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 10))
  const late = node.blocks.get(5)!
  node.blocks.delete(5)
  node.phantoms.add(5)
  reading.start([node], 0)
  await advance(reading.clock, 20_000)
  t.same(reading.slots, range(1, 4), 'nothing after it is given out')
  t.ok(node.asked.filter((slot) => slot === 5).length > 3, 'it was asked for again')
  node.blocks.set(5, late)
  node.phantoms.delete(5)
  t.ok(await reading.until(10, 5_000))
  await reading.end()
  t.same(reading.slots, range(1, 10))
  t.same(reading.gaps, [])
})

t.test('a block that stays missing is a gap after the stated time, and blocks go on', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 10))
  node.blocks.delete(5)
  node.blocks.delete(4)
  node.unlisted.add(5)
  reading.start([node], 0)
  await advance(reading.clock, 29_000)
  t.same(reading.log, ['1', '2', '3'])
  t.ok(await reading.until(10, 40_000))
  await reading.end()
  t.same(reading.log, ['1', '2', '3', 'missing 4-5', '6', '7', '8', '9', '10'])
})

t.test('a gap ends before the first block that follows it', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 10))
  node.blocks.delete(5)
  node.phantoms.add(5)
  reading.start([node], 2)
  t.ok(await reading.until(10, 90_000))
  await reading.end()
  t.same(reading.log, ['3', '4', 'missing 5-5', '6', '7', '8', '9', '10'])
})

t.test('pruned blocks come from the archive, and no others', async (t) => {
  const reading = new Reading()
  const chain = chainOf(range(1, 900))
  const node = reading.node('a', new Map([...chain].filter(([slot]) => slot >= 700)))
  node.otherwise = absent('pruned')
  const archive = reading.node('archive', new Map([...chain].filter(([slot]) => slot <= 800)), true)
  reading.start([node, archive], 0)
  t.ok(await reading.until(900, 30_000))
  await reading.end()
  t.same(reading.slots, range(1, 900))
  t.same(reading.gaps, [])
  t.same(
    [...new Set(archive.asked)].sort((a, b) => a - b),
    range(1, 699)
  )
})

t.test('a block that every node has pruned is a gap at once', async (t) => {
  const reading = new Reading()
  const chain = chainOf(range(1, 900))
  const node = reading.node('a', new Map([...chain].filter(([slot]) => slot >= 700)))
  node.otherwise = absent('pruned')
  const archive = reading.node('archive', new Map([...chain].filter(([slot]) => slot >= 300)), true)
  archive.otherwise = absent('skipped')
  reading.start([node, archive], 100)
  t.ok(await reading.until(900, 5_000))
  await reading.end()
  t.same(reading.log, ['pruned 101-299', ...range(300, 900).map(String)])
})

t.test('a pruned block is not given up while an archive is away', async (t) => {
  const reading = new Reading()
  const chain = chainOf(range(1, 20))
  const node = reading.node('a', new Map([...chain].filter(([slot]) => slot >= 10)))
  node.otherwise = absent('pruned')
  const archive = reading.node('archive', chain, true)
  archive.rank = null
  reading.start([node, archive], 0)
  await advance(reading.clock, 5_000)
  t.same(reading.log, [])
  archive.rank = 0
  t.ok(await reading.until(20, 10_000))
  await reading.end()
  t.same(reading.slots, range(1, 20))
  t.same(reading.gaps, [])
})

t.test('an outage of all nodes gives nothing up, however long', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 10))
  node.first.set(
    5,
    Array.from({ length: 2 }, () => absent('pending'))
  )
  reading.start([node], 0)
  t.ok(await reading.until(4, 1_000))
  node.rank = null
  await advance(reading.clock, 120_000)
  t.same(reading.gaps, [])
  node.rank = 0
  t.ok(await reading.until(10, 10_000))
  await reading.end()
  t.same(reading.slots, range(1, 10))
  t.same(reading.gaps, [])
})

t.test('a block of another fork is not given out where a node has the right one', async (t) => {
  const reading = new Reading()
  const first = reading.node('a', range(1, 10))
  first.blocks.set(6, { ...emptyBlock(6, 5, 'x'), previousBlockhash: 'h5x' })
  const second = reading.node('b', range(1, 10))
  second.rank = 1
  reading.start([first, second], 0)
  t.ok(await reading.until(10, 5_000))
  await reading.end()
  t.same(reading.slots, range(1, 10))
  t.ok(second.asked.includes(6), 'the other node was asked')
  t.same(reading.oddities, [])
})

t.test(
  'where all nodes are on another fork than what was given out, that is said and blocks go on',
  async (t) => {
    const reading = new Reading()
    const node = reading.node('a', range(1, 10))
    node.blocks.set(6, emptyBlock(6, 4))
    reading.start([node], 0)
    t.ok(await reading.until(10, 60_000))
    await reading.end()
    t.same(reading.slots, range(1, 10))
    t.match(reading.oddities, [/^6: its parent 4 is not the ingested block of slot 5/])
  }
)

t.test('what cannot be read, or has transactions of an unknown version, is a gap that says so', async (t) => {
  for (const why of ['unreadable', 'unsupported'] as const) {
    const reading = new Reading()
    const node = reading.node('a', range(1, 6))
    node.first.set(
      3,
      Array.from({ length: 1_000 }, () => absent(why))
    )
    reading.start([node], 0)
    t.ok(await reading.until(6, 60_000))
    await reading.end()
    t.same(reading.log, ['1', '2', `${why} 3-3`, '4', '5', '6'])
  }
})

t.test('a node whose slot goes backwards repeats nothing', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 40))
  node.headSlot = 30
  reading.start([node], 20)
  t.ok(await reading.until(30, 1_000))
  node.headSlot = 12
  await advance(reading.clock, 1_000)
  node.headSlot = 40
  t.ok(await reading.until(40, 1_000))
  await reading.end()
  t.same(reading.slots, range(21, 40))
})

t.test('a node that is far behind what was given out is waited for', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 40))
  node.headSlot = 12
  reading.start([node], 30)
  await advance(reading.clock, 10_000)
  t.same(reading.log, [])
  t.same(node.asked, [])
  node.headSlot = 32
  t.ok(await reading.until(32, 3_000))
  await reading.end()
  t.same(reading.log, ['31', '32'])
})

t.test('a reader that leaves ends what is in flight', async (t) => {
  const reading = new Reading()
  const node = reading.node('a', range(1, 40))
  node.delayMs = () => 60_000
  reading.start([node], 0)
  await advance(reading.clock, 100)
  t.equal(node.inFlight, reading.prefetch)
  await reading.end()
  t.equal(node.inFlight, 0)
  t.same(reading.slots, [])
})

t.test('of any chain and any faults, each block comes once and in order, or was on no node', async (t) => {
  const slot = fc.integer({ min: 1, max: 60 })
  const slots = fc.uniqueArray(slot, { maxLength: 12 })
  let gapsSeen = 0
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        skipped: slots,
        unlisted: slots,
        holes: fc.array(slots, { minLength: 3, maxLength: 3 }),
        pruned: fc.integer({ min: 0, max: 40 }),
        slow: slots,
        after: fc.integer({ min: 0, max: 20 })
      }),
      async ({ skipped, unlisted, holes, pruned, slow, after }) => {
        const reading = new Reading()
        const last = 62
        const chain = chainOf(range(1, last).filter((each) => each >= 61 || !skipped.includes(each)))
        const nodes = holes.map((missing, at) => {
          const own = [...chain].filter(
            ([each]) => each > 60 || (!missing.includes(each) && (at > 1 || each > pruned))
          )
          const node = reading.node(`n${at}`, new Map(own), at === 2)
          node.rank = at
          node.otherwise = absent(at === 2 ? 'skipped' : 'pending')
          node.delayMs = (each) => (slow.includes(each) ? 500 : 5)
          for (const each of unlisted) node.unlisted.add(each)
          return node
        })
        // The store ends with a block.
        while (after > 0 && !chain.has(after)) after--
        reading.start(nodes, after)
        const isDone = await reading.until(last, 1_500_000)
        await reading.end()
        const isGiven = new Set(reading.slots)
        const inGap = (each: number): boolean =>
          reading.gaps.some(({ from, to }) => each >= from && each <= to)
        gapsSeen += reading.gaps.length
        const due = [...chain.keys()].filter((each) => each > after)
        return (
          isDone &&
          isGiven.size === reading.slots.length &&
          reading.slots.every((each, at) => at === 0 || each > reading.slots[at - 1]!) &&
          reading.slots.every((each) => chain.has(each) && each > after) &&
          due.every((each) => isGiven.has(each) !== inGap(each)) &&
          // A slot in a gap was on no node. Or no node listed it, and the block naming it as parent was on none.
          reading.gaps.every(({ to }) => !nodes.some(({ blocks }) => blocks.has(to))) &&
          due.every(
            (each) => !inGap(each) || unlisted.includes(each) || !nodes.some(({ blocks }) => blocks.has(each))
          )
        )
      }
    ),
    randomRuns(40, 6)
  )
  t.ok(gapsSeen > 0, 'some of them had gaps')
})
