import t from 'tap'
import { supervisor } from '../../../actors/supervision/unit.ts'
import type { Policy } from '../../../machines/unit.ts'
import { advance, settle } from '../../virtual-time.ts'
import { aborted, nodeAt, Recorder } from './recorder.ts'
import type { Scope } from './recorder.ts'

const policy: Partial<Policy> = {
  intensity: { crashes: 1, periodMs: 60_000 },
  backoff: { floorMs: 10, ceilingMs: 10 },
  startMs: 200,
  drainMs: 100,
  killMs: 20
}

/** A tree of one misbehaving process with a normal one on each side. */
async function around(live?: (scope: Scope, instance: string) => Promise<void>, over: Partial<Policy> = {}) {
  const recorder = new Recorder()
  const awkward = recorder.process('awkward', { ...policy, ...over }, live)
  const root = supervisor(
    'service',
    'rest_for_one',
    [
      recorder.process('storage', { intensity: { crashes: 0, periodMs: 1 } }),
      awkward,
      recorder.process('edge')
    ],
    { intensity: { crashes: 0, periodMs: 1 } }
  )
  const running = await recorder.start(root)
  return { recorder, running, clock: recorder.clock, node: () => nodeAt(running.tree(), 'awkward') }
}

t.test(
  'a process that crashes before it is ready is restarted, and nothing inside it has started',
  async (t) => {
    const { recorder, running, clock } = await around(async ({ ready, draining }, instance) => {
      if (instance === 'awkward#1') throw new Error('too early')
      ready(instance)
      await aborted(draining)
    })
    t.strictSame(recorder.take(), ['+storage#1', '+awkward#1', '-awkward#1'])
    await advance(clock, 10)
    t.strictSame(recorder.take(), ['+awkward#2', '+edge#1'])
    await running.drain()
  }
)

t.test('a process that returns before it is ready has crashed', async (t) => {
  const { running, clock, node } = await around(async () => {}, { restart: 'transient' })
  t.match(node(), { state: 'backoff', last_error: { message: 'returned without a request to drain' } })
  await advance(clock, 10)
  t.match(await running.done, { kind: 'failed' })
})

t.test('a process that is never ready is killed at its deadline and restarted', async (t) => {
  const { recorder, running, clock, node } = await around(async ({ ready, signal }, instance) => {
    if (instance === 'awkward#2') ready(instance)
    await aborted(signal)
  })
  await advance(clock, 199)
  t.equal(node().state, 'starting')
  await advance(clock, 1)
  t.match(node(), { state: 'backoff', last_error: { message: 'not ready within 200 ms' } })
  await advance(clock, 10)
  t.ok(recorder.alive.has('edge#1'))
  const drained = running.drain()
  await advance(clock, 120)
  await drained
})

t.test('a process that throws before its first await crashes like one that rejects', async (t) => {
  const throwing = (): never => {
    throw new TypeError('synchronous')
  }
  const { running, clock, node } = await around(throwing)
  t.match(node(), { state: 'backoff', last_error: { message: 'synchronous' } })
  await advance(clock, 10)
  t.match(await running.done, { kind: 'failed', error: TypeError })
})

t.test('a process that rejects with a non-error has crashed with an error of the same text', async (t) => {
  const { running, clock } = await around(async () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw 418
  })
  await advance(clock, 10)
  const outcome = await running.done
  t.match(outcome, { kind: 'failed', error: { message: '418', cause: 418 } })
})

t.test('a process that ignores its drain is killed at its deadline, then the next is asked', async (t) => {
  const { recorder, running, clock, node } = await around(async ({ ready, signal }, instance) => {
    ready(instance)
    await aborted(signal)
  })
  recorder.take()
  const drained = running.drain()
  await advance(clock, 99)
  t.strictSame(recorder.take(), ['-edge#1'])
  t.equal(node().state, 'draining')
  await advance(clock, 1)
  t.strictSame(await drained, { kind: 'stopped' })
  t.strictSame(recorder.take(), ['-awkward#1', '-storage#1'])
  t.match(node().last_error, { message: 'still running 100 ms after its drain', at: 100 })
})

t.test('a process that rejects with the reason of its kill has not crashed', async (t) => {
  const { running, node, clock } = await around(async ({ ready, signal }, instance) => {
    ready(instance)
    await aborted(signal)
    throw new Error('wrapped', { cause: signal.reason })
  })
  const {
    running: quiet,
    node: quietNode,
    clock: quietClock
  } = await around(async ({ ready, signal }, instance) => {
    ready(instance)
    await aborted(signal)
    signal.throwIfAborted()
  })
  const drains = [running.drain(), quiet.drain()]
  await advance(clock, 120)
  await advance(quietClock, 120)
  await Promise.all(drains)
  t.equal(node().last_error?.message, 'wrapped')
  t.equal(quietNode().last_error?.message, 'still running 100 ms after its drain')
})

