import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { pubsubLinkMachine, type PubsubLinkEvent } from '../../machines/pubsub-link.machine.ts'
import { elapsed, pendingTimers } from './explore.ts'

const policy = { backoff: { floorMs: 500, ceilingMs: 30_000 }, unusedMs: 60_000 }

/** Follows a path of events; `~backoff` is the end of that delay. Returns the state with the actions on the way. */
function follow(path: string) {
  let [snapshot, actions] = initialTransition(pubsubLinkMachine, policy)
  const done: string[] = []
  for (const step of path.split(' ').filter(Boolean)) {
    const event = step.startsWith('~')
      ? elapsed(snapshot, step.slice(1))
      : ({ type: step, reason: step } as PubsubLinkEvent)
    ;[snapshot, actions] = transition(pubsubLinkMachine, snapshot, event)
    for (const { type } of actions) if (['connect', 'disconnect', 'ready'].includes(type)) done.push(type)
  }
  return { snapshot, done: done.join(' ') }
}

const OPEN = 'wanted opened'

const TABLE: [path: string, state: string, attempt: number, done: string][] = [
  ['', 'idle', 0, ''],
  ['unused', 'idle', 0, ''],
  ['wanted', 'connecting', 0, 'connect'],
  ['wanted wanted', 'connecting', 0, 'connect'],
  ['wanted failed', 'waiting', 1, 'connect'],
  ['wanted failed wanted', 'waiting', 1, 'connect'],
  ['wanted failed ~backoff', 'idle', 1, 'connect ready'],
  ['wanted failed ~backoff wanted failed', 'waiting', 2, 'connect ready connect'],
  [OPEN, 'open', 0, 'connect'],
  ['wanted failed ~backoff wanted opened', 'open', 1, 'connect ready connect'],
  ['wanted failed ~backoff wanted opened proven', 'open', 0, 'connect ready connect'],
  ['wanted failed ~backoff wanted opened failed', 'waiting', 2, 'connect ready connect'],
  [`${OPEN} failed`, 'waiting', 1, 'connect'],
  [`${OPEN} unused`, 'unused', 0, 'connect'],
  [`${OPEN} unused wanted`, 'open', 0, 'connect'],
  [`${OPEN} unused failed`, 'waiting', 1, 'connect'],
  [`${OPEN} unused ~unused`, 'idle', 0, 'connect disconnect'],
  [`${OPEN} unused ~unused wanted`, 'connecting', 0, 'connect disconnect connect'],
  [`${OPEN} closed`, 'closed', 0, 'connect disconnect'],
  ['wanted failed closed', 'closed', 1, 'connect disconnect'],
  ['closed wanted', 'closed', 0, 'disconnect']
]

t.test('a connection to a node for subscriptions, by what happens to it', async (t) => {
  for (const [path, state, attempt, done] of TABLE) {
    const { snapshot, done: did } = follow(path)
    t.strictSame([snapshot.value, snapshot.context.attempt, did], [state, attempt, done], path || 'start')
  }
})

t.test(
  'a connection that waits goes on by itself, and its reason is shown until the node is proven',
  async (t) => {
    const waiting = follow('wanted failed').snapshot
    t.equal(pendingTimers(waiting).length, 1)
    t.equal(waiting.context.reason, 'failed')
    t.equal(follow('wanted failed ~backoff wanted opened').snapshot.context.reason, 'failed')
    t.equal(follow('wanted failed ~backoff wanted opened proven').snapshot.context.reason, null)
  }
)
