import fc from 'fast-check'
import t from 'tap'
import type { Block } from '../../src/chain/transaction.ts'
import type { RollbackSearch, StrangeBlock } from '../../src/node/rollback.ts'
import { ChainOrder } from '../../src/yellowstone/chain-order.ts'
import type { StreamGap } from '../../src/yellowstone/order-options.ts'
import { HeldBlocks } from '../../src/yellowstone/held-blocks.ts'
import type { StreamedBlock } from '../../src/yellowstone/read-block.ts'
import { virtualClock } from '../virtual-time.ts'
import { randomRuns } from '../random-runs.ts'

const AFTER = 100

/** A chain from slot 101 on in which some slots have no block. */
const chains = fc
  .array(fc.boolean(), { minLength: 1, maxLength: 40 })
  .map((has) => has.flatMap((each, at) => (each ? [AFTER + 1 + at] : [])))
  .filter((slots) => slots.length > 0)

/** A node's answer about a slot: the truth, no answer, or wrongly that there is no block. */
type Answer = 'true' | 'none' | 'skipped' | 'another'

const cases = chains.chain((slots) =>
  fc.record({
    slots: fc.constant(slots),
    /** The order in which the stream delivers slots, some twice and some never; the last one always comes. */
    stream: fc.array(fc.constantFrom(...slots), { maxLength: 60 }).map((some) => [...some, slots.at(-1)!]),
    answers: fc.array(fc.constantFrom<Answer>('true', 'true', 'none', 'skipped', 'another'), {
      minLength: 41,
      maxLength: 41
    }),
    hasNode: fc.boolean()
  })
)

t.test(
  'whatever comes in whatever order, each slot is given out once, told as a gap, or has no block',
  async (t) => {
    const fired = { fetched: 0, gaps: 0, repeated: 0, doubted: 0 }
    await fc.assert(
      fc.asyncProperty(cases, async ({ slots, stream, answers, hasNode }) => {
        const blockOf = (slot: number): StreamedBlock => {
          const at = slots.indexOf(slot)
          const parentSlot = at === 0 ? AFTER : slots[at - 1]!
          const hashes = { blockhash: `hash-${slot}`, parentBlockhash: `hash-${parentSlot}` }
          return { slot, parentSlot, blockTime: slot, transactions: [], votes: 0, unreadable: [], ...hashes }
        }
        const clock = virtualClock()
        const held = new HeldBlocks({ blocksMax: 1_000, bytesMax: 1_000 })
        const gaps: StreamGap[] = []
        const end = new AbortController()
        let place = 0
        const fetchMissing = async (slot: number): Promise<Block | 'skipped' | null> => {
          const answer = answers[slot - AFTER - 1]
          if (answer === 'none') return null
          if (answer === 'another') return blockOf(slots[0]!)
          if (answer === 'skipped' || !slots.includes(slot)) return 'skipped'
          const { slot: own, parentSlot, blockTime, transactions, votes } = blockOf(slot)
          return { slot: own, parentSlot, blockTime, transactions, votes }
        }
        const order: ChainOrder = new ChainOrder(held, AFTER, {
          commitment: 'confirmed',
          clock,
          tuning: { graceMs: 0, giveUpMs: 0, retryMs: 0, prefetch: 3 },
          fetchMissing: hasNode ? fetchMissing : null,
          onGap: (gap) => void gaps.push(gap),
          onFork: (fork) => void t.fail(`a fork: ${JSON.stringify(fork)}`),
          onOddity: (_, detail) => void (fired.doubted += Number(detail.includes('skipped'))),
          arrival: async () => {
            const slot = stream[place++]
            if (slot === undefined) end.abort()
            else held.add({ block: blockOf(slot), bytes: 1, receivedAtMs: 0 })
          },
          onTaken: () => undefined
        })
        const given: number[] = []
        const early: number[] = []
        for await (const { block } of order.blocks(end.signal)) {
          given.push(block.slot)
          early.push(...gaps.filter(({ from }) => from > block.slot).map(({ from }) => from))
        }
        const inGaps = slots.filter((slot) => gaps.some(({ from, to }) => from <= slot && slot <= to))
        const all = [...given, ...inGaps].sort((a, b) => a - b)
        const isRising = given.every((slot, at) => at === 0 || slot > given[at - 1]!)
        fired.fetched += order.counts.fetched
        fired.repeated += order.counts.repeated
        fired.gaps += gaps.length
        if (!isRising || JSON.stringify(all) !== JSON.stringify(slots) || early.length > 0 || held.size > 0) {
          throw new Error(JSON.stringify({ slots, given, gaps, early }))
        }
      }),
      randomRuns(1_000, 7)
    )
    for (const [what, count] of Object.entries(fired)) t.ok(count > 20, `${what}: ${count}`)
  }
)

