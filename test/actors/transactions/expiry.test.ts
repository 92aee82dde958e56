import t from 'tap'
import type { Submission } from '../../../src/transactions/submission.ts'
import type { FakeNode } from './fake-chain.ts'
import { TrackingWorld, type TestProcess } from './tracking-world.ts'

/** Milliseconds until the confirmed height is above the last valid one of `hash-998`: 150 blocks and two for confirmation. */
const VALID_MS = (998 + 150 + 2 + 1 - 1_000) * 400

interface Case {
  readonly name: string
  /** The fault of the node from 2 s on, and the time of its end. */
  readonly fault: (node: FakeNode) => void
  readonly over?: (node: FakeNode) => void
  readonly overMs?: number
}

const CASES: readonly Case[] = [
  { name: 'says the truth', fault: () => undefined },
  { name: 'tells a height far too high', fault: (node) => void (node.heightLie = 1_000_000) },
  {
    name: 'tells a height far too low for a while',
    fault: (node) => void (node.heightLie = -500),
    over: (node) => void (node.heightLie = 0),
    overMs: 50_000
  },
  {
    name: 'lags by 40 slots, so that it does not know the blockhash yet',
    fault: (node) => void (node.lag = 40),
    over: (node) => void (node.lag = 0),
    overMs: 30_000
  },
  {
    name: 'lags by 300 slots and tells the height of the newest',
    fault: (node) => {
      node.lag = 300
      node.heightLie = 300
    },
    over: (node) => {
      node.lag = 0
      node.heightLie = 0
    },
    overMs: 90_000
  },
  { name: 'claims a chain that is 300 slots ahead', fault: (node) => void (node.ahead = 300) },
  { name: 'has no history', fault: (node) => void (node.cacheSlots = 300) },
  {
    name: 'is away for 20 s',
    fault: (node) => void (node.isAway = true),
    over: (node) => void (node.isAway = false),
    overMs: 22_000
  },
  {
    name: 'is away when it expires',
    fault: () => undefined,
    over: (node) => void (node.isAway = true),
    overMs: 50_000
  }
]

async function expires(world: TrackingWorld, own: TestProcess, signature: string): Promise<number | null> {
  for (let passed = 0; passed < 100_000 && own.progress(signature) !== null; passed += 200)
    await world.pass(200)
  return own.progress(signature) === null ? world.clock.now() : null
}

for (const hasBlocks of [false, true])
  for (const { name, fault, over, overMs = 0 } of CASES)
    t.test(
      `a node that ${name} ends no tracking before a transaction can land no more, ${hasBlocks ? 'with' : 'without'} blocks`,
      async (t) => {
        const world = new TrackingWorld()
        world.chain.hasBlocks = hasBlocks
        const own = world.start()
        own.shard.begin(await world.submit('a'))
        await world.pass(2_000)
        fault(own.node)
        if (over !== undefined) {
          await world.pass(overMs - world.clock.now())
          t.equal(own.progress('a')?.state, 'sent', 'it is tracked until then')
          over(own.node)
        }
        if (own.node.isAway) {
          await world.pass(60_000)
          t.equal(own.progress('a')?.state, 'sent', 'an absent node proves nothing')
          own.node.isAway = false
        }
        const endedAtMs = await expires(world, own, 'a')
        t.ok(endedAtMs !== null && endedAtMs >= VALID_MS, `it ends at ${endedAtMs}`)
        t.match((await world.stored('a')).value, { wire: null, end: { state: 'expired', slot: null } })
        const sends = world.chain.sendsOf('a')
        t.ok(sends.at(-1)! <= endedAtMs!)
        t.equal((await world.stored('a')).value.end!.rebroadcasts, sends.length - 1)
        await world.pass(6_000)
        t.equal(world.chain.sendsOf('a').length, sends.length, 'nothing is sent after its end')
        t.same(own.faults, [])
        own.kill()
      }
    )

