import t from 'tap'
import type { SignatureStatus } from '../../../src/transactions/ports.ts'
import { TrackingWorld, type TestProcess } from './tracking-world.ts'

const FINALIZED = { confirmations: null, err: null, commitment: 'finalized' } as const

/** Lets a node state that every transaction is finalized in a slot; null ends the lie. */
function lie(own: TestProcess, slot: ((contextSlot: number) => number) | null): void {
  own.node.lies = (_, contextSlot): SignatureStatus | undefined =>
    slot === null ? undefined : { ...FINALIZED, slot: slot(contextSlot) }
}

const statesOf = (own: TestProcess, signature: string): string[] =>
  own.published.filter((each) => each.signature === signature).map(({ progress }) => progress.state)

for (const hasBlocks of [true, false])
  t.test(
    `a slot that is impossible is believed of no single node, ${hasBlocks ? 'with' : 'without'} blocks`,
    async (t) => {
      for (const slot of [() => 5, () => 1_000 - 181, (contextSlot: number) => contextSlot + 1]) {
        const world = new TrackingWorld()
        world.chain.hasBlocks = hasBlocks
        const own = world.start()
        own.node.nodes = 1
        lie(own, slot)
        for (const signature of ['lands', 'waits', 'expires'])
          own.shard.begin(await world.submit(signature, { receivedSlot: 1_000 }))
        await world.pass(22_000)
        for (const signature of ['lands', 'waits', 'expires'])
          t.match(own.progress(signature), { state: 'sent', slot: null })
        t.equal(world.chain.sendsOf('waits').length, 12, 'the loop goes on')
        lie(own, null)
        world.chain.land('lands')
        await world.pass(110_000)
        t.match((await world.stored('lands')).value.end, { state: 'finalized', slot: 1_055 })
        t.match((await world.stored('expires')).value.end, { state: 'expired' })
        t.same(own.faults, [])
        own.kill()
      }
    }
  )

t.test(
  'without blocks a possible slot is shown, and taken back with a change once the node denies it',
  async (t) => {
    const world = new TrackingWorld()
    const own = world.start()
    own.node.nodes = 1
    own.shard.begin(await world.submit('a'))
    await world.pass(500)
    lie(own, () => 1_001)
    await world.pass(8_000)
    t.match(
      own.progress('a'),
      { state: 'confirmed', slot: 1_001, evidence: 'claim' },
      'it is not final at once'
    )
    await world.pass(14_000)
    t.match(own.progress('a'), { state: 'finalized', slot: 1_001, evidence: 'claim' })
    t.match((await world.stored('a')).value, { end: null, wire: Buffer.from('a') })
    const sends = world.chain.sendsOf('a').length
    lie(own, null)
    await world.pass(16_000)
    t.match(own.progress('a'), { state: 'sent', slot: null, evidence: null })
    t.ok(world.chain.sendsOf('a').length > sends, 'it is sent again')
    world.chain.land('a')
    await world.pass(90_000)
    t.match((await world.stored('a')).value.end, { state: 'finalized', slot: 1_096, evidence: 'node' })
    t.same(
      statesOf(own, 'a').filter((state) => state !== 'processed'),
      ['sent', 'confirmed', 'finalized', 'sent', 'confirmed', 'finalized']
    )
    own.kill()
  }
)

t.test('another process takes back what one before it has published as final', async (t) => {
  for (const how of ['kill', 'drain'] as const) {
    const world = new TrackingWorld()
    const first = world.start()
    first.node.nodes = 1
    first.shard.begin(await world.submit('a'))
    lie(first, () => 1_000)
    await world.pass(20_000)
    t.same(statesOf(first, 'a').at(-1), 'finalized')
    if (how === 'kill') first.kill()
    else await first.drain()
    const second = world.start()
    second.node.nodes = 1
    await second.shard.sync()
    await world.settle()
    t.match(second.progress('a'), { state: 'finalized', slot: 1_000, evidence: 'claim' })
    await world.pass(20_000)
    t.match(second.progress('a'), { state: 'sent', slot: null })
    t.equal((await world.changes()).at(-1)?.event, 'sent')
    second.kill()
  }
})

t.test(
  'a block that is read without a transaction refutes nodes at once, however many state it',
  async (t) => {
    for (const nodes of [1, 2]) {
      const world = new TrackingWorld()
      world.chain.hasBlocks = true
      const own = world.start()
      own.shard.begin(await world.submit('a'))
      await world.pass(4_000)
      let slot: number | null = null
      own.node.lies = (_, contextSlot) => {
        slot ??= contextSlot
        return { ...FINALIZED, commitment: 'confirmed', slot, nodes }
      }
      while (slot === null) await world.pass(50)
      t.match(own.progress('a'), { state: 'confirmed', slot }, 'its block is not read yet')
      await world.pass(2_000)
      world.chain.land('other')
      await world.settle()
      t.match(own.progress('a'), { state: 'sent', slot: null })
      await world.pass(10_000)
      t.match(own.progress('a'), { state: 'sent', slot: null }, 'and stays so while they state it')
      own.kill()
    }
  }
)

