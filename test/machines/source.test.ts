import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { sourceMachine, type SourceEvent, type SourcePolicy } from '../../machines/source.machine.ts'
import { elapsed, pendingTimers } from './explore.ts'

const policy: SourcePolicy = {
  stallMs: 15_000,
  recheckMs: 60_000,
  backoff: { floorMs: 500, ceilingMs: 30_000 }
}

/** Follows a path of events: `10` is slot 10, `~stall` the end of that delay. */
function follow(path: string) {
  let [snapshot, actions] = initialTransition(sourceMachine, policy)
  let connects = countConnects(actions)
  for (const step of path.split(' ').filter(Boolean)) {
    const event: SourceEvent = step.startsWith('~')
      ? (elapsed(snapshot, step.slice(1)) as never)
      : eventOf(step)
    ;[snapshot, actions] = transition(sourceMachine, snapshot, event)
    connects += countConnects(actions)
  }
  const { slot, attempt, backwards, reason } = snapshot.context
  return { state: snapshot.value, slot, attempt, backwards, reason, connects, snapshot, actions }
}

function eventOf(step: string): SourceEvent {
  if (step === 'lost' || step === 'refused') return { type: step, reason: step }
  return { type: 'slot', slot: Number(step) }
}

function countConnects(actions: readonly { readonly type: string }[]): number {
  return actions.filter(({ type }) => type === 'connect').length
}

const STALL = 'no newer slot for 15000 ms'
type Row = [
  path: string,
  state: string,
  slot: number | null,
  attempt: number,
  connects: number,
  reason: string | null
]
const TABLE: Row[] = [
  ['', 'connecting', null, 0, 1, null],
  ['10', 'advancing', 10, 0, 1, null],
  ['10 11', 'advancing', 11, 0, 1, null],
  ['10 10', 'advancing', 10, 0, 1, null],
  ['10 9', 'advancing', 10, 0, 1, null],
  ['~stall', 'stalled', null, 1, 1, STALL],
  ['10 ~stall', 'stalled', 10, 1, 1, STALL],
  ['10 ~stall 10', 'stalled', 10, 1, 1, STALL],
  ['10 ~stall 11', 'advancing', 11, 0, 1, null],
  ['10 ~stall ~backoff', 'connecting', 10, 1, 2, STALL],
  ['10 ~stall ~backoff 10', 'connecting', 10, 1, 2, STALL],
  ['10 ~stall ~backoff ~stall', 'stalled', 10, 2, 2, STALL],
  ['10 ~stall ~backoff 11', 'advancing', 11, 0, 2, null],
  ['lost', 'waiting', null, 1, 1, 'lost'],
  ['10 lost', 'waiting', 10, 1, 1, 'lost'],
  ['10 lost lost', 'waiting', 10, 1, 1, 'lost'],
  ['10 lost ~backoff', 'connecting', 10, 1, 2, 'lost'],
  ['10 lost ~backoff lost', 'waiting', 10, 2, 2, 'lost'],
  ['10 lost ~backoff lost ~backoff 11', 'advancing', 11, 0, 3, null],
  ['10 lost 11', 'advancing', 11, 0, 1, null],
  ['10 ~stall lost', 'waiting', 10, 2, 1, 'lost'],
  ['refused', 'refused', null, 0, 1, 'refused'],
  ['refused refused', 'refused', null, 0, 1, 'refused'],
  ['refused ~recheck', 'connecting', null, 0, 2, 'refused'],
  ['refused ~recheck refused', 'refused', null, 0, 2, 'refused'],
  ['10 refused lost', 'waiting', 10, 1, 1, 'lost'],
  ['10 refused ~recheck 11', 'advancing', 11, 0, 2, null]
]

t.test('a source, by what it hears', async (t) => {
  for (const [path, state, slot, attempt, connects, reason] of TABLE) {
    const end = follow(path)
    t.strictSame(
      [end.state, end.slot, end.attempt, end.connects, end.reason],
      [state, slot, attempt, connects, reason],
      path || 'start'
    )
  }
})

t.test('a slot that goes backwards is counted, one that stays is not', async (t) => {
  t.equal(follow('10 10 9 8 11 10').backwards, 3)
  t.equal(follow('10 10 11').backwards, 0)
})

t.test('only a newer slot puts off the stall', async (t) => {
  const restarts = (path: string): boolean =>
    follow(path).actions.some(({ type }: { type: string }) => type === 'xstate.raise')
  t.equal(restarts('10 11'), true)
  t.equal(restarts('10 10'), false)
  t.equal(restarts('10 9'), false)
})

t.test('no state waits for ever', async (t) => {
  for (const [path] of TABLE) t.not(pendingTimers(follow(path).snapshot).length, 0, path || 'start')
})
