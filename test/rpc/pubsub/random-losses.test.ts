import fc from 'fast-check'
import t, { type Test } from 'tap'
import { randomRuns } from '../../random-runs.ts'
import { account, accountValue, logs } from './fake-node.ts'
import { ADDRESS, arrive, PubsubWorld, type FakeClient } from './pubsub-world.ts'
import { until } from '../../until.ts'

type Step =
  | { readonly kind: 'slots'; readonly node: number; readonly count: number }
  | { readonly kind: 'cut'; readonly node: number; readonly isWithinSlot: boolean }

const node = fc.integer({ min: 0, max: 1 })
/** A step: a node advances by slots of the one chain, or its connections are cut, possibly within a slot. */
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('slots' as const), node, count: fc.integer({ min: 1, max: 4 }) })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), node, isWithinSlot: fc.boolean() }) }
)

const names = ({ notified }: FakeClient): string[] =>
  notified.flatMap(({ method, params }) =>
    method === 'logsNotification' ? [(params!.result.value as { signature: string }).signature] : []
  )

const balances = ({ notified }: FakeClient): { slot: number; lamports: number }[] =>
  notified.flatMap(({ method, params }) =>
    method === 'accountNotification'
      ? [
          {
            slot: params!.result.context!.slot,
            lamports: (params!.result.value as { lamports: number }).lamports
          }
        ]
      : []
  )

async function live(t: Test, steps: readonly Step[]): Promise<void> {
  const world = new PubsubWorld(t)
  const nodes = [await world.addNode(), await world.addNode()]
  const at = [1_000, 1_000]
  const newest = (): number => Math.max(...at)
  world.upstreams.read = () => `{"context":{"slot":${newest()}},"value":${accountValue(newest())}}`
  const tell = (which: number, isWhole = true): void => {
    const [to, slot] = [nodes[which]!, ++at[which]!]
    to.slot(slot)
    to.notify('account', account(slot, slot))
    to.notify('logs', logs(slot, `${slot} a`))
    if (isWhole) to.notify('logs', logs(slot, `${slot} b`))
  }
  const client = world.client()
  await client.ask('accountSubscribe', [ADDRESS, { encoding: 'base64' }])
  await client.ask('logsSubscribe', ['all'])
  const isPlaced = (): boolean =>
    world.hub.waiting === 0 &&
    nodes.some((each) => each.of('account').length > 0 && each.of('logs').length > 0)
  for (const each of steps) {
    if (each.kind === 'slots') {
      for (let count = 0; count < each.count; count++) tell(each.node)
      continue
    }
    const cut = nodes[each.node]!
    if (each.isWithinSlot) tell(each.node, false)
    await arrive()
    cut.cut()
    // A connection that failed waits for its backoff before its node is used again.
    await until(() => cut.connections === 0)
    for (let second = 0; second < 60 && !isPlaced(); second++) {
      world.clock.increment(1_000)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await until(isPlaced)
  }
  for (const which of [0, 1]) while (at[which]! < newest()) tell(which)
  for (const which of [0, 1]) tell(which)
  await until(() => balances(client).at(-1)?.lamports === newest())
  await arrive()
  const seen = balances(client)
  t.ok(
    seen.every(({ slot, lamports }, at) => slot === lamports && slot >= (seen[at - 1]?.slot ?? 0)),
    'each state is that of its slot, and none goes back'
  )
  t.same(names(client), [...new Set(names(client))], 'no transaction is told twice')
  t.same(
    names(client).map(Number.parseFloat),
    names(client)
      .map(Number.parseFloat)
      .toSorted((a, b) => a - b)
  )
  t.same(world.faults, [])
  client.socket.closed()
  world.hub.close()
  for (const each of nodes) each.close()
}

t.test('however nodes are lost, no client hears anything twice, of the past or false', async (t) => {
  let cuts = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      cuts += steps.filter(({ kind }) => kind === 'cut').length
      await live(t, steps)
      return t.passing()
    }),
    randomRuns(25)
  )
  t.ok(cuts > 0, `${cuts} losses`)
})
