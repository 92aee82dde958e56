import t from 'tap'
import { tenantCursorAfter } from '../../../src/market/cursor.ts'
import { changeBatches } from '../../../src/transactions/change-batch.ts'
import { sleep } from '../../../src/ports.ts'
import { Documents } from '../../../storage/documents.ts'
import { CHANGE } from '../../transactions/submission-change.ts'
import { TrackingWorld } from './tracking-world.ts'

t.test(
  'a submission is sent at once and every 2 s of its grid until it is confirmed, then followed to finalized',
  async (t) => {
    const world = new TrackingWorld()
    const { chain, clock } = world
    const own = world.start()
    await world.pass(130)
    own.shard.begin(await world.submit('a'))
    await world.settle()
    t.same(chain.sendsOf('a'), [130])
    t.match(own.progress('a'), { state: 'sent', rebroadcasts: 0, firstSentAtMs: 130 })
    await world.pass(4_200)
    t.same(chain.sendsOf('a'), [130, 2_130, 4_130])
    chain.land('a')
    await world.pass(1_200)
    t.match(own.progress('a'), { state: 'confirmed', slot: 1_000 + Math.floor(4_330 / 400), rebroadcasts: 2 })
    await world.pass(20_000)
    t.equal(chain.sendsOf('a').length, 3)
    t.equal(own.progress('a'), null, 'its end is stored')
    t.match((await world.stored('a')).value, {
      wire: null,
      end: { state: 'finalized', rebroadcasts: 2, err: null }
    })
    t.same(
      own.published.map(({ progress }) => progress.state),
      ['sent', 'confirmed', 'finalized']
    )
    t.not((await world.stored('a')).header.expiresAtMs, null, 'it is kept for a time')
    t.equal(own.tracker.size, 0)
    t.same(own.faults, [])
    t.ok(clock.now() > 0)
    own.kill()
  }
)

t.test('a fork that drops its block takes a transaction back to sent, and the loop goes on', async (t) => {
  for (const hasBlocks of [true, false]) {
    const world = new TrackingWorld()
    const { chain } = world
    chain.hasBlocks = hasBlocks
    const own = world.start()
    own.shard.begin(await world.submit('a'))
    await world.pass(500)
    chain.land('a')
    await world.pass(1_000)
    t.match(own.progress('a'), { slot: 1_001 })
    chain.fork(1_000)
    await world.settle()
    if (!hasBlocks) await world.pass(5_000)
    t.match(own.progress('a'), { state: 'sent', slot: null, landedAtMs: null, commitment: null })
    const before = chain.sendsOf('a').length
    await world.pass(2_100)
    t.equal(chain.sendsOf('a').length, before + 1)
    own.kill()
  }
})

t.test('a failure stops the loop at once, and shows once its error is known', async (t) => {
  const world = new TrackingWorld()
  const { chain } = world
  chain.hasBlocks = true
  const own = world.start()
  own.shard.begin(await world.submit('a'))
  await world.pass(500)
  own.node.isAway = true
  chain.land('a', { InstructionError: [0, 'Custom'] })
  await world.pass(5_000)
  t.match(own.progress('a'), { state: 'sent', slot: null, err: null })
  t.same(chain.sendsOf('a'), [0], 'it is not sent')
  own.node.isAway = false
  await world.pass(1_100)
  t.match(own.progress('a'), {
    state: 'confirmed',
    slot: 1_001,
    index: 3,
    err: { InstructionError: [0, 'Custom'] }
  })
  await world.pass(15_000)
  t.match((await world.stored('a')).value.end, { state: 'failed', commitment: 'finalized' })
  own.kill()
})

t.test(
  'a send that a node refuses counts, one that reaches no node does not, and both are repeated at the next instant',
  async (t) => {
    const world = new TrackingWorld()
    const { chain } = world
    const own = world.start()
    own.node.isAway = true
    own.shard.begin(await world.submit('a'))
    await world.pass(3_000)
    t.match(own.progress('a'), { state: 'sent', firstSentAtMs: null, rebroadcasts: 0 })
    t.match(await world.storedProgress('a'), { state: 'sent', firstSentAtMs: null })
    own.node.isAway = false
    own.node.refuses = true
    await world.pass(4_000)
    t.same(chain.sendsOf('a'), [4_000, 6_000])
    t.match(own.progress('a'), { firstSentAtMs: 4_000, rebroadcasts: 1, lastSentAtMs: 6_000 })
    own.kill()
  }
)

