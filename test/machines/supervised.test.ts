import t from 'tap'
import { initialTransition, transition } from 'xstate'
import type { SnapshotFrom } from 'xstate'
import { supervised } from '../../machines/supervised.machine.ts'
import type { SupervisedEvent } from '../../machines/supervised.machine.ts'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import type { Policy } from '../../machines/unit.ts'
import { deafHost, elapsed, pendingTimers, stateName } from './explore.ts'

const policy: Policy = {
  restart: 'permanent',
  intensity: { crashes: 1, periodMs: 1000 },
  backoff: { floorMs: 100, ceilingMs: 1000 },
  stableAfterMs: 500,
  startMs: 200,
  drainMs: 300,
  killMs: 50
}
const error = new Error('lost the disk')
const input = { host: deafHost(), given: { outer: 1 } }

type Snapshot = SnapshotFrom<ReturnType<typeof supervised>>

/** Each event by its type; `~name` stands for the end of the delay of that name. */
const EVENTS: Readonly<Record<string, SupervisedEvent>> = {
  drain: { type: 'drain' },
  kill: { type: 'kill' },
  'process.ready': { type: 'process.ready', gives: { disk: 1 } },
  'process.failing': { type: 'process.failing', error },
  'process.exited': { type: 'process.exited' },
  'process.crashed': { type: 'process.crashed', error },
  'process.stuck': { type: 'process.stuck', error },
  'inside.ready': { type: 'inside.ready', gives: { net: 2 } },
  'inside.exited': { type: 'inside.exited' },
  'inside.crashed': { type: 'inside.crashed', error },
  'inside.stuck': { type: 'inside.stuck', error }
}

function follow(path: string, over: Partial<Policy> = {}) {
  const machine = supervised('disk', { ...policy, ...over })
  let [snapshot, actions] = initialTransition(machine, input)
  const starts: unknown[] = []
  const said: unknown[] = []
  for (const step of path.split(' ').filter(Boolean)) {
    const event = step.startsWith('~') ? elapsed(snapshot, step.slice(1)) : EVENTS[step]!
    ;[snapshot, actions] = transition(machine, snapshot, event)
    for (const { type, params } of actions as { type: string; params?: unknown }[]) {
      if (type === 'xstate.spawnChild') starts.push((params as { id: string }).id)
      if (type === 'xstate.sendTo') {
        const { to, event } = params as { to: { id: string }; event: { type: string } }
        said.push(to === input.host ? event.type.replace(/^x:\d+/, 'host') : `${event.type} ${to.id}`)
      }
    }
  }
  return { snapshot, state: stateName(snapshot.value), starts, said }
}

const UP = 'process.ready inside.ready'

