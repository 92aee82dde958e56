import t from 'tap'
import { bundleBody } from '../../src/transactions/routes/bundle-bodies.ts'
import { BUNDLE } from '../../src/transactions/bundle.ts'
import { bundleWorld } from './bundle-world.ts'

t.test('a bundle is submitted once, lands, is finalized, and is then let go', async (t) => {
  const world = await bundleWorld(t)
  const { tracker } = world.startTracker(1)
  const stored = await world.store()
  tracker.begin(stored)
  tracker.begin(stored)
  await world.pass(1)
  t.match(await world.progress(stored), { state: 'pending', token: 1, slot: null, reason: null })
  t.same([...world.watched.keys()], ['b0', 'b1'])
  world.land(['b0', 'b1'])
  await world.pass(1)
  t.match(await world.progress(stored), { state: 'processed', slot: 100 })
  t.equal(world.followed.size, 0, 'the engine is not asked about a landed bundle')
  world.see(100, ['b0', 'b1'])
  await world.pass(1)
  t.match(await world.progress(stored), { state: 'confirmed', slot: 100 }, 'although the node says less')
  world.land(['b0', 'b1'], { commitment: 'finalized', slot: 100 })
  await world.pass(2)
  t.match(await world.end(stored), { state: 'finalized', slot: 100, err: null, reason: null })
  t.same([tracker.size, world.watched.size, world.submitted.length], [0, 0, 1])
  t.same(world.reports, [])
})

t.test(
  'a bundle that no region can take is tried again; one that is refused has failed, with the reason',
  async (t) => {
    const world = await bundleWorld(t)
    const { tracker } = world.startTracker(1)
    world.outcomes.push(
      { kind: 'deferred', detail: 'HTTP 429', waitMs: 2_500 },
      { kind: 'refused', code: -32602, message: 'bundle simulation error: insufficient funds' }
    )
    const stored = await world.store()
    tracker.begin(stored)
    await world.pass(2)
    t.match(await world.progress(stored), { state: 'queued' })
    t.equal(world.submitted.length, 1)
    await world.pass(2)
    t.equal(world.submitted.length, 2)
    t.match(await world.progress(stored), {
      state: 'rejected',
      reason: 'simulation_failure',
      err: { code: -32602, message: /insufficient funds/ }
    })
  }
)

t.test(
  'a bundle whose answer was lost is submitted again only once the engine does not know it',
  async (t) => {
    const world = await bundleWorld(t)
    const { tracker } = world.startTracker(1)
    world.outcomes.push({ kind: 'unsure', detail: 'timeout' })
    const stored = await world.store()
    tracker.begin(stored)
    await world.pass(9)
    world.say(stored, 'unknown')
    await world.pass(1)
    t.equal(world.submitted.length, 1, 'a bundle that was just taken is unknown too')
    await world.pass(2)
    world.say(stored, 'unknown')
    await world.pass(2)
    t.equal(world.submitted.length, 2)
    t.same(world.ranks, ['first', 'bundle'], 'a repeat waits behind first sends')
    t.match(await world.progress(stored), { state: 'pending' })
  }
)

t.test('what the engine calls failed has failed, unless the chain has it', async (t) => {
  const world = await bundleWorld(t)
  const { tracker } = world.startTracker(1)
  const [a, b] = [await world.store('a'), await world.store('b')]
  tracker.begin(a)
  tracker.begin(b)
  await world.pass(1)
  world.say(a, 'failed', { reason: 'simulation_failure', err: { InstructionError: [0, 'Custom'] } })
  world.say(b, 'failed', { reason: 'a word that nobody knows' })
  await world.pass(1)
  t.match(await world.progress(a), {
    state: 'rejected',
    reason: 'simulation_failure',
    err: { InstructionError: {} }
  })
  t.match(await world.progress(b), { state: 'rejected', reason: null })
  world.land(['b0', 'b1'])
  await world.pass(1)
  t.match(await world.progress(b), { state: 'processed', slot: 100, reason: null, err: null })
})

