import t, { type Test } from 'tap'
import { aborted } from '../../../actors/supervision/aborted.ts'
import { giving, using } from '../../../actors/supervision/held.ts'
import type { ProcessScope, Run } from '../../../actors/supervision/process.ts'
import { Handle } from '../../../src/kernel/compose/handle.ts'
import { advance, virtualClock } from '../../virtual-time.ts'

interface Started<Gives> {
  readonly ended: Promise<void>
  readonly given: Gives[]
  readonly drain: () => void
}

function start<Needs, Gives>(input: Needs, run: Run<Needs, Gives>): Started<Gives> {
  const draining = new AbortController()
  const given: Gives[] = []
  const scope: ProcessScope<Needs, Gives> = {
    input,
    draining: draining.signal,
    signal: new AbortController().signal,
    ready: (gives) => void given.push(gives),
    gauge: () => undefined,
    supervises: () => undefined,
    show: () => undefined,
    report: () => undefined
  }
  return { ended: run(scope), given, drain: () => draining.abort() }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A process that reads its resource until it is drained, and then takes some time to finish. */
function reader(log: string[], finish: (signal: AbortSignal) => Promise<void>): Run<{ pool: string }> {
  return async ({ input, draining, signal, ready }) => {
    log.push(`uses ${input.pool}`)
    ready()
    await aborted(draining)
    await finish(signal)
    log.push(`left ${input.pool}`)
  }
}

const noTime = async (): Promise<void> => undefined

t.test('a handle has a resource from the time its process is ready until it ends', async (t) => {
  const handle = new Handle<string>('the pools')
  const told: (string | null)[] = []
  const unsubscribe = handle.onChange((resource) => told.push(resource))
  t.throws(() => handle.get(), { code: 'RESTARTING', message: 'the pools restart; retry' })
  const process = start(
    {},
    giving(handle, async ({ draining, ready }) => {
      t.equal(handle.current, null)
      ready('a pool')
      await aborted(draining)
    })
  )
  t.equal(handle.get(), 'a pool')
  t.same(process.given, ['a pool'], 'what is inside has it too')
  process.drain()
  await process.ended
  t.same(told, ['a pool', null])
  unsubscribe()
  handle.set('another')
  t.equal(told.length, 2)
  const failing = giving(handle, async ({ ready }) => {
    ready('third')
    throw new Error('no more')
  })
  await t.rejects(start({}, failing).ended, { message: 'no more' })
  t.equal(handle.current, null, 'a crash ends it too')
})

t.test('a process that uses a handle begins when there is a resource', async (t) => {
  const pool = new Handle<string>('the pools')
  const log: string[] = []
  const process = start({}, using({ pool }, virtualClock(), reader(log, noTime)))
  await turn()
  t.same(log, [])
  pool.set('a')
  await turn()
  t.same(log, ['uses a'])
  process.drain()
  await process.ended
  t.same(log, ['uses a', 'left a'])
  const late = start({}, using({ pool: new Handle<string>('none') }, virtualClock(), reader(log, noTime)))
  late.drain()
  await late.ended
  t.equal(log.length, 2, 'drained before there is one, it does not begin')
})

/** Starts a reader of a pool that is then replaced. */
async function replaced(t: Test, finish: (signal: AbortSignal) => Promise<void>) {
  const pool = new Handle<string>('the pools')
  const clock = virtualClock()
  const log: string[] = []
  pool.set('a')
  const run = using({ pool }, clock, reader(log, finish))
  const { ended } = start({}, run)
  const crash = t.rejects(ended, { message: 'a resource that it uses was replaced' })
  await turn()
  pool.set(null)
  return { pool, clock, log, run, crash }
}

t.test('a process whose resource ends is drained, and crashes so that it begins with the next', async (t) => {
  const { pool, log, run, crash } = await replaced(t, noTime)
  await crash
  t.same(log, ['uses a', 'left a'])
  const again = start({}, run)
  await turn()
  t.equal(log.length, 2, 'it waits for another one')
  pool.set('b')
  await turn()
  t.equal(log.at(-1), 'uses b')
  again.drain()
  await again.ended
})

t.test('a process that does not finish without its resource is killed after five seconds', async (t) => {
  const { clock, log, crash } = await replaced(t, (signal) => aborted(signal))
  await advance(clock, 4_900)
  t.same(log, ['uses a'])
  await advance(clock, 200)
  await crash
  t.same(log, ['uses a', 'left a'])
})