const TABLE: [path: string, state: string, over?: Partial<Policy>][] = [
  ['', 'running.starting'],
  ['process.ready', 'running.serving.open.fresh'],
  [`${UP} ~stable`, 'running.serving.open.stable'],
  ['process.crashed', 'backoff'],
  ['process.exited', 'backoff'],
  ['process.exited', 'backoff', { restart: 'transient' }],
  ['process.exited', 'failed', { restart: 'temporary' }],
  ['~start', 'running.killing'],
  ['~start process.exited', 'backoff'],
  ['~start ~kill', 'failed'],
  ['drain', 'running.draining'],
  ['drain process.ready', 'running.draining'],
  ['kill', 'running.killing'],
  ['kill process.crashed', 'stopped'],
  [`${UP} process.crashed`, 'running.serving.clearing'],
  [`${UP} process.crashed inside.exited`, 'backoff'],
  [`${UP} process.crashed inside.exited ~backoff`, 'running.starting'],
  [`${UP} process.crashed drain inside.exited`, 'stopped'],
  [`${UP} process.exited inside.exited`, 'backoff'],
  [`${UP} process.exited inside.exited`, 'stopped', { restart: 'transient' }],
  [`${UP} process.crashed inside.exited`, 'backoff', { restart: 'transient' }],
  [`${UP} process.crashed inside.exited`, 'stopped', { restart: 'temporary' }],
  [`${UP} process.failing`, 'running.serving.clearing'],
  [`${UP} process.failing inside.exited`, 'running.killing'],
  [`${UP} process.failing inside.exited process.exited`, 'backoff', { restart: 'transient' }],
  [`${UP} inside.exited`, 'running.serving.open.fresh'],
  [`${UP} inside.exited drain`, 'running.draining'],
  [`${UP} inside.crashed`, 'running.killing'],
  [`${UP} inside.crashed process.exited`, 'backoff'],
  [`${UP} inside.stuck process.exited`, 'failed'],
  [`${UP} process.stuck inside.exited`, 'failed'],
  [`${UP} drain`, 'running.serving.emptying'],
  [`${UP} drain drain`, 'running.serving.emptying'],
  [`${UP} drain inside.exited`, 'running.draining'],
  [`${UP} drain inside.exited drain`, 'running.draining'],
  [`${UP} drain inside.exited process.exited`, 'stopped'],
  [`${UP} drain inside.exited process.crashed`, 'stopped'],
  [`${UP} drain inside.exited ~drain`, 'running.killing'],
  [`${UP} drain inside.exited ~drain process.exited`, 'stopped'],
  [`${UP} drain inside.exited ~drain ~kill`, 'failed'],
  [`${UP} drain process.crashed`, 'running.serving.clearing'],
  [`${UP} drain process.crashed inside.exited`, 'stopped'],
  [`${UP} drain process.failing`, 'running.serving.clearing'],
  [`${UP} drain kill`, 'running.serving.clearing'],
  [`${UP} kill inside.exited`, 'running.killing'],
  [`${UP} kill inside.exited process.exited`, 'stopped'],
  ['process.crashed drain', 'stopped'],
  ['process.crashed kill', 'stopped'],
  ['process.crashed ~backoff process.crashed', 'failed'],
  ['drain process.exited process.ready', 'stopped']
]

t.test('a unit under its policy, by what happens to it', async (t) => {
  for (const [path, state, over] of TABLE)
    t.equal(follow(path, over).state, state, `${path || 'start'} ${over?.restart ?? ''}`)
})

t.test('a crash within the period counts, one that expired does not', async (t) => {
  const machine = supervised('disk', policy)
  let { snapshot } = follow('process.crashed ~backoff')
  ;[snapshot] = transition(machine, snapshot, { type: 'crash.expired' })
  ;[snapshot] = transition(machine, snapshot, EVENTS['process.crashed']!)
  t.equal(snapshot.value, 'backoff')
})

t.test(
  'a unit starts what is inside when its process is ready, and gives it what it was given and gives',
  async (t) => {
    t.strictSame(follow('').starts, [])
    const { starts, snapshot } = follow('process.ready')
    t.strictSame(starts, ['inside'])
    t.match(snapshot.children['inside']?.getSnapshot(), { input: { given: { outer: 1, disk: 1 } } })
  }
)

t.test('a unit drains the inside first, its process after that, and tells its host at the end', async (t) => {
  t.strictSame(follow(`${UP} drain`).said, ['host.ready', 'drain inside'])
  t.strictSame(follow(`${UP} drain inside.exited`).said.slice(2), ['drain process'])
  t.strictSame(follow(`${UP} drain inside.exited process.exited`).said.slice(3), ['host.exited'])
  t.strictSame(follow(`${UP} inside.crashed process.exited ~backoff process.crashed`).said, [
    'host.ready',
    'kill inside',
    'kill process',
    'kill process',
    'host.crashed'
  ])
  t.strictSame(follow('drain ~drain ~kill').said, ['drain process', 'kill process', 'host.stuck'])
})

t.test('a unit that fails for good says so before its end, one that will restart does not', async (t) => {
  t.strictSame(follow(`${UP} process.crashed`).said.slice(1), ['kill inside', 'kill process'])
  const once = { intensity: { crashes: 0, periodMs: 1000 } }
  t.strictSame(follow(`${UP} process.crashed`, once).said.slice(3), ['host.failing'])
  t.strictSame(follow(`${UP} drain process.crashed`, once).said.slice(2), ['kill inside', 'kill process'])
})