t.test('what the engine calls landed has not landed until the chain has it', async (t) => {
  const world = await bundleWorld(t)
  const { tracker } = world.startTracker(1)
  const stored = await world.store()
  tracker.begin(stored)
  await world.pass(1)
  world.say(stored, 'landed')
  await world.pass(2)
  t.match(await world.progress(stored), { state: 'pending', slot: null })
})

t.test('a fork takes a landed bundle back; it may land elsewhere', async (t) => {
  const world = await bundleWorld(t)
  const { tracker } = world.startTracker(1)
  const stored = await world.store()
  tracker.begin(stored)
  await world.pass(1)
  world.land(['b0', 'b1'])
  world.see(100, ['b0', 'b1'])
  await world.pass(1)
  world.chain.statuses.clear()
  world.lose(99)
  await world.pass(1)
  t.match(await world.progress(stored), { state: 'pending', slot: null, wasLost: true })
  // The answer of a node behind the block proves nothing; that of a node ahead of the block reverts it.
  world.chain.slot = 104
  world.land(['b0', 'b1'])
  await world.pass(1)
  t.match(await world.progress(stored), { state: 'processed', slot: 104 })
  world.chain.statuses.clear()
  world.chain.slot = 103
  await world.pass(2)
  t.match(await world.progress(stored), { state: 'processed', slot: 104 })
  for (const slot of [105, 106]) {
    world.chain.slot = slot
    await world.pass(2)
    t.match(await world.progress(stored), { state: 'processed', slot: 104 }, 'one or two may be stale')
  }
  world.chain.slot = 107
  await world.pass(1)
  t.match(await world.progress(stored), { state: 'pending', slot: null })
  world.land(['b0', 'b1'], { slot: 107, commitment: 'finalized' })
  await world.pass(2)
  t.match(await world.end(stored), { state: 'finalized', slot: 107 })
})

t.test('a confirmed bundle stays confirmed on answers without it, also in another process', async (t) => {
  const world = await bundleWorld(t)
  const first = world.startTracker(1)
  const stored = await world.store()
  first.tracker.begin(stored)
  await world.pass(1)
  world.see(100, ['b0', 'b1'])
  await world.pass(1)
  const states = async (): Promise<unknown> => (await world.progress(stored))?.state
  world.chain.slot = 101
  await world.pass(2)
  t.equal(await states(), 'confirmed')
  first.lose()
  await first.tracker.stop()
  const { tracker } = world.startTracker(2)
  await tracker.sync(BUNDLE.partition(stored.value))
  world.chain.slot = 102
  await world.pass(2)
  t.equal(await states(), 'confirmed')
  world.land(['b0', 'b1'], { slot: 100, commitment: 'confirmed' })
  world.chain.slot = 103
  await world.pass(2)
  world.chain.statuses.clear()
  for (const slot of [104, 105]) {
    world.chain.slot = slot
    await world.pass(2)
    t.equal(await states(), 'confirmed', 'an answer with it makes those before it void')
  }
  world.chain.slot = 106
  await world.pass(2)
  t.equal(await states(), 'pending')
})

t.test(
  'on nodes without history a bundle ends by the answers of their caches, if these have no gap',
  async (t) => {
    const world = await bundleWorld(t)
    world.chain.hasHistory = false
    const { tracker } = world.startTracker(1)
    const stored = await world.store()
    tracker.begin(stored)
    for (let second = 0; second < 70; second += 10) {
      await world.pass(10)
      world.chain.slot += 25
    }
    world.chain.height = 201
    world.chain.valid.clear()
    await world.pass(3)
    t.match(await world.end(stored), { state: 'failed', reason: 'blockhash_expired' })
    t.equal(tracker.size, 0, 'its place is free')
    t.same(world.reports, [])
  }
)

t.test('a bundle whose end no node can tell is given up after ten minutes, as unknown', async (t) => {
  const world = await bundleWorld(t)
  world.chain.hasHistory = false
  const { tracker } = world.startTracker(1)
  const stored = await world.store()
  tracker.begin(stored)
  await world.pass(5)
  world.chain.isAway = true
  await world.pass(10)
  world.chain.isAway = false
  // The caches of the nodes no longer have the blocks of the gap.
  world.chain.slot += 400
  world.chain.height = 500
  world.chain.valid.clear()
  await world.pass(595)
  t.equal(tracker.size, 1)
  await world.pass(90)
  t.equal(tracker.size, 0)
  const { partition, key } = BUNDLE
  const { value } = (await world.documents.get(partition(stored.value), key(stored.value)))!
  t.match(value, { wires: null, end: { state: 'pending' } })
  t.match(bundleBody(value, value.end), { status: 'unknown', submitted_at: String })
})