t.test('another process goes on with the loop, the count and the instants', async (t) => {
  for (const how of ['kill', 'drain'] as const)
    for (const isShared of [false, true]) {
      const world = new TrackingWorld()
      world.isShared = isShared
      const { chain } = world
      const first = world.start()
      await world.pass(150)
      first.shard.begin(await world.submit('a'))
      await world.pass(4_500)
      if (how === 'kill') first.kill()
      else await first.drain()
      await world.pass(400)
      const second = world.start()
      await second.shard.sync()
      await world.pass(2_500)
      t.same(chain.sendsOf('a'), [150, 2_150, 4_150, 6_150], `${how}, ${isShared ? 'shared' : 'own'} store`)
      t.match(second.progress('a'), { rebroadcasts: 3, firstSentAtMs: 150, token: 2 })
      t.match(await world.storedProgress('a'), { rebroadcasts: 3, token: 2 })
      second.kill()
    }
})

t.test('a submission that was stored and never sent is sent by the next process at once', async (t) => {
  const world = new TrackingWorld()
  await world.submit('a')
  await world.pass(300)
  const own = world.start()
  await own.shard.sync()
  await world.settle()
  t.same(world.chain.sendsOf('a'), [300])
  own.kill()
})

t.test(
  'a process that may have lost the shard sends nothing once a later one has claimed the transaction',
  async (t) => {
    const world = new TrackingWorld()
    world.isShared = true
    const [former] = [world.start()]
    former.shard.begin(await world.submit('a'))
    await world.pass(1_000)
    former.claim.held = false
    await world.pass(2_000)
    t.same(world.chain.sendsOf('a'), [0, 2_000], 'nobody else has it')
    const later = world.start()
    await later.shard.sync()
    await world.pass(6_000)
    t.same(
      world.chain.received.map(({ atMs, by }) => [atMs, by]),
      [
        [0, 1],
        [2_000, 1],
        [4_000, 2],
        [6_000, 2],
        [8_000, 2]
      ]
    )
    t.equal(former.claim.lost.aborted, true)
    later.kill()
    former.kill()
  }
)

t.test('an outage of the store delays no send of its owner, and loses no end', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  own.shard.begin(await world.submit('a'))
  await world.pass(100)
  world.store.isAway = true
  await world.pass(6_000)
  t.equal(world.chain.sendsOf('a').length, 4)
  world.chain.land('a')
  await world.pass(20_000)
  t.match(own.progress('a'), { state: 'finalized' })
  t.same(
    own.published.map(({ progress }) => progress.state),
    ['sent'],
    'nothing is published before it is stored'
  )
  world.store.isAway = false
  await world.pass(1_000)
  t.match((await world.stored('a')).value, { wire: null, end: { state: 'finalized', rebroadcasts: 3 } })
  t.match(own.published.at(-1), { progress: { state: 'finalized' } })
  t.same(own.faults, [])
  own.kill()
})

t.test('a transaction that ends while its shard is listed is not taken up again', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  own.shard.begin(await world.submit('a'))
  await world.pass(100)
  world.chain.land('a')
  await world.pass(11_000)
  const list = world.store.list.bind(world.store)
  let isLate = true
  world.store.list = async (range) => {
    const page = await list(range)
    while (isLate && page.rows.length > 0) await world.settle(1)
    return page
  }
  const syncing = own.shard.sync()
  t.equal(own.progress('a')?.state, 'confirmed')
  await world.pass(4_000)
  t.equal(own.progress('a'), null, 'it has ended')
  isLate = false
  await syncing
  await world.pass(2_000)
  t.equal(own.tracker.size, 0)
  const ends = own.published.filter(({ progress }) => progress.state === 'finalized')
  t.equal(ends.length, 1, 'its end is published once')
  own.kill()
})

t.test('one signature of two tenants is tracked for each', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  world.chain.hasBlocks = true
  own.tracker.begin(await world.submit('a'), own.claim)
  own.tracker.begin(await world.submit('a', { tenant: 'other' }), own.claim)
  await world.pass(100)
  t.same([own.tracker.places('acme').tenant, own.tracker.places('other').tenant, own.tracker.size], [1, 1, 2])
  world.chain.land('a')
  await world.pass(1_000)
  t.match(own.tracker.progress('other', 'a'), { state: 'confirmed' })
  await world.pass(20_000)
  t.equal(own.tracker.size, 0)
  t.equal(world.chain.watchedCount, 0)
  own.kill()
})

t.test(
  'a thousand followed signatures take four requests a second where no blocks come, and fewer with blocks',
  async (t) => {
    for (const [hasBlocks, most] of [
      [false, 45],
      [true, 15]
    ] as const) {
      const world = new TrackingWorld()
      world.chain.hasBlocks = hasBlocks
      const own = world.start()
      for (let n = 0; n < 1_000; n++) own.shard.begin(await world.submit(`s${n}`))
      for (let second = 0; second < 10; second++) {
        if (hasBlocks) world.chain.land(`other-${second}`)
        await world.pass(1_000)
      }
      const { node } = own
      t.ok(node.requests.get('statuses')! <= most, `${node.requests.get('statuses')} requests in 10 s`)
      t.ok(node.requests.get('height')! <= 6)
      t.equal(node.requests.get('send'), 5_000 + 1_000)
      own.kill()
    }
  }
)