t.test('where leaders skip slots a transaction is sent for all blocks in which it can land', async (t) => {
  for (const [hasBlocks, hasSlots] of [
    [true, true],
    [false, true],
    [false, false]
  ] as const) {
    const world = new TrackingWorld()
    const { chain } = world
    Object.assign(chain, { hasBlocks, hasSlots, skipEvery: 4 })
    const own = world.start()
    own.shard.begin(await world.submit('a'))
    let validUntilMs = 0
    while (own.progress('a') !== null && world.clock.now() < 200_000) {
      if (chain.isValid(998)) validUntilMs = world.clock.now()
      await world.pass(200)
    }
    t.match((await world.stored('a')).value.end, { state: 'expired' })
    t.ok(
      chain.sendsOf('a').at(-1)! > validUntilMs - 2_200,
      `sent at the last valid instants, ${validUntilMs}`
    )
    t.ok(world.clock.now() > validUntilMs && validUntilMs > 75_000, 'no block too early')
    own.kill()
  }
})

t.test('a transaction that lands in the last valid block, and is seen late, does not expire', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  own.shard.begin(await world.submit('a'))
  await world.pass(VALID_MS - 1_000)
  own.node.statusLag = 40
  world.chain.land('a')
  await world.pass(12_000)
  t.equal(own.progress('a')?.state, 'sent', 'the status is too old to prove anything')
  own.node.statusLag = 0
  await world.pass(20_000)
  t.match((await world.stored('a')).value.end, { state: 'finalized' })
  own.kill()
})

t.test('without history a transaction that landed while nobody asked does not expire', async (t) => {
  const world = new TrackingWorld()
  const first = world.start()
  first.node.cacheSlots = 300
  first.shard.begin(await world.submit('a'))
  await world.pass(3_000)
  first.kill()
  world.chain.land('a')
  await world.pass(200_000)
  const next = world.start()
  next.node.cacheSlots = 300
  await next.shard.sync()
  await world.pass(100_000)
  t.equal(next.progress('a')?.state, 'sent', 'the cache has forgotten it, which proves nothing')
  next.node.cacheSlots = null
  await world.pass(10_000)
  t.match((await world.stored('a')).value.end, { state: 'finalized' })
  next.kill()
})

t.test('without history a durable nonce is followed to its end', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  own.node.cacheSlots = 300
  world.chain.nonces.set('N', 'nonce-1')
  const nonce = { nonceAccount: 'N', blockhash: 'nonce-1' }
  for (const signature of ['lands', 'expires']) own.shard.begin(await world.submit(signature, nonce))
  await world.pass(100_000)
  world.chain.nonces.set('N', 'nonce-2')
  own.shard.begin(await world.submit('used', nonce))
  world.chain.land('lands')
  await world.pass(90_000)
  t.match((await world.stored('lands')).value.end, { state: 'finalized' })
  t.match((await world.stored('expires')).value.end, { state: 'expired' })
  t.equal(own.progress('used')?.state, 'sent', 'its nonce was used before: who knows by which transaction')
  own.kill()
})

t.test(
  'a durable nonce is followed until it advances: sent for 60 s, then not, and landed or expired',
  async (t) => {
    const world = new TrackingWorld()
    const { chain } = world
    const own = world.start()
    chain.nonces.set('N', 'nonce-1')
    const nonce = { nonceAccount: 'N', blockhash: 'nonce-1' }
    for (const signature of ['lands', 'expires']) own.shard.begin(await world.submit(signature, nonce))
    await world.pass(300_000)
    t.equal(chain.sendsOf('lands').length, 30, 'sent at 0, 2, … 58 s')
    t.match(own.progress('lands'), { state: 'sent', lastValidBlockHeight: null })
    chain.land('lands')
    chain.nonces.set('N', 'nonce-2')
    await world.pass(90_000)
    t.match((await world.stored('lands')).value.end, { state: 'finalized' })
    t.match((await world.stored('expires')).value.end, { state: 'expired' })
    t.same(own.faults, [])
    own.kill()
  }
)

