import fc from 'fast-check'
import t, { type Test } from 'tap'
import { randomRuns } from '../../random-runs.ts'
import { account } from './fake-node.ts'
import { ADDRESS, PubsubWorld, type FakeClient } from './pubsub-world.ts'
import { until } from '../../until.ts'

/** A client of the account, with its subscription and the last slot that was sent before it had it. */
interface Listener {
  readonly client: FakeClient
  readonly id: unknown
  readonly after: number
  hasLeft: boolean
}

type Step =
  | { readonly kind: 'slots'; readonly count: number }
  | { readonly kind: 'join'; readonly count: number }
  | { readonly kind: 'unsubscribe' | 'close' | 'pause' | 'resume'; readonly which: number }

const count = fc.integer({ min: 1, max: 5 })
const which = fc.nat()
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('slots' as const), count }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('join' as const), count }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('unsubscribe' as const, 'close' as const, 'pause' as const, 'resume' as const),
      which
    })
  }
)

function resume({ client }: Listener): void {
  client.pipe.isReading = true
  client.pipe.read()
  client.socket.drained()
}

async function live(t: Test, steps: readonly Step[]): Promise<void> {
  const world = new PubsubWorld(t)
  const node = await world.addNode()
  let slot = 1_000
  const listeners: Listener[] = []
  const join = async (): Promise<void> => {
    const client = world.client()
    const after = slot
    const { result } = await client.ask('accountSubscribe', [ADDRESS])
    listeners.push({ client, id: result, after, hasLeft: false })
  }
  await join()
  for (const each of steps) {
    if (each.kind === 'slots')
      for (let sent = 0; sent < each.count; sent++) node.notify('account', account(++slot, slot))
    else if (each.kind === 'join') for (let joined = 0; joined < each.count; joined++) await join()
    else {
      // The first one stays, and hears all.
      const others = listeners.slice(1).filter(({ hasLeft }) => !hasLeft)
      const listener = others[each.which % Math.max(1, others.length)]
      if (listener === undefined) continue
      if (each.kind === 'pause') listener.client.pipe.isReading = false
      if (each.kind === 'resume') resume(listener)
      if (each.kind === 'close') listener.client.socket.closed()
      if (each.kind === 'unsubscribe') {
        resume(listener)
        t.match(await listener.client.ask('accountUnsubscribe', [listener.id]), { result: true })
      }
      listener.hasLeft = each.kind === 'close' || each.kind === 'unsubscribe'
    }
  }
  node.notify('account', account(++slot, slot))
  for (const each of listeners) if (!each.hasLeft) resume(each)
  const first = listeners[0]!
  await until(() => first.client.slots.at(-1) === slot)
  await until(() => listeners.every(({ client, hasLeft }) => hasLeft || client.slots.at(-1) === slot))
  t.same(
    first.client.slots,
    Array.from({ length: slot - 1_000 }, (_, at) => 1_001 + at)
  )
  for (const { client, after, hasLeft } of listeners) {
    const { slots } = client
    const from = slots[0] ?? slot
    t.same(
      slots,
      slots.map((_, at) => from + at),
      'no notification is left out, repeated or moved'
    )
    if (!hasLeft) t.ok(from <= after + 1, 'it has all that came after it had subscribed')
  }
  t.same(world.faults, [])
  world.hub.close()
  node.close()
}

t.test('clients that come, go and stop reading while others listen hear equally', async (t) => {
  let joined = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      joined += steps.filter(({ kind }) => kind === 'join').length
      await live(t, steps)
      return t.passing()
    }),
    randomRuns(40)
  )
  t.ok(joined > 0, `${joined} came later`)
})
