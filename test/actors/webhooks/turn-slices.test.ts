import fc from 'fast-check'
import t from 'tap'
import { AttemptLog } from '../../../actors/webhooks/attempt-log.ts'
import { WebhookDelivery } from '../../../actors/webhooks/delivery.ts'
import type { DeliveryDeps } from '../../../actors/webhooks/delivery-deps.ts'
import { ProgressStore } from '../../../actors/webhooks/progress-store.ts'
import { TurnSlices } from '../../../actors/webhooks/turn-slices.ts'
import { randomRuns } from '../../random-runs.ts'
import { blockOf } from '../../stream/blocks.ts'
import { settle } from '../../virtual-time.ts'
import { CHANNELS } from './delivery-steps.ts'
import { DeliveryWorld, testClaim } from './delivery-world.ts'

/** Milliseconds of work in one turn. */
const SLICE_MS = 1

/** An event loop whose turns the test runs, and whose time passes only by work. */
class Loop {
  nowMs = 0
  #scheduled: (() => void)[] = []
  readonly slices = new TurnSlices({
    defer: (run) => void this.#scheduled.push(run),
    nowMs: () => this.nowMs
  })

  get scheduled(): number {
    return this.#scheduled.length
  }

  /** Makes a turn; returns the milliseconds of its work. */
  turn(): number {
    const startMs = this.nowMs
    const due = this.#scheduled
    this.#scheduled = []
    for (const run of due) run()
    return this.nowMs - startMs
  }
}

t.test('work runs in the order of the calls, and a turn ends with the piece that fills it', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 }), async (tenths) => {
      const loop = new Loop()
      const ran: number[] = []
      const costs = tenths.map((each) => each / 10)
      const all = costs.map((cost, n) =>
        loop.slices.run(async () => {
          loop.nowMs += cost
          ran.push(n)
          return n
        })
      )
      t.same(ran, [], 'nothing runs in the turn of the calls')
      while (loop.slices.waiting > 0) {
        t.equal(loop.scheduled, 1)
        const first = ran.length
        loop.turn()
        const before = costs.slice(first, ran.length - 1).reduce((sum, cost) => sum + cost, 0)
        t.ok(ran.length > first && before < SLICE_MS + 1e-9, 'no piece begins after the slice')
      }
      t.equal(loop.scheduled, 0, 'a line without work asks for no turn')
      t.same(await Promise.all(all), [...costs.keys()])
      t.same(ran, [...costs.keys()])
    }),
    randomRuns(50)
  )
})

t.test('work that is added by work waits behind what is in the line', async (t) => {
  const loop = new Loop()
  const ran: string[] = []
  const add = (name: string, isAgain = false): void =>
    void loop.slices.run(async () => {
      ran.push(name)
      if (!isAgain) add(name.toUpperCase(), true)
    })
  for (const name of ['a', 'b', 'c']) add(name)
  while (loop.scheduled > 0) loop.turn()
  t.same(ran, ['a', 'b', 'c', 'A', 'B', 'C'])
})

t.test('work that fails rejects alone', async (t) => {
  const loop = new Loop()
  const failed = loop.slices.run(() => Promise.reject(new Error('a fault of the test')))
  const after = loop.slices.run(async () => 'done')
  loop.turn()
  await t.rejects(failed, { message: 'a fault of the test' })
  t.equal(await after, 'done')
})

t.test('the POSTs of a thousand webhooks that are due at once begin in hundreds of turns', async (t) => {
  const WEBHOOKS = 1_000
  const POST_MS = 0.3
  const world = new DeliveryWorld()
  const loop = new Loop()
  const parts = world.deps()
  let posts = 0
  const deps: DeliveryDeps = {
    ...parts,
    slices: loop.slices,
    sender: {
      post: (...request) => {
        posts++
        loop.nowMs += POST_MS
        return parts.sender.post(...request)
      }
    }
  }
  const end = new AbortController()
  const claim = testClaim(1)
  const running: Promise<void>[] = []
  for (let n = 0; n < WEBHOOKS; n++) {
    const stored = await world.create({
      tenant: `tenant-${Math.floor(n / 5)}`,
      id: n + 1,
      slot: n % 5,
      channels: CHANNELS
    })
    const store = new ProgressStore(world.store, claim, world.clock)
    const log = new AttemptLog(world.store, stored.value, (fault) => world.faults.push(fault))
    running.push(new WebhookDelivery(stored, store, log, deps).run(end.signal))
  }
  await settle()
  const deliver = async (slot: number): Promise<number> => {
    world.stream.commit(blockOf(slot, [0, 1]))
    await settle()
    world.clock.increment(499)
    await settle()
    t.equal(loop.slices.waiting, 0, 'nothing is due before 500 ms')
    world.clock.increment(1)
    await settle()
    const before = posts
    let turns = 0
    while (loop.scheduled > 0) {
      const first = posts
      loop.turn()
      if (posts > first) turns++
      t.ok((posts - first - 1) * POST_MS < SLICE_MS, 'a turn begins a few POSTs')
      await settle()
    }
    t.equal(posts - before, WEBHOOKS)
    return turns
  }
  t.ok((await deliver(1)) >= (WEBHOOKS * POST_MS) / (SLICE_MS + POST_MS))
  await deliver(2)
  t.ok(world.receiver.received.every(({ atMs, body }) => atMs === body.batch_ts))
  t.same([...new Set(world.receiver.received.map(({ atMs }) => atMs))], [500, 1_000])
  const byWebhook = Map.groupBy(world.receiver.received, ({ body }) => body.webhook_id)
  t.equal(byWebhook.size, WEBHOOKS)
  const cursors = [...byWebhook.values()].map((received) => received.map(({ body }) => body.cursor))
  t.ok(cursors.every(([first, second, ...more]) => more.length === 0 && first! < second!))
  t.same(world.faults, [])
  end.abort()
  await Promise.allSettled(running)
})