t.test(
  'a nonce that another transaction has used up in a confirmed block ends the others at once, without a node',
  async (t) => {
    const world = new TrackingWorld()
    const { chain } = world
    chain.hasBlocks = true
    const own = world.start()
    own.node.isAway = true
    const nonces: Readonly<Record<string, Partial<Submission>>> = {
      spent: { nonceAccount: 'N', blockhash: 'nonce-1' },
      'of a later value': { nonceAccount: 'N', blockhash: 'nonce-2' },
      'of another account': { nonceAccount: 'M', blockhash: 'nonce-1' },
      'with a blockhash': { blockhash: 'nonce-1' },
      user: { nonceAccount: 'N', blockhash: 'nonce-1' }
    }
    for (const [signature, nonce] of Object.entries(nonces))
      own.shard.begin(await world.submit(signature, nonce))
    await world.pass(3_000)
    chain.spend('N', { value: 'nonce-1', next: 'nonce-2', signature: 'user' })
    await world.pass(2_000)
    t.match((await world.stored('spent')).value.end, { state: 'expired' })
    for (const signature of Object.keys(nonces).slice(1))
      t.match(own.progress(signature), { state: 'sent' }, `the one ${signature} may land`)
    t.same(own.faults, [])
    own.kill()
  }
)

t.test(
  'a nonce that is used up in a block at processed, or on a fork that was lost, is left to the node',
  async (t) => {
    for (const isFork of [false, true]) {
      const world = new TrackingWorld()
      const { chain } = world
      chain.hasBlocks = true
      chain.nonces.set('N', 'nonce-1')
      const own = world.start()
      own.shard.begin(await world.submit('a', { nonceAccount: 'N', blockhash: 'nonce-1' }))
      await world.pass(200_000)
      const asked = own.node.requests.get('nonce')!
      const use = { value: 'nonce-1', next: 'nonce-1', signature: 'b' }
      chain.spend('N', use, isFork ? 'confirmed' : 'processed')
      if (isFork) chain.fork(chain.slot - 1)
      await world.pass(3_000)
      t.match(own.progress('a'), { state: 'sent' })
      if (!isFork) t.equal(own.node.requests.get('nonce'), asked + 1, 'it is asked before it is due')
      chain.nonces.set('N', 'nonce-2')
      await world.pass(20_000)
      t.match((await world.stored('a')).value.end, { state: 'expired' }, 'by the word of the node')
      own.kill()
    }
  }
)

t.test(
  'a nonce whose older value a lagging node tells does not expire, nor one that was never seen before 150 blocks',
  async (t) => {
    const world = new TrackingWorld()
    const own = world.start()
    world.chain.nonces.set('N', 'nonce-0')
    own.shard.begin(await world.submit('a', { nonceAccount: 'N', blockhash: 'nonce-1' }))
    await world.pass(50_000)
    t.equal(own.progress('a')?.state, 'sent')
    world.chain.nonces.set('N', 'nonce-1')
    await world.pass(100_000)
    t.equal(own.progress('a')?.state, 'sent', 'the node has caught up')
    world.chain.nonces.delete('N')
    await world.pass(70_000)
    t.match((await world.stored('a')).value.end, { state: 'expired' }, 'its account was closed')
    own.kill()
  }
)

t.test(
  'a node alone is believed 90 s after the reception, and beside committed slots after 180 of them',
  async (t) => {
    for (const [hasSlots, atMs] of [
      [false, 90_000],
      [true, 180 * 400]
    ] as const) {
      const world = new TrackingWorld()
      world.chain.hasSlots = hasSlots
      const own = world.start()
      own.shard.begin(await world.submit('a'))
      const endedAtMs = await expires(world, own, 'a')
      t.ok(endedAtMs! >= atMs && endedAtMs! < atMs + 4_000, `it ends at ${endedAtMs}`)
      own.kill()
    }
  }
)

