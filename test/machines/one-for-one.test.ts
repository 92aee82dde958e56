import t from 'tap'
import { fromCallback, initialTransition, transition } from 'xstate'
import { oneForOne } from '../../machines/one-for-one.machine.ts'
import type { OneForOneEvent } from '../../machines/one-for-one.machine.ts'
import type { UnitLogic } from '../../machines/unit.ts'
import { deafHost } from './explore.ts'

const error = new Error('out of memory')
const input = { host: deafHost(), given: { disk: 1 } }
const idle = fromCallback(() => {}) as unknown as UnitLogic
const machine = oneForOne('tenants', ['a', 'b']).provide({ actors: { a: idle, b: idle } })

function follow(path: string) {
  let [snapshot, actions] = initialTransition(machine, input)
  const said: string[] = []
  for (const type of path.split(' ').filter(Boolean)) {
    const event: OneForOneEvent = /crashed|stuck/.test(type) ? { type, error } : { type }
    ;[snapshot, actions] = transition(machine, snapshot, event)
    for (const { type, params } of actions as { type: string; params?: unknown }[]) {
      if (type !== 'xstate.sendTo') continue
      const { to, event } = params as { to: { id: string }; event: { type: string } }
      said.push(to === input.host ? event.type.replace(/^.*\./, 'host ') : `${event.type} ${to.id}`)
    }
  }
  return { value: snapshot.value, said }
}

const TABLE: [path: string, value: unknown, said: string[]][] = [
  ['', { running: { a: 'up', b: 'up' } }, []],
  ['a.ready', { running: { a: 'up', b: 'up' } }, []],
  ['a.ready b.ready', { running: { a: 'up', b: 'up' } }, ['host ready']],
  ['a.ready b.exited', { running: { a: 'up', b: 'gone' } }, ['host ready']],
  ['a.exited b.exited', 'ended', ['host exited']],
  ['drain', { running: { a: 'up', b: 'up' } }, ['drain a', 'drain b']],
  ['drain a.exited', { running: { a: 'gone', b: 'up' } }, ['drain a', 'drain b']],
  ['kill', { running: { a: 'up', b: 'up' } }, ['kill a', 'kill b']],
  ['a.crashed', { running: { a: 'gone', b: 'up' } }, ['kill a', 'kill b']],
  ['a.crashed b.exited', 'ended', ['kill a', 'kill b', 'host crashed']],
  ['a.crashed b.stuck', 'ended', ['kill a', 'kill b', 'kill a', 'kill b', 'host stuck']]
]

t.test('units side by side, by what happens to each', async (t) => {
  for (const [path, value, said] of TABLE) {
    const end = follow(path)
    t.strictSame(end.value, value, path || 'start')
    t.strictSame(end.said, said, `${path || 'start'}, said`)
  }
})
