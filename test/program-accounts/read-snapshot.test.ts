import t from 'tap'
import { readSnapshot } from '../../actors/program-accounts/read-snapshot.ts'
import { advance, virtualClock } from '../virtual-time.ts'

const PROGRAM = new Uint8Array(32)

function laggingNode(slots: readonly number[]) {
  let asked = 0
  const programAccounts = async () => ({ slot: slots[Math.min(asked++, slots.length - 1)]!, accounts: [] })
  return { programAccounts, asked: () => asked }
}

t.test('a node that lags behind its subscription is asked until its snapshot is not older', async (t) => {
  const node = laggingNode([7, 9, 10, 12])
  const clock = virtualClock()
  const snapshot = readSnapshot({ node, clock }, PROGRAM, 10, new AbortController().signal)
  await advance(clock, 2_000)
  t.same(await snapshot, { slot: 10, accounts: [] })
  t.equal(node.asked(), 3)
})

t.test('a node that stays behind is named with both slots after a minute', async (t) => {
  const node = laggingNode([7])
  const clock = virtualClock()
  const failed = t.rejects(readSnapshot({ node, clock }, PROGRAM, 10, new AbortController().signal), {
    message: 'the node is at slot 7, behind slot 10, which is needed'
  })
  for (let i = 0; i < 60; i++) {
    await advance(clock, 1)
    clock.increment(999)
  }
  await advance(clock, 1)
  await failed
})

t.test('the wait for a node ends with the mirror', async (t) => {
  const end = new AbortController()
  const clock = virtualClock()
  const failed = t.rejects(readSnapshot({ node: laggingNode([7]), clock }, PROGRAM, 10, end.signal), {
    name: 'AbortError'
  })
  await advance(clock, 1)
  end.abort()
  await failed
})