t.test("a block that follows another block of its parent's slot is a fork", async (t) => {
  const clock = virtualClock()
  const held = new HeldBlocks({ blocksMax: 10, bytesMax: 10 })
  const end = new AbortController()
  const forks: unknown[] = []
  const block = (slot: number, blockhash: string, parentBlockhash: string): StreamedBlock => ({
    ...{ slot, parentSlot: slot - 1, blockTime: slot, transactions: [], votes: 0, unreadable: [] },
    ...{ blockhash, parentBlockhash }
  })
  const come = [block(1, 'a', 'x'), block(2, 'b', 'a'), block(3, 'd', 'c')]
  const order: ChainOrder = new ChainOrder(held, null, {
    commitment: 'processed',
    clock,
    tuning: { graceMs: 0, giveUpMs: 0, retryMs: 0, prefetch: 1 },
    fetchMissing: null,
    onGap: () => void t.fail('a gap'),
    onFork: (fork) => void forks.push(fork),
    onOddity: () => undefined,
    arrival: async () => {
      const next = come.shift()
      if (next === undefined) end.abort()
      else held.add({ block: next, bytes: 1, receivedAtMs: 0 })
    },
    onTaken: () => undefined
  })
  const given: number[] = []
  for await (const sourced of order.blocks(end.signal)) given.push(sourced.block.slot)
  t.same(given, [1, 2, 3])
  t.same(forks, [{ slot: 3, parentSlot: 2, head: 2 }])
})

t.test(
  'a block that does not follow waits until its rollback is proven, and then comes with it',
  async (t) => {
    const held = new HeldBlocks({ blocksMax: 10, bytesMax: 10 })
    const end = new AbortController()
    const asked: StrangeBlock[] = []
    const doubts: (string | null)[] = []
    async function* none(): AsyncGenerator<never> {}
    const rollback = { after: 95, doubt: null, blocks: none() }
    const block = { slot: 102, parentSlot: 100, blockTime: 102, transactions: [], votes: 0, unreadable: [] }
    held.add({ block: { ...block, blockhash: 'b', parentBlockhash: 'new' }, bytes: 1, receivedAtMs: 0 })
    const options = {
      commitment: 'confirmed',
      clock: { now: () => 0, setTimeout: (fire: () => void) => setTimeout(fire, 0), clearTimeout },
      tuning: { graceMs: 0, giveUpMs: 0, retryMs: 0, prefetch: 1 },
      fetchMissing: null,
      rollbacks: {
        find: async (strange: StrangeBlock) => {
          asked.push(strange)
          return asked.length < 3
            ? ({ kind: 'unproven', reason: 'no node answers' } as const)
            : ({ kind: 'rollback', rollback } as const)
        }
      },
      onDoubt: (reason: string | null) => void doubts.push(reason),
      onGap: () => void t.fail('a gap'),
      onFork: () => undefined,
      onOddity: () => undefined,
      arrival: async () => end.abort(),
      onTaken: () => undefined
    } as const
    const order = new ChainOrder(held, 100, options, 'stored')
    const given = []
    for await (const sourced of order.blocks(end.signal)) given.push(sourced)
    t.match(given, [{ block: { slot: 102 }, rollback: { after: 95 } }])
    t.equal(given.length, 1)
    t.same(asked[0], { slot: 102, parentSlot: 100, parentBlockhash: 'new', head: 100 })
    t.match(doubts, [/slot 102 does not follow slot 100.*no node answers/, /no node/, null])
  }
)