t.test(
  'the counts of two thousand keep up with their sends on a store that takes 100 ms a write',
  async (t) => {
    const world = new TrackingWorld()
    const own = world.start()
    const signatures = Array.from({ length: 2_000 }, (_, at) => `s${at}`)
    for (const signature of signatures) own.shard.begin(await world.submit(signature))
    await world.pass(1_000)
    const { signal } = new AbortController()
    world.store.onHot = async (what) => {
      if (what === 'put') await sleep(world.clock, 100, signal)
    }
    await world.pass(12_500)
    const stored = await Promise.all(signatures.map((signature) => world.storedProgress(signature)))
    for (const progress of stored) if (progress!.rebroadcasts < 6) t.match(progress, { rebroadcasts: 6 })
    t.ok(stored.length > 0)
    own.kill()
  }
)

t.test(
  'before the first block ends are stored and make room; their changes are published behind that block, in order',
  async (t) => {
    const world = new TrackingWorld()
    world.hasHead = false
    const { chain } = world
    const own = world.start()
    const signatures = Array.from({ length: 200 }, (_, at) => `early-${at}`)
    for (const signature of signatures) own.shard.begin(await world.submit(signature))
    own.shard.begin(await world.submit('open'))
    await world.pass(2_500)
    t.match(await world.storedProgress('open'), { state: 'sent', rebroadcasts: 1, firstSentAtMs: 0 })
    for (const signature of signatures) chain.land(signature)
    await world.pass(30_000)
    t.equal(own.tracker.size, 1, 'their ends are stored')
    for (const signature of signatures)
      t.match((await world.stored(signature)).value.end, { state: 'finalized' })
    t.same(own.published, [], 'there is no place for changes')
    world.hasHead = true
    await world.pass(1_000)
    const statesOf = (signature: string) =>
      own.published.filter((each) => each.signature === signature).map(({ progress }) => progress.state)
    for (const signature of signatures) t.same(statesOf(signature).at(-1), 'finalized')
    t.same(statesOf('open'), ['sent'])
    t.same(statesOf(signatures[0]!)[0], 'sent')
    await world.changes()
    t.same(own.faults, [])
    own.kill()
  }
)

t.test(
  'a process that dies while it tells the changes of the time before the first block forgets no landing',
  async (t) => {
    const world = new TrackingWorld()
    world.hasHead = false
    const first = world.start()
    first.shard.begin(await world.submit('a'))
    await world.pass(500)
    world.chain.land('a')
    await world.pass(3_000)
    t.match(await world.storedProgress('a'), { state: 'confirmed' })
    first.kill()
    // The first one of its two changes was stored.
    const cursor = tenantCursorAfter(-1, world.chain.slot)
    const changes = [{ ...CHANGE, signature: 'a', cursor }]
    const batch = { tenant: 'acme', number: 1, token: 1, after: -1, changes }
    t.ok((await new Documents(world.store, changeBatches(null)).insert(batch)).ok)
    world.hasHead = true
    const second = world.start()
    second.node.isAway = true
    await second.shard.sync()
    await world.pass(1_000)
    t.match(second.progress('a'), { state: 'confirmed', slot: 1_001 })
    t.same(
      (await world.changes()).map(({ event }) => event),
      ['sent', 'confirmed']
    )
    second.kill()
  }
)

t.test(
  'a nonce transaction that is no longer sent gives its place to a new one, and ends as unknown',
  async (t) => {
    const world = new TrackingWorld()
    const own = world.start()
    own.shard.begin(await world.submit('oldest', { nonceAccount: 'account' }))
    await world.pass(62_000)
    const progress = own.progress('oldest')!
    t.match(progress, { state: 'sent' })
    for (let nth = 1; nth < 2_000; nth++) {
      const stored = await world.submit(`n${nth}`, { nonceAccount: `account ${nth}`, receivedAtMs: 0 })
      own.tracker.adopt(stored, own.claim, progress)
    }
    t.equal(own.tracker.size, 2_000)
    t.match(own.tracker.places('acme'), { tenant: 0 }, 'they are no reason to refuse a new one')
    own.shard.begin(await world.submit('new'))
    await world.settle()
    t.equal(world.chain.sendsOf('new').length, 1)
    await world.pass(200)
    t.equal(own.tracker.size, 2_000)
    t.match((await world.stored('oldest')).value, { wire: null, end: { state: 'sent' } })
    t.same(own.faults, [])
    own.kill()
  }
)