t.test('a process that crashes during its drain is not restarted, and the drain goes on', async (t) => {
  const { recorder, running, node } = await around(async ({ ready, draining }, instance) => {
    ready(instance)
    await aborted(draining)
    throw new Error('could not flush')
  })
  t.strictSame(await running.drain(), { kind: 'stopped' })
  t.match(node(), { instance: 1, state: 'stopped', last_error: { message: 'could not flush' } })
  t.equal(recorder.alive.size, 0)
})

t.test('an outer process that crashes while the inside drains ends the drain all the same', async (t) => {
  const recorder = new Recorder()
  const storage = recorder.process('storage', policy)
  const edge = recorder.process('edge', policy, async ({ ready, signal }, instance) => {
    ready(instance)
    await aborted(signal)
  })
  const running = await recorder.start(supervisor('service', 'rest_for_one', [storage, edge]))
  const drained = running.drain()
  await settle()
  running.kill('storage')
  t.strictSame(await drained, { kind: 'stopped' })
  t.strictSame(recorder.log.slice(2), ['-storage#1', '-edge#1'])
})

t.test('a drain during a backoff ends the unit at once', async (t) => {
  const { running, clock, recorder } = await around()
  running.kill('awkward')
  await settle()
  t.strictSame(await running.drain(), { kind: 'stopped' })
  await advance(clock, 50)
  t.equal(recorder.alive.size, 0)
})

t.test('a drain before everything is up ends what has started', async (t) => {
  const { running, recorder } = await around(async ({ draining }) => aborted(draining))
  t.strictSame(await running.drain(), { kind: 'stopped' })
  t.strictSame(recorder.log, ['+storage#1', '+awkward#1', '-awkward#1', '-storage#1'])
  t.equal(await running.ready, false)
})

t.test('a second drain, and one after the end, change nothing', async (t) => {
  const { running, recorder } = await around()
  const first = running.drain()
  const second = running.drain()
  t.strictSame([await first, await second, await running.drain()], Array(3).fill({ kind: 'stopped' }))
  t.equal(recorder.log.length, 6)
})

t.test('a process that ignores its kill is never replaced: the whole tree fails', async (t) => {
  const { recorder, running, clock, node } = await around(
    async ({ ready }, instance) => {
      if (instance === 'awkward#1') ready(instance)
      await new Promise(() => {})
    },
    { intensity: { crashes: 9, periodMs: 60_000 } }
  )
  const edgeFails = running.kill('storage')
  t.ok(edgeFails)
  await advance(clock, 200)
  t.match(await running.done, { kind: 'failed', error: { message: 'still running 20 ms after its kill' } })
  t.equal(node().state, 'failed')
  t.strictSame([...recorder.alive], ['awkward#1'], 'one instance, left to the end of the process')
  t.notOk(recorder.log.includes('+storage#2'), 'nothing is built beside it')
})

t.test('a process that outlives its drain and its kill is named in the outcome of the drain', async (t) => {
  const { recorder, running, clock } = await around(async ({ ready }, instance) => {
    ready(instance)
    await new Promise(() => {})
  })
  const drained = running.drain()
  await advance(clock, 120)
  t.match(await drained, { kind: 'failed', error: { message: 'still running 20 ms after its kill' } })
  t.notOk(recorder.alive.has('storage#1'), 'the outer ones were drained')
})

t.test('the drain of the whole tree has a deadline, whatever its units were promised', async (t) => {
  const recorder = new Recorder()
  const patient = { drainMs: 60_000, killMs: 60_000 }
  const slow = (name: string) =>
    recorder.process(name, patient, async ({ ready, signal }, instance) => {
      ready(instance)
      await aborted(signal)
    })
  const root = supervisor('service', 'rest_for_one', [slow('storage'), slow('edge')])
  const running = await recorder.start(root)
  const drained = running.drain()
  await advance(recorder.clock, 9_999)
  t.equal(recorder.alive.size, 2)
  await advance(recorder.clock, 1)
  t.strictSame(await drained, { kind: 'stopped' })
  t.strictSame(recorder.log.slice(2), ['-edge#1', '-storage#1'])
})

t.test('a tree that ignores its kill is abandoned at a deadline', async (t) => {
  const recorder = new Recorder()
  const deaf = recorder.process('deaf', { drainMs: 60_000, killMs: 60_000 }, async ({ ready }, instance) => {
    ready(instance)
    await new Promise(() => {})
  })
  const running = await recorder.start(supervisor('service', 'rest_for_one', [deaf]), {
    deadlines: { drainMs: 100, killMs: 10 }
  })
  const drained = running.drain()
  await advance(recorder.clock, 110)
  t.match(await drained, { kind: 'failed', error: { message: 'not ended 10 ms after its kill' } })
})

t.test('a process that is not running cannot be killed', async (t) => {
  const { running } = await around()
  t.equal(running.kill('nobody'), false)
  running.kill('awkward')
  await settle()
  t.equal(running.kill('awkward'), false)
  await running.drain()
  t.equal(running.kill('storage'), false)
})

t.test('a killed process that returns calmly has crashed with the error of the kill', async (t) => {
  const { running, node, clock } = await around()
  running.kill('awkward', new Error('pulled the plug'))
  await advance(clock, 10)
  t.match(node(), { instance: 2, last_error: { message: 'pulled the plug' } })
  await running.drain()
})
