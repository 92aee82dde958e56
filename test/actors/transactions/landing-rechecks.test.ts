import t from 'tap'
import type { SignatureStatus } from '../../../src/transactions/ports.ts'
import { TrackingWorld, type TestProcess } from './tracking-world.ts'

/** Milliseconds of a lie that one node's word ends with: the minute of a claim, and some polls. */
const LIE_MS = 90_000

/** Lets a node state that every transaction is finalized in one slot; null ends the lie. */
function lie(own: TestProcess, slot: number | null): void {
  own.node.lies = (): SignatureStatus | undefined =>
    slot === null ? undefined : { slot, commitment: 'finalized', confirmations: null, err: null }
}

/** A world with one node that reads no blocks, and a transaction that the node states for long enough to end it. */
async function believed(slot: number, ms = LIE_MS) {
  const world = new TrackingWorld()
  const own = world.start()
  own.node.nodes = 1
  own.shard.begin(await world.submit('a'))
  lie(own, slot)
  await passed(world, own, ms)
  return { world, own }
}

/** Passes time, in which the process lists its shard every ten seconds. */
async function passed(world: TrackingWorld, own: TestProcess, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    await own.shard.sync()
    // Nothing happens in a process without transactions.
    if (own.tracker.size === 0) world.clock.increment(Math.min(left, 10_000))
    else await world.pass(Math.min(left, 10_000))
  }
}

const statesOf = (own: TestProcess): string[] => own.published.map(({ progress }) => progress.state)

/** Leaves out that it was sent, which its tenant hears if the first answer takes long enough. */
const sinceLanding = (states: readonly string[]): readonly string[] =>
  states[0] === 'sent' ? states.slice(1) : states

t.test('a lie that outlasts the minute of one node is taken back after the end, with a change', async (t) => {
  const { world, own } = await believed(1_000)
  const { value } = await world.stored('a')
  t.match(value, { end: { state: 'finalized', slot: 1_000, evidence: 'node' }, wire: null })
  lie(own, null)
  await passed(world, own, 60_000)
  t.same(statesOf(own).slice(-2), ['finalized', 'sent'])
  t.match(own.progress('a'), { state: 'sent', slot: null, evidence: null })
  await passed(world, own, 120_000)
  t.match((await world.stored('a')).value.end, { state: 'expired', slot: null })
  t.equal((await world.changes()).at(-1)?.event, 'expired')
  t.same(own.faults, [])
  own.kill()
})

t.test('a lie of half an hour is taken back by the last check', async (t) => {
  const { world, own } = await believed(1_000, 1_800_000)
  t.match((await world.stored('a')).value, { end: { evidence: 'node' }, rechecks: 2 })
  t.same(sinceLanding(statesOf(own)), ['confirmed', 'finalized'], 'checks that bear it out publish nothing')
  lie(own, null)
  await passed(world, own, 3_600_000)
  t.match((await world.stored('a')).value.end, { state: 'expired' })
  own.kill()
})

t.test('a landing that the node states at each check stays, and the checks end', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  own.node.nodes = 1
  own.shard.begin(await world.submit('a'))
  world.chain.land('a')
  await passed(world, own, 5_000_000)
  t.match((await world.stored('a')).value, { end: { state: 'finalized', evidence: 'node' }, rechecks: 3 })
  t.equal((await world.stored('a')).value.recheckAtMs, undefined)
  const requests = own.node.requests.get('statuses')
  await passed(world, own, 5_000_000)
  t.equal(own.node.requests.get('statuses'), requests)
  t.same(sinceLanding(statesOf(own)), ['processed', 'confirmed', 'finalized'])
  own.kill()
})

t.test('a check that no node answers leaves the end as it was', async (t) => {
  for (const silence of ['away', 'without history'] as const) {
    const { world, own } = await believed(1_000)
    lie(own, null)
    if (silence === 'away') own.node.isAway = true
    else own.node.cacheSlots = 150
    await passed(world, own, 60_000)
    t.match((await world.stored('a')).value, { end: null, rechecks: 1 })
    await passed(world, own, 130_000)
    t.match((await world.stored('a')).value, { end: { state: 'finalized', evidence: 'node' }, rechecks: 1 })
    own.node.isAway = false
    own.node.cacheSlots = null
    await passed(world, own, 900_000)
    t.match((await world.stored('a')).value.end, { state: 'expired' }, 'the next check decides')
    own.kill()
  }
})

t.test('another process takes over a check', async (t) => {
  const { world, own } = await believed(1_000)
  own.kill()
  const next = world.start()
  next.node.nodes = 1
  lie(next, null)
  await passed(world, next, 100_000)
  t.match(next.progress('a'), { state: 'sent' })
  next.kill()
  const last = world.start()
  last.node.nodes = 1
  await passed(world, last, 150_000)
  t.match((await world.stored('a')).value.end, { state: 'expired' })
  const events = (await world.changes()).map(({ event }) => event)
  t.equal(sinceLanding(events).filter((event) => event === 'sent').length, 1)
  last.kill()
})

t.test('a repeat of a transaction that was taken back after its end sends it again', async (t) => {
  const world = new TrackingWorld()
  world.chain.nonces.set('N', 'nonce-1')
  const own = world.start()
  own.node.nodes = 1
  own.shard.begin(await world.submit('a', { nonceAccount: 'N', blockhash: 'nonce-1' }))
  lie(own, 1_002)
  await passed(world, own, LIE_MS)
  t.match((await world.stored('a')).value.end, { state: 'finalized', slot: 1_002, evidence: 'node' })
  lie(own, null)
  await passed(world, own, 120_000)
  t.match(own.progress('a'), { state: 'sent', slot: null })
  const sends = world.chain.sendsOf('a').length
  t.equal(await world.repeat('a', 'node', own), true)
  await world.pass(5_000)
  t.ok(world.chain.sendsOf('a').length > sends)
  world.chain.land('a')
  world.chain.nonces.set('N', 'nonce-2')
  await passed(world, own, LIE_MS)
  t.match((await world.stored('a')).value.end, { state: 'finalized' })
  own.kill()
})

t.test('the block that a node gives ends a claim at once, either way', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  Object.assign(own.node, { nodes: 1, givesBlocks: true })
  own.shard.begin(await world.submit('lands'))
  own.shard.begin(await world.submit('waits'))
  world.chain.land('lands')
  own.node.lies = (signature) =>
    signature === 'waits'
      ? { slot: 1_001, commitment: 'finalized', confirmations: null, err: null }
      : undefined
  await world.pass(22_000)
  t.match((await world.stored('lands')).value.end, { state: 'finalized', evidence: 'block', index: 1 })
  t.equal((await world.stored('lands')).value.recheckAtMs, undefined)
  t.match(own.progress('waits'), { state: 'sent', slot: null })
  await world.pass(100_000)
  t.match(own.progress('waits'), { state: 'sent', slot: null }, 'while the node states it, nothing is known')
  t.equal(own.node.requests.get('blockSignatures'), 2)
  lie(own, null)
  await world.pass(90_000)
  t.match((await world.stored('waits')).value.end, { state: 'expired' })
  t.same(own.faults, [])
  own.kill()
})
