import t from 'tap'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { supervisor } from '../../../actors/supervision/unit.ts'
import { StartRefused } from '../../../machines/start-refused.ts'
import { advance, settle } from '../../virtual-time.ts'
import { aborted, nodeAt, Recorder } from './recorder.ts'

const UP = ['+storage#1', '+source#1', '+ingest#1', '+edge#1']

/** A tree of the service's shape. */
function service(recorder: Recorder) {
  const chain = supervisor('chain', 'one_for_all', [recorder.process('source'), recorder.process('ingest')])
  return supervisor('service', 'rest_for_one', [recorder.process('storage'), chain, recorder.process('edge')])
}

t.test('units start in order, each on what the ones before it gave', async (t) => {
  const recorder = new Recorder()
  const running = await recorder.start(service(recorder))
  t.equal(await running.ready, true)
  t.strictSame(recorder.take(), UP)
  t.strictSame(recorder.builtOn.get('edge#1'), ['storage#1', 'source#1', 'ingest#1'])
  await running.drain()
})

t.test('a unit waits until the one before it is ready', async (t) => {
  const recorder = new Recorder()
  const slow = recorder.process('storage', {}, async ({ ready, draining }, instance) => {
    recorder.clock.setTimeout(() => ready(instance), 40)
    await aborted(draining)
  })
  const running = await recorder.start(
    supervisor('service', 'rest_for_one', [slow, recorder.process('edge')])
  )
  await advance(recorder.clock, 39)
  t.strictSame(recorder.take(), ['+storage#1'])
  t.equal(nodeAt(running.tree(), 'edge').state, 'waiting')
  await advance(recorder.clock, 1)
  t.strictSame(recorder.take(), ['+edge#1'])
  await running.drain()
})

t.test('a drain ends the units in reverse, each before the next is asked', async (t) => {
  const recorder = new Recorder()
  const running = await recorder.start(service(recorder))
  recorder.take()
  t.strictSame(await running.drain(), { kind: 'stopped' })
  t.strictSame(recorder.take(), ['-edge#1', '-ingest#1', '-source#1', '-storage#1'])
})

// INVARIANTS 8
t.test('a crash takes everything inside with it and leaves everything outside as it was', async (t) => {
  const cases: [path: string, outer: string[], anew: string[]][] = [
    ['edge', ['storage#1', 'source#1', 'ingest#1'], ['+edge#2']],
    ['chain/ingest', ['storage#1'], ['+source#2', '+ingest#2', '+edge#2']],
    ['chain/source', ['storage#1'], ['+source#2', '+ingest#2', '+edge#2']],
    ['storage', [], ['+storage#2', '+source#2', '+ingest#2', '+edge#2']]
  ]
  for (const [path, outer, anew] of cases)
    await t.test(path, async (t) => {
      const recorder = new Recorder()
      const running = await recorder.start(service(recorder))
      recorder.take()
      t.equal(running.kill(path, new Error('cosmic ray')), true)
      await advance(recorder.clock, 100)
      const log = recorder.take()
      t.strictSame(
        log.filter((line) => line.startsWith('+')),
        anew,
        'come back in order'
      )
      t.notOk(
        log.slice(log.indexOf(anew[0]!)).some((line) => line.startsWith('-')),
        'old ones ended first'
      )
      for (const instance of outer) t.ok(recorder.alive.has(instance), `${instance} is the same`)
      t.strictSame(
        recorder.builtOn.get('edge#2'),
        ['storage', 'source', 'ingest'].map((name) =>
          [...recorder.alive].find((each) => each.startsWith(name))
        ),
        'the edge is built on those that live'
      )
      const { instance, restarts, last_error: error } = nodeAt(running.tree(), path)
      t.match({ instance, restarts, error }, { instance: 2, restarts: 1, error: { message: 'cosmic ray' } })
      await running.drain()
    })
})

t.test('under one_for_one only the crashed unit is restarted', async (t) => {
  const recorder = new Recorder()
  const tenants = supervisor('tenants', 'one_for_one', [recorder.process('a'), recorder.process('b')])
  const running = await recorder.start(
    supervisor('service', 'rest_for_one', [tenants, recorder.process('edge')])
  )
  t.strictSame(recorder.take(), ['+a#1', '+b#1', '+edge#1'])
  running.kill('tenants/a')
  await advance(recorder.clock, 100)
  t.strictSame(recorder.take(), ['-a#1', '+a#2'])
  await running.drain()
  t.equal(recorder.alive.size, 0)
})

