import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { SyntheticMarket } from '../../loadtest/market/blocks.ts'
import { DEADLINE_MS } from '../../src/kernel/http/deadline.ts'
import { systemPorts } from '../../src/ports.ts'
import { LOCAL_PLACES, processTurns, Turns } from '../../src/kernel/work/turns.ts'
import { until } from '../until.ts'
import { advance, virtualClock } from '../virtual-time.ts'
import { marketApp, type MarketApp } from './market-app.ts'

interface StalledApp {
  readonly app: MarketApp
  /** Headers of another tenant. */
  readonly other: Readonly<Record<string, string>>
  /** Reads that have begun. */
  readonly began: () => number
  /** Lets all reads go on, also later ones. */
  readonly recover: () => void
  /** Moves the time of deadlines and of waits. */
  readonly pass: (ms: number) => Promise<void>
}

/** An app whose store does not answer reads of launches. */
async function stalledApp(t: Test): Promise<StalledApp> {
  const clock = virtualClock()
  const gate = Promise.withResolvers<void>()
  let began = 0
  const app = await marketApp(
    t,
    (storage) => {
      const slow = new Proxy(storage.launches, {
        get: (target, name, receiver) => {
          const method: unknown = Reflect.get(target, name, receiver)
          if (typeof method !== 'function') return method
          return async (...given: unknown[]): Promise<unknown> => {
            began++
            await gate.promise
            return Reflect.apply(method, target, given)
          }
        }
      })
      return new Proxy(storage, {
        get: (target, name, receiver) =>
          name === 'launches' ? slow : (Reflect.get(target, name, receiver) as unknown)
      })
    },
    { clock, turns: new Turns(processTurns(clock)) }
  )
  await app.keys.createTenant('beta', 1)
  return {
    app,
    other: { 'x-api-key': await app.makeKey(['data:read'], { tenant: 'beta' }) },
    began: () => began,
    recover: gate.resolve,
    pass: (ms) => advance(clock, ms)
  }
}

const manyLaunches = ({ app }: StalledApp) =>
  Array.from({ length: 30 }, (_, at) => app.get(`/v1/launches?limit=${at + 1}`))

t.test(
  'a tenant with many slow requests waits for itself, and another tenant is answered meanwhile',
  async (t) => {
    const stalled = await stalledApp(t)
    const { app, other, began } = stalled
    const asked = manyLaunches(stalled)
    await until(() => began() === 6)
    t.equal((await app.get('/v1/me', other)).status, 200)
    t.equal(began(), 6, 'of the first tenant no more have begun than it has places')
    stalled.recover()
    t.strictSame(new Set((await Promise.all(asked)).map(({ status }) => status)), new Set([200]))
  }
)

t.test(
  'while the disk stalls, each tenant gets 503 by its own deadline, and what needs no disk is answered',
  async (t) => {
    const stalled = await stalledApp(t)
    const { app, other, began } = stalled
    const asked = manyLaunches(stalled)
    await until(() => began() === 6)
    const others = app.get('/v1/launches?limit=50', other)
    await until(() => began() === 7)
    t.equal((await app.get('/v1/stats', other)).status, 200, 'it waits for no read that stalls')
    t.match((await app.get('/v1/health', {})).body, { status: String }, 'nor does health')
    await stalled.pass(DEADLINE_MS)
    t.match(await others, { status: 503, body: { code: 'deadline_exceeded' } })
    const firstOnes = await Promise.all(asked.slice(0, 6))
    t.strictSame(new Set(firstOnes.map(({ status }) => status)), new Set([503]))
    stalled.recover()
    const later = await Promise.all(asked.slice(6))
    t.strictSame(new Set(later.map(({ status }) => status)), new Set([200]), 'those that waited are answered')
    t.equal((await app.get('/v1/launches?limit=50', other)).status, 200)
  }
)

t.test(
  'clients that wait for the same long answer get it a few at a time, and not past the bound',
  async (t) => {
    // Each look at the clock takes a millisecond: a turn of the event loop begins no more than a few pieces of work.
    let elapsedMs = 0
    const turns = new Turns({ ...processTurns(systemPorts.clock), elapsedMs: () => ++elapsedMs })
    const app = await marketApp(t, undefined, { turns })
    await app.commit(...new SyntheticMarket({ seed: 1, trades: 500, mints: 100, wallets: 10 }).blocks())
    const mostPerTurn = { answers: 0, ended: 0 }
    app.app.addHook('onSend', async (_request, _reply, payload) => {
      mostPerTurn.answers++
      return payload
    })
    let isOver = false
    const counting = (async () => {
      while (!isOver) {
        mostPerTurn.ended = Math.max(mostPerTurn.ended, mostPerTurn.answers)
        mostPerTurn.answers = 0
        await yieldToEventLoop()
      }
    })()
    const answers = await Promise.all(Array.from({ length: 60 }, () => app.get('/v1/launches?limit=200')))
    isOver = true
    await counting
    t.ok(JSON.stringify(answers[0]!.body).length > 16 * 1024, 'it is long')
    t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]))
    t.ok(
      mostPerTurn.ended <= LOCAL_PLACES.ofTenant,
      `${mostPerTurn.ended} answers in one turn of the event loop`
    )
  }
)