t.test('the first fault is the one reported, not what its kill led to', async (t) => {
  const { snapshot } = follow('~start process.crashed')
  t.equal(snapshot.context.error?.message, 'not ready within 200 ms')
})

/** Returns every combination of state and facts that is reachable by any order of events. */
function reachable(over: Partial<Policy>): Map<string, Snapshot> {
  const machine = supervised('disk', { ...policy, ...over })
  const found = new Map<string, Snapshot>()
  const queue: Snapshot[] = [initialTransition(machine, input)[0]]
  for (let snapshot = queue.pop(); snapshot !== undefined; snapshot = queue.pop()) {
    const { process, inside, ending, broken, stuck, crashes, gives } = snapshot.context
    const key = JSON.stringify([snapshot.value, process, inside, ending, broken, stuck, crashes, gives])
    if (found.has(key)) continue
    found.set(key, snapshot)
    for (const event of Object.values(EVENTS)) queue.push(transition(machine, snapshot, event)[0])
    for (const type of pendingTimers(snapshot))
      queue.push(transition(machine, snapshot, { type: type as never })[0])
    if (crashes > 0) queue.push(transition(machine, snapshot, { type: 'crash.expired' })[0])
  }
  return found
}

t.test('whatever order events come in', async (t) => {
  for (const restart of ['permanent', 'transient', 'temporary'] as const) {
    const machine = supervised('disk', { ...policy, restart })
    const snapshots = [...reachable({ restart }).values()]

    t.test(`a ${restart} unit never throws and reaches every state`, async (t) => {
      t.notOk(snapshots.some(({ status }) => status === 'error'))
      const names = new Set(snapshots.map(({ value }) => stateName(value)))
      t.strictSame(
        [...names].sort(),
        [
          ...(restart === 'temporary' ? [] : ['backoff']),
          'failed',
          'running.draining',
          'running.killing',
          'running.serving.clearing',
          'running.serving.emptying',
          'running.serving.open.fresh',
          'running.serving.open.stable',
          'running.starting',
          'stopped'
        ].sort()
      )
    })

    t.test(`a ${restart} unit starts again only after its process and the inside are gone`, async (t) => {
      const waiting = snapshots.filter(({ value }) => value === 'backoff')
      t.ok(waiting.every(({ context }) => context.process === 'gone' && context.inside === 'gone'))
      t.equal(waiting.length > 0, restart !== 'temporary')
    })

    for (const ask of ['drain', 'kill'] as const)
      t.test(
        `a ${ask} ends a ${restart} unit in every state, though its process never answers`,
        async (t) => {
          for (const from of snapshots) {
            let [snapshot] = transition(machine, from, { type: ask })
            const starts = snapshot.context.starts
            // The longest path: emptying, draining, killing, failed.
            for (let step = 0; step < 4 && snapshot.status === 'active'; step++) {
              const [timer] = pendingTimers(snapshot)
              const next = timer === undefined ? EVENTS['inside.exited']! : { type: timer as never }
              ;[snapshot] = transition(machine, snapshot, next)
            }
            if (snapshot.status !== 'done' || snapshot.context.starts !== starts)
              t.fail(`${stateName(from.value)} led to ${stateName(snapshot.value)}`)
          }
          t.ok(snapshots.length > 20, `${snapshots.length} situations`)
        }
      )
  }
})

t.test('a backoff doubles from floor to ceiling and stays there', async (t) => {
  t.strictSame(
    [1, 2, 3, 4, 5, 2000].map((attempt) => backoffMs(policy.backoff, attempt)),
    [100, 200, 400, 800, 1000, 1000]
  )
})

t.test('jitter takes up to half of a wait', async (t) => {
  t.equal(jittered(100, 0), 50)
  t.equal(jittered(100, 0.5), 75)
  t.ok(jittered(100, 1 - Number.EPSILON) <= 100)
})
