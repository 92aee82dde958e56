import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { rpcSubscriptionMachine, type RpcSubscriptionEvent } from '../../machines/rpc-subscription.machine.ts'

/** Follows a path of events. */
function follow(path: string) {
  let [snapshot] = initialTransition(rpcSubscriptionMachine)
  for (const type of path.split(' ').filter(Boolean) as RpcSubscriptionEvent['type'][])
    [snapshot] = transition(rpcSubscriptionMachine, snapshot, { type })
  return snapshot
}

const LIVE = 'placed accepted'
const LOST = `${LIVE} lost`

const TABLE: [
  path: string,
  state: string,
  wasLive: boolean,
  hasGap: boolean,
  losses: number,
  unread: number
][] = [
  ['', 'waiting', false, false, 0, 0],
  ['accepted', 'waiting', false, false, 0, 0],
  ['lost', 'waiting', false, false, 0, 0],
  ['placed', 'asked', false, false, 0, 0],
  ['placed refused', 'refused', false, false, 0, 0],
  ['placed refused placed', 'refused', false, false, 0, 0],
  ['placed lost', 'waiting', false, false, 1, 0],
  ['placed lost placed accepted', 'live', true, false, 1, 0],
  [LIVE, 'live', true, false, 0, 0],
  [`${LIVE} gap.read`, 'live', true, false, 0, 0],
  [`${LIVE} refused`, 'live', true, false, 0, 0],
  [LOST, 'waiting', true, true, 1, 0],
  [`${LOST} placed`, 'asked', true, true, 1, 0],
  [`${LOST} placed refused`, 'waiting', true, true, 1, 0],
  [`${LOST} placed refused placed accepted`, 'recovering', true, true, 1, 0],
  [`${LOST} placed accepted`, 'recovering', true, true, 1, 0],
  [`${LOST} placed accepted gap.read`, 'live', true, false, 1, 0],
  [`${LOST} placed accepted gap.unreadable`, 'live', true, false, 1, 1],
  [`${LOST} placed accepted lost`, 'waiting', true, true, 2, 0],
  [`${LOST} placed accepted lost placed accepted gap.read`, 'live', true, false, 2, 0],
  [`${LOST} placed accepted gap.read lost placed accepted`, 'recovering', true, true, 2, 0],
  ['ended', 'ended', false, false, 0, 0],
  ['placed ended accepted', 'ended', false, false, 0, 0],
  [`${LIVE} ended`, 'ended', true, false, 0, 0],
  [`${LOST} ended placed`, 'ended', true, true, 1, 0],
  [`${LOST} placed accepted ended`, 'ended', true, true, 1, 0]
]

t.test('a subscription at a node, by what its connections and clients do', async (t) => {
  for (const [path, state, wasLive, hasGap, losses, unread] of TABLE) {
    const { value, context } = follow(path)
    t.strictSame([value, context], [state, { wasLive, hasGap, losses, unread }], path || 'start')
  }
})