t.test('a unit that fails under one_for_one has its supervisor restart all of them', async (t) => {
  const recorder = new Recorder()
  const a = recorder.process('a', { intensity: { crashes: 0, periodMs: 1000 } })
  const running = await recorder.start(supervisor('tenants', 'one_for_one', [a, recorder.process('b')]))
  recorder.take()
  running.kill('a')
  await advance(recorder.clock, 100)
  t.strictSame(recorder.take(), ['-a#1', '-b#1', '+a#2', '+b#2'])
  await running.drain()
})

t.test('restarts by policy and by outcome', async (t) => {
  const cases = [
    ['permanent', 'returns', 2],
    ['permanent', 'rejects', 2],
    ['transient', 'returns', 1],
    ['transient', 'rejects', 2],
    ['temporary', 'returns', 1],
    ['temporary', 'rejects', 1]
  ] as const
  for (const [restart, end, instances] of cases) {
    const recorder = new Recorder()
    const mortal = recorder.process('mortal', { restart }, async ({ ready, draining }, instance) => {
      ready(instance)
      if (instance !== 'mortal#1') return aborted(draining)
      await settle()
      if (end === 'rejects') throw new Error('no')
    })
    const running = await recorder.start(
      supervisor('service', 'one_for_one', [mortal, recorder.process('other')])
    )
    await advance(recorder.clock, 100)
    t.equal(nodeAt(running.tree(), 'mortal').instance, instances, `${restart} ${end}`)
    t.ok(recorder.alive.has('other#1'))
    t.strictSame(await running.drain(), { kind: 'stopped' })
  }
})

t.test('a supervisor whose children have all ended well has ended well', async (t) => {
  const recorder = new Recorder()
  const job = recorder.process('job', { restart: 'transient' }, async ({ ready }, instance) =>
    ready(instance)
  )
  const running = await recorder.start(supervisor('service', 'one_for_one', [job]))
  t.strictSame(await running.done, { kind: 'stopped' })
})

t.test('waits before restarts double, up to a ceiling, and start over after a stable time', async (t) => {
  const recorder = new Recorder()
  const policy = {
    intensity: { crashes: 10, periodMs: 60_000 },
    backoff: { floorMs: 10, ceilingMs: 40 },
    stableAfterMs: 100
  }
  const running = await recorder.start(recorder.process('edge', policy))
  const waited = async (): Promise<number> => {
    const { instance } = running.tree()
    running.kill('')
    for (let ms = 0; ; ms++) {
      await settle()
      if (running.tree().instance > instance) return ms
      recorder.clock.increment(1)
    }
  }
  t.strictSame([await waited(), await waited(), await waited(), await waited()], [10, 20, 40, 40])
  await advance(recorder.clock, 99)
  t.equal(await waited(), 40)
  await advance(recorder.clock, 100)
  t.equal(await waited(), 10)
  await running.drain()
})

t.test('jitter makes a wait shorter, by half at most', async (t) => {
  for (const [random, ms] of [
    [0, 50],
    [0.5, 75],
    [0.98, 99]
  ] as const) {
    const recorder = new Recorder()
    const running = await recorder.start(recorder.process('edge'), { random })
    running.kill('')
    await advance(recorder.clock, ms - 1)
    t.equal(running.tree().state, 'backoff')
    await advance(recorder.clock, 1)
    t.equal(running.tree().state, 'fresh', `random ${random} waits ${ms} ms`)
    await running.drain()
  }
})

t.test('more crashes than the intensity allows fail the unit; crashes further apart do not', async (t) => {
  const policy = {
    intensity: { crashes: 2, periodMs: 1000 },
    backoff: { floorMs: 10, ceilingMs: 10 }
  }
  for (const [apartMs, outcome] of [
    [400, 'failed'],
    [600, 'running']
  ] as const) {
    const recorder = new Recorder()
    const running = await recorder.start(recorder.process('edge', policy))
    let ended = 'running'
    void running.done.then(({ kind }) => (ended = kind))
    for (let crash = 0; crash < 6; crash++) {
      running.kill('')
      await advance(recorder.clock, apartMs)
    }
    t.equal(ended, outcome, `every ${apartMs} ms`)
    await running.drain()
  }
})

