import { errors, policies, types } from 'cassandra-driver'
import type { Client, ExecutionOptions, Host, QueryOptions } from 'cassandra-driver'
import t from 'tap'
import { HealthyNodesFirst, NodeHealth } from '../../storage/scylla/node-health.ts'
import { OutageWatch } from '../../storage/scylla/outage.ts'
import { advance, settle, virtualClock } from '../virtual-time.ts'

const NODES = ['a', 'b', 'c'].map((address) => ({ address }) as Host)
const [, B] = NODES

/** Plans all nodes in their order. */
class InOrder extends policies.loadBalancing.LoadBalancingPolicy {
  override getDistance(): types.distance {
    return types.distance.local
  }

  override newQueryPlan(
    _keyspace: string,
    _options: ExecutionOptions,
    callback: (error: Error, plan: Iterator<Host>) => void
  ): void {
    callback(null as unknown as Error, NODES.values())
  }
}

/** Three nodes whose health is checked in virtual time. A check of a hanging node ends when the test says so. */
function watched() {
  const clock = virtualClock()
  const health = new NodeHealth()
  const hangs = new Map<Host, (error?: Error) => void>()
  const isHanging = new Set<Host>()
  let checks = 0
  const execute = (_query: string, _params: unknown[], { host }: QueryOptions): Promise<void> => {
    checks++
    if (!isHanging.has(host!)) return Promise.resolve()
    return new Promise((resolve, reject) =>
      hangs.set(host!, (error) => (error === undefined ? resolve() : reject(error)))
    )
  }
  const end = new AbortController()
  const watching = health.watch({ execute } as unknown as Client, () => NODES, clock, end.signal)
  const policy = new HealthyNodesFirst(new InOrder(), health)
  return {
    health,
    isHanging,
    checks: () => checks,
    /** Answers, or fails, the check of a hanging node. */
    over: (host: Host, error?: Error) => hangs.get(host)!(error),
    next: () => advance(clock, 250),
    /** Sends as many statements as a process that is busy. */
    work: () => {
      for (let n = 0; n < 5; n++) health.sent(false, clock.now())
    },
    write: () => health.sent(true, clock.now()),
    plan(): string {
      let nodes = ''
      policy.newQueryPlan('k', {} as ExecutionOptions, (_, plan) => {
        for (let next = plan.next(); next.done !== true; next = plan.next()) nodes += next.value.address
      })
      return nodes
    },
    async end() {
      end.abort()
      await watching
    }
  }
}

const late = (): Error => new errors.OperationTimedOutError('no reply before timeout', 'b')

t.test('a node that leaves a check without an answer is planned last, until it answers one', async (t) => {
  const nodes = watched()
  t.equal(nodes.plan(), 'abc')
  nodes.isHanging.add(B!)
  nodes.work()
  await nodes.next()
  nodes.over(B!, late())
  await nodes.next()
  t.equal(nodes.plan(), 'acb')
  const checks = nodes.checks()
  await nodes.next()
  t.equal(nodes.checks(), checks + 2, 'one check at a time of a node that hangs')
  nodes.isHanging.clear()
  nodes.over(B!)
  await nodes.next()
  t.equal(nodes.plan(), 'abc')
  await nodes.end()
})

t.test('a node that refuses a check has answered, and nodes that all hang are all asked', async (t) => {
  const nodes = watched()
  nodes.isHanging.add(B!)
  nodes.work()
  await nodes.next()
  nodes.over(B!, new errors.ResponseError(types.responseErrorCodes.overloaded, 'overloaded'))
  await nodes.next()
  t.equal(nodes.plan(), 'abc')
  for (const node of NODES) nodes.isHanging.add(node)
  nodes.work()
  await nodes.next()
  for (const node of NODES) nodes.over(node, late())
  await nodes.next()
  t.equal(nodes.plan(), 'abc')
  await nodes.end()
})

t.test('an idle process checks its nodes once a second, while all of them answer', async (t) => {
  const nodes = watched()
  const checksIn = async (turns: number, work = (): void => undefined): Promise<number> => {
    const before = nodes.checks()
    for (let turn = 0; turn < turns; turn++) {
      work()
      await nodes.next()
    }
    return nodes.checks() - before
  }
  t.equal(await checksIn(40), 10 * NODES.length)
  for (let second = 0; second < 10; second++) {
    nodes.health.answered('a')
    t.equal(await checksIn(4), NODES.length - 1, 'a node that has answered a statement needs no check')
  }
  await checksIn(2)
  const before = nodes.checks()
  nodes.work()
  await settle()
  t.equal(nodes.checks() - before, NODES.length, 'once there is work, all are checked at once')
  nodes.health.answered('a')
  t.equal(await checksIn(8, nodes.work), 8 * NODES.length, 'then four times a second')
  await checksIn(2)
  t.ok((await checksIn(8)) <= 3 * NODES.length)
  nodes.write()
  t.equal(await checksIn(1), NODES.length + NODES.length, 'a conditional write is work')
  await checksIn(8)
  nodes.isHanging.add(B!)
  await checksIn(4)
  nodes.over(B!, late())
  await nodes.next()
  t.equal(nodes.plan(), 'acb')
  t.equal(await checksIn(8), 8 * (NODES.length - 1), 'and while one does not answer')
  await nodes.end()
})

t.test('a write is an outage once a second try has failed, from the first one on', async (t) => {
  const clock = virtualClock()
  const watch = new OutageWatch(clock)
  const slow = watch.trouble()
  slow.failed(late())
  t.equal(watch.current, null, 'one slow answer is none')
  const sinceMs = clock.now()
  await advance(clock, 1_000)
  slow.failed(late())
  t.match(watch.current, { sinceMs, detail: /no reply/ })
  slow.over()
  t.equal(watch.current, null)
})
