import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { serviceMachine } from '../../machines/service.machine.ts'
import type { ServiceEvent } from '../../machines/service.machine.ts'
import { elapsed, pendingTimers, stateName } from './explore.ts'

const error = new Error('no disk')
const EVENTS: Readonly<Record<string, ServiceEvent>> = {
  drain: { type: 'drain' },
  kill: { type: 'kill' },
  'tree.ready': { type: 'tree.ready', gives: {} },
  'tree.exited': { type: 'tree.exited' },
  'tree.crashed': { type: 'tree.crashed', error },
  'tree.stuck': { type: 'tree.stuck', error }
}

function follow(path: string) {
  let [snapshot] = initialTransition(serviceMachine, { drainMs: 100, killMs: 10 })
  for (const step of path.split(' ').filter(Boolean)) {
    const event = step.startsWith('~') ? elapsed(snapshot, step.slice(1)) : EVENTS[step]!
    ;[snapshot] = transition(serviceMachine, snapshot, event)
  }
  return snapshot
}

const TABLE: [path: string, state: string][] = [
  ['', 'running.starting'],
  ['tree.ready', 'running.ready'],
  ['tree.ready tree.ready', 'running.ready'],
  ['tree.exited', 'stopped'],
  ['tree.crashed', 'failed'],
  ['tree.stuck', 'failed'],
  ['drain', 'running.draining'],
  ['tree.ready drain drain', 'running.draining'],
  ['drain tree.ready', 'running.draining'],
  ['drain tree.exited', 'stopped'],
  ['drain tree.stuck', 'failed'],
  ['drain ~drain', 'running.killing'],
  ['drain kill', 'running.killing'],
  ['kill drain', 'running.killing'],
  ['drain ~drain tree.exited', 'stopped'],
  ['drain ~drain ~kill', 'failed']
]

t.test('the service, by what happens to it', async (t) => {
  for (const [path, state] of TABLE) t.equal(stateName(follow(path).value), state, path || 'start')
})

t.test('a drain ends every state, though the tree never answers', async (t) => {
  for (const [path] of TABLE) {
    let [snapshot] = transition(serviceMachine, follow(path), { type: 'drain' })
    for (let [timer] = pendingTimers(snapshot); timer !== undefined; [timer] = pendingTimers(snapshot))
      [snapshot] = transition(serviceMachine, snapshot, { type: timer as never })
    t.equal(snapshot.status, 'done', path || 'start')
  }
})

t.test('the output says whether the service failed, and of what', async (t) => {
  t.strictSame(follow('drain tree.exited').output, { kind: 'stopped' })
  t.strictSame(follow('tree.crashed').output, { kind: 'failed', error })
  t.match(follow('kill ~kill').output, {
    kind: 'failed',
    error: { message: 'not ended 10 ms after its kill' }
  })
})