t.test(
  'a failure climbs: each level outwards restarts until its own intensity, then the service ends',
  async (t) => {
    const recorder = new Recorder()
    const once = { intensity: { crashes: 1, periodMs: 60_000 }, backoff: { floorMs: 10, ceilingMs: 10 } }
    const edge = recorder.process('edge', once, async () => {
      throw new Error('address in use')
    })
    const root = supervisor('service', 'rest_for_one', [recorder.process('storage', once), edge], once)
    const running = await recorder.start(root)
    await advance(recorder.clock, 200)
    t.match(await running.done, { kind: 'failed', error: { message: 'address in use' } })
    t.equal(await running.ready, false)
    // The edge is tried twice for each of two tries of storage, for each of two tries of the service.
    t.equal(recorder.log.filter((line) => line.startsWith('+edge')).length, 8)
    t.equal(recorder.log.filter((line) => line.startsWith('+storage')).length, 4)
    t.equal(recorder.alive.size, 0)
  }
)

t.test(
  'with the values of the service, an edge that never comes up ends it within four minutes',
  async (t) => {
    const recorder = new Recorder()
    const edge = recorder.process('edge', {}, async () => {
      throw new Error('address in use')
    })
    const storage = recorder.process('storage', { intensity: { crashes: 3, periodMs: 60_000 } })
    const running = await recorder.start(supervisor('service', 'rest_for_one', [storage, edge]))
    let ended = false
    void running.done.then(() => (ended = true))
    for (let ms = 0; ms < 240_000 && !ended; ms++) await advance(recorder.clock, 1)
    t.match(await running.done, { kind: 'failed' })
    t.ok(recorder.clock.now() > 10_000)
  }
)

t.test('the live tree shows states, restarts, times, errors and gauges', async (t) => {
  const recorder = new Recorder()
  let depth = 3
  const ingest = recorder.process('ingest', {}, async ({ ready, gauge, report, draining }, instance) => {
    gauge('queue_blocks', () => depth)
    report('slot 7 is late')
    ready(instance)
    await aborted(draining)
  })
  await advance(recorder.clock, 5)
  const running = await recorder.start(supervisor('service', 'one_for_all', [ingest]))
  depth = 4
  t.strictSame(running.tree(), {
    name: 'service',
    kind: 'supervisor',
    strategy: 'one_for_all',
    restart: 'transient',
    state: 'fresh',
    instance: 1,
    restarts: 0,
    started_at: 5,
    last_error: null,
    gauges: {},
    children: [
      {
        name: 'ingest',
        kind: 'process',
        strategy: null,
        restart: 'permanent',
        state: 'fresh',
        instance: 1,
        restarts: 0,
        started_at: 5,
        last_error: { message: 'slot 7 is late', at: 5 },
        gauges: { queue_blocks: 4 },
        children: []
      }
    ]
  })
  running.kill('ingest')
  await settle()
  t.match(nodeAt(running.tree(), 'ingest'), { gauges: {}, last_error: { message: 'killed', at: 5 } })
  t.equal(running.tree().state, 'backoff')
  await advance(recorder.clock, 100)
  t.match(nodeAt(running.tree(), 'ingest'), { restarts: 1, started_at: 105, gauges: { queue_blocks: 4 } })
  await running.drain()
  t.equal(nodeAt(running.tree(), 'ingest').state, 'stopped')
})

t.test(
  'a refused start is the only fault and the reason of the end, also where a unit outlives its kill',
  async (t) => {
    const recorder = new Recorder()
    const stubborn = recorder.process('holders', {}, async ({ ready }, instance) => {
      ready(instance)
      await new Promise(() => undefined)
    })
    const refused = recorder.process('edge', {}, async () => {
      throw new StartRefused('cannot listen')
    })
    const faults: string[] = []
    const { done } = supervise(
      supervisor('service', 'rest_for_one', [recorder.process('storage'), stubborn, refused]),
      { clock: recorder.clock, random: () => 1 },
      undefined,
      (_, error) => void faults.push(error.message)
    )
    await advance(recorder.clock, 60_000)
    t.match(await done, { kind: 'failed', error: { message: 'cannot listen' } })
    t.same([...new Set(faults)], ['cannot listen'])
  }
)

t.test('two units of one name in one place are refused', async (t) => {
  const recorder = new Recorder()
  const twice = supervisor('service', 'rest_for_one', [recorder.process('edge'), recorder.process('edge')])
  await t.rejects(recorder.start(twice), { message: 'two units are called edge' })
})

t.test('a tree is disposed of by its drain', async (t) => {
  const recorder = new Recorder()
  {
    await using running = await recorder.start(service(recorder))
    t.equal(running.tree().state, 'fresh')
  }
  t.equal(recorder.alive.size, 0)
})
