import t from 'tap'
import { TrackingWorld, type TestProcess } from './tracking-world.ts'

const NONCE = { nonceAccount: 'N', blockhash: 'nonce-1' }
const engineSendsOf = (own: TestProcess, signature: string): number[] =>
  own.engineSends.filter((each) => each.signature === signature).map(({ atMs }) => atMs)

t.test(
  'a repeat with another route sends by it at once, then by both at the instants of the first',
  async (t) => {
    const world = new TrackingWorld()
    const { chain } = world
    const own = world.start()
    own.shard.begin(await world.submit('a', { route: 'jito' }))
    await world.pass(2_700)
    t.same(chain.sendsOf('a'), [], 'it never reaches the node')
    t.equal(await world.repeat('a', 'node', own), false)
    for (let repeats = 0; repeats < 5; repeats++)
      await world.repeat('a', repeats % 2 === 0 ? 'node' : 'jito', own)
    await world.pass(4_000)
    t.same(chain.sendsOf('a'), [2_700, 4_000, 6_000])
    t.same(engineSendsOf(own, 'a'), [0, 2_000, 4_000, 6_000])
    t.match(own.progress('a'), { rebroadcasts: 4 }, 'the sends of one instant count once')
    own.kill()
  }
)

t.test('a route that answers slowly does not delay the other one', async (t) => {
  const world = new TrackingWorld()
  const own = world.start()
  own.engineMs = 5_000
  own.shard.begin(await world.submit('a', { routes: ['node', 'jito'] }))
  await world.pass(8_100)
  t.same(world.chain.sendsOf('a'), [0, 2_000, 4_000, 6_000, 8_000])
  t.same(engineSendsOf(own, 'a'), [0, 6_000])
  t.match(own.progress('a'), { rebroadcasts: 4, lastSentAtMs: 8_000 })
  own.kill()
})

t.test(
  'a repeat restarts the sends of a durable nonce for a minute, at the instants of the grid',
  async (t) => {
    const world = new TrackingWorld()
    const { chain } = world
    const own = world.start()
    chain.nonces.set('N', 'nonce-1')
    own.shard.begin(await world.submit('a', NONCE))
    await world.pass(59_500)
    t.equal(await world.repeat('a', 'node', own), false, 'it is still sent')
    await world.pass(13_600)
    t.equal(chain.sendsOf('a').length, 30, 'at 0, 2, … 58 s')
    t.equal(await world.repeat('a', 'node', own), true)
    for (let repeats = 0; repeats < 3; repeats++) t.equal(await world.repeat('a', 'node', own), false)
    await world.pass(100_000)
    const after = chain.sendsOf('a').slice(30)
    t.equal(after.length, 30)
    t.ok(after.every((atMs, at) => atMs === 74_000 + at * 2_000))
    chain.land('a')
    chain.nonces.set('N', 'nonce-2')
    await world.pass(30_000)
    t.match((await world.stored('a')).value.end, { state: 'finalized' })
    t.equal(await world.repeat('a', 'node', own), false, 'it has landed')
    own.kill()
  }
)

t.test(
  'a repeat that no hint announces is found by the next list, also by a process that starts later',
  async (t) => {
    const world = new TrackingWorld()
    world.isShared = true
    const { chain } = world
    chain.nonces.set('N', 'nonce-1')
    const first = world.start()
    first.shard.begin(await world.submit('listed', NONCE))
    first.shard.begin(await world.submit('restarted', NONCE))
    await world.pass(70_000)
    t.equal(await world.repeat('listed', 'jito'), true)
    await world.pass(3_000)
    t.equal(chain.sendsOf('listed').length, 30)
    await first.shard.sync()
    await world.pass(2_500)
    t.equal(chain.sendsOf('listed').length, 31)
    t.equal(engineSendsOf(first, 'listed').length, 2, 'once when it is added, then at the instants')
    first.kill()
    t.equal(await world.repeat('restarted'), true)
    const second = world.start()
    await second.shard.sync()
    await world.pass(10_000)
    t.equal(chain.sendsOf('restarted').length, 35)
    t.equal(engineSendsOf(second, 'listed').length, 5)
    t.match(second.progress('restarted'), { rebroadcasts: 34 })
    second.kill()
  }
)

t.test(
  'a nonce whose tracking had ended without a known end is taken up again, and its sends are counted on',
  async (t) => {
    const world = new TrackingWorld()
    const { chain } = world
    chain.nonces.set('N', 'nonce-1')
    await world.submit('a', { ...NONCE, receivedAtMs: 300_000 - 86_400_000 })
    const own = world.start()
    await own.shard.sync()
    await world.pass(620_000)
    t.match((await world.stored('a')).value, { wire: null, end: { state: 'sent' } })
    const sends = chain.sendsOf('a').length
    t.equal(await world.repeat('a', 'node', own), true)
    await world.pass(4_100)
    t.equal(chain.sendsOf('a').length, sends + 2)
    t.match(own.progress('a'), { rebroadcasts: sends + 1 })
    chain.land('a')
    await world.pass(30_000)
    t.match((await world.stored('a')).value, { wire: null, end: { state: 'finalized' } })
    t.same(own.faults, [])
    own.kill()
  }
)
