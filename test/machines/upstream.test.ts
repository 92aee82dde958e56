import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { upstreamMachine, type UpstreamEvent } from '../../machines/upstream.machine.ts'
import { elapsed, pendingTimers } from './explore.ts'

const policy = {
  lagSlots: 30,
  failuresMax: 3,
  recheckMs: 60_000,
  backoff: { floorMs: 500, ceilingMs: 30_000 }
}

/** Follows a path of events: `100/130` is slot 100 with 130 as the newest known one, `~backoff` the end of that delay. */
function follow(path: string) {
  let [snapshot] = initialTransition(upstreamMachine, policy)
  for (const step of path.split(' ').filter(Boolean)) {
    const event: UpstreamEvent = step.startsWith('~') ? elapsed(snapshot, step.slice(1)) : eventOf(step)
    ;[snapshot] = transition(upstreamMachine, snapshot, event)
  }
  return snapshot
}

function eventOf(step: string): UpstreamEvent {
  if (step === 'failed' || step === 'refused' || step === 'disbelieved') return { type: step, reason: step }
  if (step === 'reconnect') return { type: step }
  const [slot, newest] = step.split('/').map(Number)
  return { type: 'answered', slot: slot!, newest: newest! }
}

const TABLE: [path: string, state: string, lag: number, failures: number, attempt: number][] = [
  ['', 'probing', 0, 0, 0],
  ['100/100', 'healthy', 0, 0, 0],
  ['100/130', 'healthy', 30, 0, 0],
  ['100/131', 'lagging', 31, 0, 0],
  ['100/131 130/131', 'healthy', 1, 0, 0],
  ['100/100 101/140', 'lagging', 39, 0, 0],
  ['140/100', 'healthy', 0, 0, 0],
  ['failed', 'down', 0, 0, 1],
  ['failed failed', 'down', 0, 0, 1],
  ['failed 100/100', 'down', 0, 0, 1],
  ['failed ~backoff', 'probing', 0, 0, 1],
  ['failed ~backoff failed', 'down', 0, 0, 2],
  ['failed ~backoff 100/100', 'healthy', 0, 0, 0],
  ['100/100 failed failed', 'healthy', 0, 2, 0],
  ['100/100 failed failed 101/101 failed failed', 'healthy', 0, 2, 0],
  ['100/100 failed failed failed', 'down', 0, 0, 1],
  ['100/131 failed failed failed', 'down', 31, 0, 1],
  ['refused', 'refused', 0, 1, 0],
  ['100/100 refused', 'refused', 0, 1, 0],
  ['100/100 refused failed', 'refused', 0, 1, 0],
  ['refused ~recheck', 'probing', 0, 1, 0],
  ['disbelieved', 'down', 0, 0, 1],
  ['100/100 disbelieved', 'down', 0, 0, 1],
  ['100/131 disbelieved', 'down', 31, 0, 1],
  ['100/100 disbelieved ~backoff 100/100', 'healthy', 0, 0, 0],
  ['refused disbelieved', 'refused', 0, 1, 0],
  ['refused ~recheck 100/100', 'healthy', 0, 0, 0],
  ['failed reconnect', 'probing', 0, 0, 1],
  ['refused reconnect', 'refused', 0, 1, 0],
  ['100/100 reconnect', 'healthy', 0, 0, 0],
  ['100/131 reconnect', 'lagging', 31, 0, 0]
]

t.test('an upstream node, by what its probes find', async (t) => {
  for (const [path, state, lag, failures, attempt] of TABLE) {
    const { value, context } = follow(path)
    t.strictSame(
      [value, context.lag, context.failures, context.attempt],
      [state, lag, failures, attempt],
      path || 'start'
    )
  }
})

t.test('a node that tells of a lower slot than before is counted, and judged by the lower one', async (t) => {
  const { value, context } = follow('100/100 60/100 61/100')
  t.equal(context.backwards, 1)
  t.equal(context.slot, 61)
  t.equal(value, 'lagging')
})

t.test('the reason of a fault is shown until a probe is well', async (t) => {
  t.equal(follow('100/100 failed').context.reason, 'failed')
  t.equal(follow('100/100 failed 101/101').context.reason, null)
  t.equal(follow('refused ~recheck').context.reason, 'refused')
})

t.test('a node that is not used is probed again by itself', async (t) => {
  for (const [path, state] of TABLE) {
    if (state === 'down' || state === 'refused')
      t.same(pendingTimers(follow(path)).length, 1, path || 'start')
  }
})
