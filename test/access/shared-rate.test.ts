import fc from 'fast-check'
import t from 'tap'
import type { RateUse } from '../../storage/cluster/coordination.ts'
import { ANSWER_MS, SharedRate, WAITING_MAX } from '../../src/access/shared-rate.ts'
import { PROCESSES_ASSUMED } from '../../src/access/shared-work.ts'
import { advance, settle, virtualClock, type VirtualClock } from '../virtual-time.ts'
import { randomRuns } from '../random-runs.ts'
import { MemoryCounts } from './memory-counts.ts'

function start(): { clock: VirtualClock; counts: MemoryCounts; process: () => SharedRate } {
  const clock = virtualClock()
  const counts = new MemoryCounts(clock)
  return { clock, counts, process: () => new SharedRate(counts, { clock, namesMax: 100 }) }
}

/** Makes calls one after another and returns the number that was allowed. */
async function allowedOf(
  rate: SharedRate,
  calls: number,
  quota: number,
  clock: VirtualClock
): Promise<number> {
  let allowed = 0
  for (let i = 0; i < calls; i++) if ((await rate.take('key', quota, clock.now())).allowed) allowed++
  return allowed
}

t.test('processes take out of one quota, in the minutes of the shared clock', async (t) => {
  const { clock, counts, process } = start()
  counts.aheadMs = 59_500
  const [one, two] = [process(), process()]
  t.strictSame(await one.take('key', 3, 0), { allowed: true, left: 2, resetAt: 60, resetIn: 1 })
  t.strictSame(await two.take('key', 3, 0), { allowed: true, left: 1, resetAt: 60, resetIn: 1 })
  t.strictSame(await two.look('key', 3, 0), { allowed: true, left: 1, resetAt: 60, resetIn: 1 })
  t.strictSame(await one.take('key', 3, 0), { allowed: true, left: 0, resetAt: 60, resetIn: 1 })
  t.strictSame(await two.take('key', 3, 0), { allowed: false, left: 0, resetAt: 60, resetIn: 1 })
  clock.increment(500)
  t.strictSame(await two.take('key', 3, 500), { allowed: true, left: 2, resetAt: 120, resetIn: 60 })
  t.equal(one.callsInShare + two.callsInShare, 0)
})

t.test('a shared count that is away leaves each process its share, at least one call', async (t) => {
  const { clock, counts, process } = start()
  counts.available = false
  for (const [processes, quota, share] of [
    [1, 10, 10],
    [2, 10, 5],
    [3, 10, 3],
    [20, 10, 1],
    [3, 0, 0],
    [null, 12, 12 / PROCESSES_ASSUMED]
  ] as const) {
    counts.processes = processes
    const rate = process()
    t.notOk(rate.take('other', 1, 0) instanceof Promise, 'nobody waits')
    t.equal(await allowedOf(rate, 20, quota, clock), share, `${quota} calls for ${processes} processes`)
  }
  t.equal(counts.calls.length, 0, 'it is not asked')
})

t.test(
  'what a process has let through before counts in its share, by the minutes of the shared clock',
  async (t) => {
    const { clock, counts, process } = start()
    counts.aheadMs = 30_000
    const rate = process()
    t.equal(await allowedOf(rate, 4, 10, clock), 4)
    counts.available = false
    t.match(await rate.look('key', 10, 0), { allowed: true, left: 1, resetAt: 60, resetIn: 30 })
    t.equal(await allowedOf(rate, 10, 10, clock), 1)
    clock.increment(30_000)
    t.equal(await allowedOf(rate, 10, 10, clock), 5, 'a minute later')
  }
)

t.test('a count that is back is used at once, and begins at what was let through meanwhile', async (t) => {
  const { clock, counts, process } = start()
  const rate = process()
  t.equal(await allowedOf(rate, 3, 10, clock), 3)
  counts.available = false
  t.equal(await allowedOf(rate, 10, 10, clock), 2, 'up to the share')
  counts.forget()
  counts.available = true
  t.match(await rate.take('key', 10, 0), { allowed: true, left: 4 })
  t.equal(await allowedOf(rate, 10, 10, clock), 4)
  clock.increment(60_000)
  t.match(await rate.take('key', 10, clock.now()), { allowed: true, left: 9 }, 'only in its minute')
})

t.test(
  'nobody waits for longer than the limit, and while an answer is overdue nobody waits at all',
  async (t) => {
    const { clock, counts, process } = start()
    const rate = process()
    const hold = Promise.withResolvers<void>()
    counts.beforeAnswer = () => hold.promise
    const waits: number[] = []
    const uses: RateUse[] = []
    for (let i = 0; i < 30; i++) {
      const sinceMs = clock.now()
      void Promise.resolve(rate.take('key', 10, sinceMs)).then((use) => {
        waits.push(clock.now() - sinceMs)
        uses.push(use)
      })
      await advance(clock, 7)
    }
    await advance(clock, ANSWER_MS)
    t.equal(waits.length, 30)
    t.ok(Math.max(...waits) >= ANSWER_MS / 2 && Math.max(...waits) <= ANSWER_MS, `${Math.max(...waits)} ms`)
    const asked = counts.calls.length
    t.ok(asked < 30, 'later calls were not sent')
    t.equal(uses.filter(({ allowed }) => allowed).length, 5, 'the share')
    t.notOk(rate.take('key', 10, clock.now()) instanceof Promise)
    hold.resolve()
    await settle()
    t.ok(rate.take('key', 10, clock.now()) instanceof Promise, 'it answers again')
    t.equal(counts.calls.length, asked + 1)
  }
)