t.test('a blockhash of no block that was read has the blocks before them as its bound', async (t) => {
  for (const [readFrom, blockhash, last] of [
    [900, 'hash-870', 1_049],
    [900, 'foreign', 1_049],
    [1_010, 'foreign', 1_148]
  ] as const) {
    const world = new TrackingWorld()
    world.chain.hasBlocks = true
    world.chain.readFrom = readFrom
    const own = world.start()
    own.shard.begin(await world.submit('a', { blockhash }))
    await world.pass(10_000)
    t.match(own.progress('a'), { state: 'sent', lastValidBlockHeight: 1_148 }, 'it may be a newer one')
    await world.pass(8_000)
    t.match(own.progress('a'), { state: 'sent', lastValidBlockHeight: last })
    const endedAtMs = await expires(world, own, 'a')
    const reachedMs = (last + 1 + 2 - 1_000) * 400
    t.ok(endedAtMs! >= reachedMs && endedAtMs! < reachedMs + 4_000, `it ends at ${endedAtMs}`)
    own.kill()
  }
})

t.test('a blockhash that is newer than the blocks read so far is not taken for an old one', async (t) => {
  const world = new TrackingWorld()
  const { chain } = world
  chain.hasBlocks = true
  chain.readFrom = 950
  const own = world.start()
  own.shard.begin(await world.submit('a', { blockhash: 'hash-1010' }))
  await world.pass(4_000)
  t.equal(own.progress('a')?.lastValidBlockHeight, 1_148)
  await world.pass(4_000)
  t.equal(own.progress('a')?.lastValidBlockHeight, 1_160, 'its block was read')
  own.kill()
})

t.test(
  'without history a transaction that can land no more is left at what is known of it after ten minutes',
  async (t) => {
    const world = new TrackingWorld()
    const first = world.start()
    world.chain.nonces.set('N', 'nonce-1')
    first.shard.begin(await world.submit('sent'))
    first.shard.begin(await world.submit('nonce', { nonceAccount: 'N', blockhash: 'nonce-1' }))
    await world.pass(3_000)
    first.kill()
    world.chain.nonces.set('N', 'nonce-2')
    world.chain.land('sent')
    await world.pass(200_000)
    const next = world.start()
    next.node.cacheSlots = 300
    await next.shard.sync()
    await world.pass(500_000)
    t.match(next.progress('sent'), { state: 'sent' })
    await world.pass(200_000)
    for (const signature of ['sent', 'nonce'])
      t.match(
        (await world.stored(signature)).value,
        { wire: null, end: { state: 'sent', slot: null } },
        signature
      )
    t.equal(next.tracker.size, 0)
    t.ok(
      next.published.every(({ progress }) => progress.state === 'sent'),
      'nothing has become known'
    )
    next.kill()
  }
)

t.test(
  'a landed transaction whose block a node without history has forgotten is not taken for dropped',
  async (t) => {
    const world = new TrackingWorld()
    const first = world.start()
    first.shard.begin(await world.submit('a'))
    await world.pass(1_000)
    world.chain.land('a')
    await world.pass(3_000)
    t.match(first.progress('a'), { state: 'confirmed' })
    first.kill()
    const sends = world.chain.sendsOf('a').length
    await world.pass(200_000)
    const next = world.start()
    next.node.cacheSlots = 300
    await next.shard.sync()
    await world.pass(60_000)
    t.match(next.progress('a'), { state: 'confirmed' })
    t.equal(world.chain.sendsOf('a').length, sends)
    next.kill()
  }
)

t.test('a durable nonce that does not advance is followed for a day', async (t) => {
  const world = new TrackingWorld()
  world.chain.nonces.set('N', 'nonce-1')
  const nonce = { nonceAccount: 'N', blockhash: 'nonce-1' }
  await world.submit('a', { ...nonce, receivedAtMs: 300_000 - 86_400_000 })
  const own = world.start()
  await own.shard.sync()
  await world.pass(590_000)
  t.match(own.progress('a'), { state: 'sent' }, 'a process that takes it over looks for a while')
  await world.pass(20_000)
  t.match((await world.stored('a')).value, { wire: null, end: { state: 'sent' } })
  const day = await world.submit('b', nonce)
  own.shard.begin(day)
  await world.pass(700_000)
  t.match(own.progress('b'), { state: 'sent' }, 'a new one for longer')
  own.kill()
})
