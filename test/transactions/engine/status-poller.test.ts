import t from 'tap'
import { StatusPoller } from '../../../actors/transactions/engine/status-poller.ts'
import type { EngineStatus } from '../../../src/transactions/engine/answers.ts'
import { advance, virtualClock } from '../../virtual-time.ts'

const PENDING: EngineStatus = { kind: 'pending', reason: null, err: null }

function world() {
  const clock = virtualClock()
  const calls: { atMs: number; ids: readonly string[] }[] = []
  const faults: unknown[] = []
  const state = { isAway: false }
  const client = {
    statuses: async (ids: readonly string[]) => {
      calls.push({ atMs: clock.now(), ids })
      if (state.isAway) throw new Error('away')
      return new Map(ids.map((id) => [id, PENDING]))
    }
  }
  const poller = new StatusPoller(client, { pollMs: 100, clock, report: (fault) => faults.push(fault) })
  const end = new AbortController()
  const running = poller.run(end.signal)
  const stop = async () => {
    end.abort()
    await running
  }
  return { clock, calls, faults, state, poller, stop }
}

t.test('five bundles a call are asked for in turn, as many calls as there is time for', async (t) => {
  const { clock, calls, poller, stop } = world()
  const heard: string[] = []
  for (let nth = 0; nth < 12; nth++) poller.follow(`b${nth}`, () => heard.push(`b${nth}`))
  await advance(clock, 350)
  t.same(
    calls.map(({ ids }) => ids.length),
    [5, 5, 5, 5]
  )
  t.same(calls[2]!.ids, ['b10', 'b11', 'b0', 'b1', 'b2'])
  t.equal(new Set(heard).size, 12)
  await stop()
})

t.test(
  'nothing is asked while nothing is followed, nor about a bundle that is not followed any more',
  async (t) => {
    const { clock, calls, poller, stop } = world()
    await advance(clock, 1_000)
    t.equal(calls.length, 0)
    const unfollow = poller.follow('a', () => undefined)
    poller.follow('b', () => undefined)
    await advance(clock, 50)
    unfollow()
    unfollow()
    await advance(clock, 100)
    t.same(
      calls.map(({ ids }) => ids),
      [['a', 'b'], ['b']]
    )
    t.equal(poller.followed, 1)
    await stop()
  }
)

t.test('an engine that is away is asked ever more rarely, and again as before once it answers', async (t) => {
  const { clock, calls, faults, poller, state, stop } = world()
  poller.follow('a', () => undefined)
  state.isAway = true
  await advance(clock, 1_450)
  t.same(
    calls.map(({ atMs }) => atMs),
    [0, 200, 600, 1_400]
  )
  t.equal(faults.length, 4)
  state.isAway = false
  await advance(clock, 1_850)
  t.same(
    calls.slice(4).map(({ atMs }) => atMs),
    [3_000, 3_100, 3_200, 3_300]
  )
  await stop()
})