t.test('a process that stood still reads the answers that came meanwhile before it gives up', async (t) => {
  const { clock, counts, process } = start()
  const rate = process()
  const hold = Promise.withResolvers<void>()
  counts.beforeAnswer = () => hold.promise
  const use = rate.take('key', 10, 0)
  // One timer fires late, as after a pause of the process. The answer is read in that iteration of the event loop.
  clock.increment(5_000)
  hold.resolve()
  t.match(await use, { allowed: true, left: 9 })
  t.equal(rate.callsInShare, 0)
})

t.test('a call that the shared count refuses to count is counted in the share', async (t) => {
  const { clock, counts, process } = start()
  const rate = process()
  counts.beforeAnswer = () => Promise.reject(new Error('out of memory'))
  t.equal(await allowedOf(rate, 10, 10, clock), 5)
  t.equal(rate.callsInShare, 10)
})

t.test("calls wait up to the limit, and one more is counted in the process's share", async (t) => {
  const { clock, counts, process } = start()
  const rate = process()
  const hold = Promise.withResolvers<void>()
  counts.beforeAnswer = () => hold.promise
  const waiting = Array.from({ length: WAITING_MAX }, () => rate.take('key', 1, 0))
  t.ok(waiting.every((use) => use instanceof Promise))
  t.notOk(rate.take('key', 1, 0) instanceof Promise)
  hold.resolve()
  const uses = await Promise.all(waiting.map(async (use) => use))
  t.equal(uses.filter(({ allowed }) => allowed).length, 1)
  t.ok(rate.take('key', 1, clock.now()) instanceof Promise)
})

t.test('under any faults of the shared count, no quota is exceeded and no call waits too long', async (t) => {
  const PROCESSES = 3
  const QUOTA = 10
  type Act = {
    at: number
    calls: number
    waitMs: number
    server: 'stays' | 'goes' | 'comes' | 'forgets' | 'hangs'
  }
  const act: fc.Arbitrary<Act> = fc.record({
    at: fc.nat(PROCESSES - 1),
    calls: fc.nat(8),
    waitMs: fc.oneof(fc.nat(60), fc.nat(20_000)),
    server: fc.constantFrom('stays', 'stays', 'stays', 'goes', 'comes', 'forgets', 'hangs')
  })
  let inTrouble = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
      const clock = virtualClock()
      const counts = new MemoryCounts(clock)
      counts.processes = PROCESSES
      const rates = Array.from({ length: PROCESSES }, () => new SharedRate(counts, { clock, namesMax: 10 }))
      const asked = new Map<number, number>()
      const allowed = new Map<number, number>()
      /**
       * Minutes in which the server was at some time unavailable, slow or restarted; and minutes in which it was available
       * at some time.
       */
      const troubled = new Set<number>()
      const present = new Set<number>()
      let hold = Promise.resolve()
      let unhold = (): void => undefined
      counts.beforeAnswer = () => hold
      const waits: number[] = []
      let hanging = false
      const note = (): void => {
        const minute = Math.floor(clock.now() / 60_000)
        if (!counts.available || hanging) troubled.add(minute)
        if (counts.available) present.add(minute)
      }
      const pass = async (ms: number): Promise<void> => {
        // Advances by the millisecond while a call may wait: one step fires only one timer of a chain.
        for (let left = ms; left > 0;) {
          const step = ms - left < ANSWER_MS ? 1 : Math.min(left, 500)
          clock.increment(step)
          left -= step
          note()
          await settle()
        }
      }
      for (const { at, calls, waitMs, server } of acts) {
        if (server === 'goes' || server === 'comes') counts.available = server === 'comes'
        if (server === 'forgets') {
          counts.forget()
          troubled.add(Math.floor(clock.now() / 60_000))
        }
        if (server === 'hangs' && !hanging) {
          const held = Promise.withResolvers<void>()
          hold = held.promise
          unhold = held.resolve
          hanging = true
        } else if (server !== 'stays' && hanging) {
          unhold()
          hanging = false
        }
        note()
        for (let i = 0; i < calls; i++) {
          const sinceMs = clock.now()
          const minute = Math.floor(sinceMs / 60_000)
          asked.set(minute, (asked.get(minute) ?? 0) + 1)
          void Promise.resolve(rates[at]!.take('key', QUOTA, sinceMs)).then((use) => {
            waits.push(clock.now() - sinceMs)
            if (use.allowed) allowed.set(minute, (allowed.get(minute) ?? 0) + 1)
            // A call at the end of a minute may be counted in the next one.
            if (use.resetAt !== (minute + 1) * 60) troubled.add(minute).add(minute + 1)
          })
        }
        await settle()
        await pass(waitMs)
      }
      unhold()
      await pass(ANSWER_MS)
      t.equal(
        waits.length,
        [...asked.values()].reduce((sum, calls) => sum + calls, 0)
      )
      t.ok(waits.every((ms) => ms <= ANSWER_MS))
      for (const [minute, calls] of asked) {
        const through = allowed.get(minute) ?? 0
        if (!troubled.has(minute)) t.equal(through, Math.min(calls, QUOTA), 'exact while all is well')
        else {
          inTrouble++
          const most = present.has(minute) ? 3 * QUOTA : PROCESSES * Math.floor(QUOTA / PROCESSES)
          t.ok(through <= most, `${through} of ${QUOTA}`)
        }
      }
    }),
    randomRuns(150)
  )
  t.ok(inTrouble > 50, 'there was trouble')
})