t.test('a bundle expires with evidence alone: height, blockhash and statuses', async (t) => {
  const world = await bundleWorld(t)
  const { tracker } = world.startTracker(1)
  const stored = await world.store()
  tracker.begin(stored)
  await world.pass(2)
  world.chain.valid.clear()
  await world.pass(3)
  t.equal(await world.end(stored), null, 'the height is below the last valid one')
  world.chain.valid.add('hash')
  world.chain.height = 201
  await world.pass(3)
  t.equal(await world.end(stored), null, 'the node says that the blockhash is valid')
  world.chain.valid.clear()
  world.chain.isAway = true
  await world.pass(100)
  t.equal(await world.end(stored), null, 'a node that is away says nothing')
  world.chain.isAway = false
  world.chain.ahead = 5
  await world.pass(3)
  t.equal(await world.end(stored), null, 'the statuses are older than the word on the blockhash')
  world.chain.ahead = 0
  await world.pass(2)
  t.match(await world.end(stored), { state: 'failed', reason: 'blockhash_expired', slot: null })
  t.equal(tracker.size, 0)

  const other = await world.store('other')
  world.chain.unread = 1
  tracker.begin(other)
  await world.pass(85)
  t.equal(await world.end(other), null, 'no block that was read is above the last valid height')
  await world.pass(10)
  t.match(await world.end(other), { reason: 'blockhash_expired' }, 'time bears out what the node says')
})

t.test(
  'a bundle that landed while nobody looked is found in the history before it would expire',
  async (t) => {
    const world = await bundleWorld(t)
    const { tracker } = world.startTracker(1)
    const stored = await world.store()
    world.chain.height = 500
    world.chain.valid.clear()
    for (const signature of ['b0', 'b1'])
      world.chain.history.set(signature, {
        slot: 80,
        confirmations: null,
        err: null,
        commitment: 'finalized',
        nodes: 2
      })
    tracker.begin(stored)
    await world.pass(3)
    t.match(await world.end(stored), { state: 'finalized', slot: 80 })
  }
)

t.test(
  'an end tells how: lost with a fork, partly in blocks, apart, or with the reason of the engine',
  async (t) => {
    const world = await bundleWorld(t)
    const { tracker } = world.startTracker(1)
    const [forked, partial, apart, failing, refused] = [
      await world.store('f'),
      await world.store('p'),
      await world.store('a'),
      await world.store('x'),
      await world.store('r')
    ]
    for (const each of [forked, partial, apart, failing, refused]) tracker.begin(each)
    await world.pass(1)
    world.say(refused, 'failed', { reason: 'winning_batch_bid_rejected' })
    world.see(100, ['f0', 'f1'])
    await world.pass(1)
    world.lose(99)
    world.land(['p0', 'x0'], { commitment: 'confirmed' })
    world.land(['x1'], { commitment: 'confirmed', err: { InstructionError: [0, { Custom: 6 }] } })
    world.land(['a0'], { commitment: 'confirmed', slot: 98 })
    world.land(['a1'], { commitment: 'confirmed', slot: 99 })
    await world.pass(1)
    t.match(await world.end(apart), { state: 'failed', reason: 'partially_processed', err: null })
    t.match(await world.end(failing), {
      state: 'failed',
      reason: 'partially_processed',
      err: { InstructionError: [0, { Custom: 6 }] }
    })
    t.equal(await world.end(partial), null)
    world.chain.height = 201
    world.chain.valid.clear()
    await world.pass(3)
    t.match(await world.end(forked), { state: 'failed', reason: 'not_finalized' })
    t.match(await world.end(partial), { state: 'failed', reason: 'partially_processed' })
    t.match(await world.end(refused), { state: 'failed', reason: 'winning_batch_bid_rejected' })
  }
)