t.test(
  'a landing that a block shows is not taken back by a node that denies it, or states another one',
  async (t) => {
    const world = new TrackingWorld()
    world.chain.hasBlocks = true
    const own = world.start()
    own.node.nodes = 1
    own.shard.begin(await world.submit('a'))
    await world.pass(500)
    world.chain.land('a', null, 'confirmed')
    own.node.lies = () => null
    for (let second = 0; second < 15; second++) {
      await world.pass(1_000)
      world.chain.land(`other ${second}`)
    }
    t.match(own.progress('a'), { state: 'confirmed', slot: 1_001, evidence: 'block' })
    lie(own, (contextSlot) => contextSlot)
    await world.pass(3_000)
    t.match(own.progress('a'), { state: 'confirmed', slot: 1_001, evidence: 'block' })
    lie(own, null)
    await world.pass(10_000)
    t.match((await world.stored('a')).value.end, { state: 'finalized', slot: 1_001, evidence: 'block' })
    own.kill()
  }
)

t.test('the outcome in a block that was read is not changed by what nodes state of its slot', async (t) => {
  for (const nodes of [1, 2])
    for (const isFirst of [true, false]) {
      const world = new TrackingWorld()
      world.chain.hasBlocks = true
      const own = world.start()
      own.node.nodes = nodes
      own.shard.begin(await world.submit('a'))
      await world.pass(500)
      if (isFirst) {
        own.node.lies = (): SignatureStatus => ({
          ...FINALIZED,
          commitment: 'confirmed',
          slot: world.chain.slot,
          err: 'AccountInUse',
          nodes
        })
        await world.pass(1_200)
      }
      world.chain.land('a', null, 'confirmed')
      const landed = world.chain.landed.get('a')!
      own.node.lies = (): SignatureStatus => ({ ...FINALIZED, slot: landed.slot, err: 'AccountInUse', nodes })
      await world.pass(22_000)
      t.match(own.progress('a'), { state: 'confirmed', slot: landed.slot, err: null, evidence: 'block' })
      lie(own, null)
      await world.pass(20_000)
      t.match((await world.stored('a')).value.end, { state: 'finalized', slot: landed.slot, err: null })
      own.kill()
    }
})

t.test('one node that states another outcome in the same slot begins its minute again', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  own.node.nodes = 1
  own.shard.begin(await world.submit('a'))
  await world.pass(500)
  world.chain.land('a')
  own.node.lies = (): SignatureStatus => ({ ...FINALIZED, slot: 1_001, err: 'AccountInUse' })
  await world.pass(22_000)
  t.match(own.progress('a'), { state: 'failed', slot: 1_001, evidence: 'claim' })
  lie(own, null)
  await world.pass(45_000)
  t.match(own.progress('a'), { slot: 1_001, err: null, evidence: 'claim' }, 'a minute of other answers')
  await world.pass(30_000)
  t.match((await world.stored('a')).value.end, {
    state: 'finalized',
    slot: 1_001,
    err: null,
    evidence: 'node'
  })
  own.kill()
})

t.test('two nodes end the tracking at once, one node after a minute of equal answers', async (t) => {
  for (const [nodes, endsAfterMs] of [
    [2, 16_000],
    [1, 62_000]
  ] as const) {
    const world = new TrackingWorld()
    const own = world.start()
    own.node.nodes = nodes
    own.shard.begin(await world.submit('a'))
    world.chain.land('a')
    await world.pass(endsAfterMs - 4_000)
    if (nodes === 1) t.match(own.progress('a'), { state: 'finalized', evidence: 'claim' })
    await world.pass(10_000)
    t.equal(own.progress('a'), null)
    t.match((await world.stored('a')).value.end, {
      state: 'finalized',
      evidence: nodes === 1 ? 'node' : 'nodes'
    })
    own.kill()
  }
})

t.test(
  'a transaction that landed long before it was posted is found by its first request, and stays found',
  async (t) => {
    for (const slots of [140, 900]) {
      const world = new TrackingWorld()
      await world.pass(400)
      const { slot } = world.chain
      world.chain.landed.set('a', { slot: slot - slots, err: null })
      await world.pass(400)
      const own = world.start()
      own.node.nodes = 1
      own.shard.begin(await world.submit('a', { blockhash: `hash-${slot - slots - 1}`, receivedSlot: slot }))
      await world.pass(15_000)
      const end = (await world.stored('a')).value.end ?? own.progress('a')
      t.match(end, { state: 'finalized', slot: slot - slots })
      await world.pass(120_000)
      t.same(
        statesOf(own, 'a').filter((state) => state !== 'sent'),
        ['confirmed', 'finalized']
      )
      own.kill()
    }
  }
)

t.test('a restart does not lengthen the life of a transaction', async (t) => {
  for (const isKnown of [true, false]) {
    const world = new TrackingWorld()
    await world.submit('a', { ...(isKnown && { receivedSlot: 998, receivedHeight: 998 }) })
    await world.pass(640_000)
    const own = world.start()
    await own.shard.sync()
    await world.pass(6_000)
    t.match((await world.stored('a')).value.end, { state: 'expired' })
    t.ok(world.chain.sendsOf('a').length <= 3, `${world.chain.sendsOf('a').length} sends`)
    own.kill()
  }
})

t.test('a nonce that was used before the submission ends as soon as the node says so', async (t) => {
  const world = new TrackingWorld()
  world.chain.hasBlocks = true
  world.chain.nonces.set('N', 'nonce-2')
  const own = world.start()
  const nonce = { nonceAccount: 'N', blockhash: 'nonce-1' }
  own.shard.begin(await world.submit('expires', nonce))
  own.shard.begin(await world.submit('landed', nonce))
  world.chain.landed.set('landed', { slot: 300, err: null })
  await world.pass(20_000)
  t.match((await world.stored('expires')).value.end, { state: 'expired' })
  t.match((await world.stored('landed')).value.end, { state: 'finalized', slot: 300 })
  own.kill()
})
