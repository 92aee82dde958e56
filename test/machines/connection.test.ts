import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { connectionMachine, type ConnectionEvent } from '../../machines/connection.machine.ts'

const TABLE: [path: string, state: string, replays: number][] = [
  ['', 'opening', 0],
  ['opened', 'live', 0],
  ['opened, replay.begun', 'replaying', 1],
  ['opened, replay.begun, replay.begun, replay.ended', 'replaying', 1],
  ['opened, replay.begun, replay.begun, replay.ended, replay.ended', 'live', 0],
  ['opened, overflowed', 'overflowing', 0],
  ['opened, overflowed, queue.emptied', 'live', 0],
  ['opened, replay.begun, overflowed, queue.emptied', 'replaying', 1],
  ['opened, replay.begun, overflowed, replay.ended, queue.emptied', 'live', 0],
  ['opened, overflowed, replay.begun, queue.emptied', 'replaying', 1],
  ['opened, drain', 'draining', 0],
  ['opened, drain, overflowed', 'draining', 0],
  ['opened, replay.begun, drain, closed', 'closed', 1],
  ['opened, overflowed, closed', 'closed', 0],
  ['opened, queue.emptied', 'live', 0]
]

for (const [path, state, replays] of TABLE) {
  t.test(`a connection after ${path === '' ? 'nothing' : path} is ${state}`, async (t) => {
    let [snapshot] = initialTransition(connectionMachine)
    for (const type of path.split(', ').filter(Boolean))
      [snapshot] = transition(connectionMachine, snapshot, { type } as ConnectionEvent)
    t.equal(snapshot.value, state)
    t.equal(snapshot.context.replays, replays)
  })
}