t.test('a bundle on durable nonces alone ends when the engine has forgotten it', async (t) => {
  const world = await bundleWorld(t)
  const { tracker } = world.startTracker(1)
  const stored = await world.store('n', 1, { blockhashes: [] })
  tracker.begin(stored)
  world.chain.height = 1_000
  await world.pass(299)
  world.say(stored, 'unknown')
  await world.pass(1)
  t.equal(await world.end(stored), null)
  await world.pass(2)
  world.say(stored, 'unknown')
  await world.pass(1)
  t.match(await world.end(stored), { state: 'failed', reason: 'dropped_bundle' })
})

t.test('another process goes on where one stopped, and asks before it submits again', async (t) => {
  const world = await bundleWorld(t)
  const first = world.startTracker(1)
  const pending = await world.store('p')
  first.tracker.begin(pending)
  await world.pass(1)
  // The process dies while the engine is receiving the second bundle.
  let answer: (outcome: { kind: 'accepted'; id: null }) => void = () => undefined
  world.outcomes.push(new Promise((resolve) => (answer = resolve)))
  const cut = await world.store('c')
  first.tracker.begin(cut)
  await world.pass(1)
  t.match(await world.progress(cut), { state: 'submitting' })
  const waiting = await world.store('w')
  first.lose()
  answer({ kind: 'accepted', id: null })
  await first.tracker.stop()

  const { tracker } = world.startTracker(2)
  for (const stored of [pending, cut, waiting]) await tracker.sync(BUNDLE.partition(stored.value))
  t.equal(tracker.size, 3)
  await world.pass(2)
  t.same(world.submitted, ['p0', 'c0', 'w0'])
  t.match(await world.progress(waiting), { state: 'pending', token: 2 })
  world.say(cut, 'pending')
  world.land(['p0', 'p1'], { commitment: 'finalized' })
  await world.pass(2)
  t.match(await world.progress(cut), { state: 'pending', token: 2 })
  t.match(await world.end(pending), { state: 'finalized' })
  await tracker.sync(BUNDLE.partition(pending.value))
  t.equal(tracker.size, 2, 'an ended bundle is not taken up again')
})

t.test(
  'a process that lost its shard without knowing submits no bundle that its successor has taken up',
  async (t) => {
    const world = await bundleWorld(t)
    const former = world.startTracker(1)
    world.outcomes.push({ kind: 'deferred', detail: 'HTTP 429', waitMs: 2_500 })
    const stored = await world.store('q')
    former.tracker.begin(stored)
    await world.pass(1)
    t.match(await world.progress(stored), { state: 'queued', token: 1 })
    former.claim.held = false
    const late = await world.store('l')
    former.tracker.begin(late)
    await world.pass(1)
    t.same(world.submitted, ['q0', 'l0'], 'it goes on as long as no other process has the shard')

    world.outcomes.push({ kind: 'deferred', detail: 'HTTP 429', waitMs: 2_500 })
    const { tracker } = world.startTracker(2)
    await tracker.sync(BUNDLE.partition(stored.value))
    await tracker.sync(BUNDLE.partition(late.value))
    await world.pass(8)
    t.same(world.submitted, ['q0', 'l0', 'q0', 'q0'], 'both submissions are those of the successor')
    t.ok(former.claim.lost.aborted)
    t.match(await world.progress(stored), { state: 'pending', token: 2 })
    t.same(world.reports, [])
  }
)

t.test('an end that was cut short before the document had it is written by the next process', async (t) => {
  const world = await bundleWorld(t)
  const stored = await world.store()
  await world.documents.putHot(stored, 1, {
    token: 1,
    state: 'finalized',
    engineId: null,
    slot: 77,
    err: null,
    reason: null,
    submittedAtMs: 1,
    lastValidBlockHeight: 200,
    wasLost: false,
    updatedAtMs: 5
  })
  const { tracker } = world.startTracker(2)
  await tracker.sync(BUNDLE.partition(stored.value))
  await world.pass(1)
  t.match(await world.end(stored), { state: 'finalized', slot: 77 })
  t.equal(tracker.size, 0)
  t.equal(world.submitted.length, 0)
})
