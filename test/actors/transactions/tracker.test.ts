import t from 'tap'
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
      own.told.map(({ progress }) => progress.state),
      ['sent', 'confirmed', 'finalized']
    )
    t.equal(own.tracker.size, 0)
    t.same(own.faults, [])
    t.ok(clock.now() > 0)
    own.kill()
  }
)