/**
 * Delivers block 100, abandons 101 to 104, and then gets 105. Returns the delivered blocks, and the earlier gaps and forks.
 */
async function afterGap(search: RollbackSearch) {
  const held = new HeldBlocks({ blocksMax: 10, bytesMax: 10 })
  const end = new AbortController()
  const asked: StrangeBlock[] = []
  const told: unknown[] = []
  const block = { slot: 105, parentSlot: 104, blockTime: 105, transactions: [], votes: 0, unreadable: [] }
  held.add({ block: { ...block, blockhash: 'b', parentBlockhash: 'a' }, bytes: 1, receivedAtMs: 0 })
  const order = new ChainOrder(
    held,
    100,
    {
      commitment: 'confirmed',
      clock: virtualClock(),
      tuning: { graceMs: 0, giveUpMs: 0, retryMs: 0, prefetch: 1 },
      fetchMissing: async () => null,
      rollbacks: {
        find: async (strange) => {
          asked.push(strange)
          return search
        }
      },
      onGap: (gap) => void told.push(gap),
      onFork: (fork) => void told.push(fork),
      onOddity: () => undefined,
      arrival: async () => end.abort(),
      onTaken: () => undefined
    },
    'stored'
  )
  const given = []
  for await (const { block, rollback } of order.blocks(end.signal)) given.push({ slot: block.slot, rollback })
  return { asked, told, given }
}

t.test(
  'after a gap it is asked whether the last block is still of the chain, before a block comes',
  async (t) => {
    const { asked, told, given } = await afterGap({ kind: 'follows' })
    t.same(asked, [{ slot: 105, parentSlot: 104, parentBlockhash: 'a', head: 100, isAfterGap: true }])
    t.same(given, [{ slot: 105, rollback: undefined }])
    t.same(told, [{ from: 101, to: 104, reason: 'missing' }])
  }
)

t.test('where a node was put back meanwhile, the rollback comes in place of the gap', async (t) => {
  async function* none(): AsyncGenerator<never> {}
  const rollback = { after: 95, doubt: null, blocks: none() }
  const { told, given } = await afterGap({ kind: 'rollback', rollback })
  t.same(given, [{ slot: 105, rollback }])
  t.same(told, [{ slot: 105, parentSlot: 95, head: 100 }])
})

t.test('a held block of before a server was put back gives way to the one in its place', async (t) => {
  const clock = { now: () => 0, setTimeout: (fire: () => void) => setTimeout(fire, 0), clearTimeout }
  const held = new HeldBlocks({ blocksMax: 10, bytesMax: 10 })
  const end = new AbortController()
  const doubts: (string | null)[] = []
  const block = { slot: 101, parentSlot: 100, blockTime: 101, transactions: [], votes: 0, unreadable: [] }
  held.add({ block: { ...block, blockhash: 'old', parentBlockhash: 'lost' }, bytes: 1, receivedAtMs: 0 })
  const order = new ChainOrder(
    held,
    100,
    {
      commitment: 'confirmed',
      clock,
      tuning: { graceMs: 0, giveUpMs: 0, retryMs: 0, prefetch: 1 },
      fetchMissing: async () => ({ ...block, blockhash: 'new', parentBlockhash: 'stored' }),
      rollbacks: { find: async () => ({ kind: 'unproven', reason: 'it still has the stored block' }) },
      onDoubt: (reason) => void doubts.push(reason),
      onGap: () => void t.fail('a gap'),
      onFork: () => void t.fail('a fork'),
      onOddity: () => undefined,
      arrival: async () => end.abort(),
      onTaken: () => undefined
    },
    'stored'
  )
  const given = []
  for await (const sourced of order.blocks(end.signal)) given.push(sourced.block.blockhash)
  t.same(given, ['new'])
  t.match(doubts, [/slot 101 does not follow slot 100/, null])
  t.equal(held.size, 0)
})
