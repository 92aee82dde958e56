import fc from 'fast-check'
import t from 'tap'
import type { ClusterCoordination } from '../../../storage/cluster/coordination.ts'
import { advance, settle, virtualClock, type VirtualClock } from '../../virtual-time.ts'
import { randomRuns } from '../../random-runs.ts'
import { FakeCluster } from './fake-cluster.ts'
import { FakeCoordination } from './fake-coordination.ts'
import { chainOf, startFakeProcess, type FakeProcess } from '../supervision/fake-process.ts'
import { nodeAt } from '../supervision/recorder.ts'

const PACE_MS = 40
const NO_COORDINATION: Omit<ClusterCoordination, 'limits'> = {
  leases: null,
  commits: null,
  keys: null,
  webhooks: null,
  deliverers: null,
  submissions: null,
  trackers: null,
  tenantEvents: null,
  digests: null,
  presence: null,
  sockets: null,
  slotFloors: null,
  readings: null,
  questions: null,
  answers: null,
  shareAmong: () => undefined,
  outage: null,
  close: async () => undefined
}

interface World {
  readonly clock: VirtualClock
  readonly cluster: FakeCluster
  readonly others: FakeCoordination
  /** Starts a process that ingests, or one that only follows. */
  readonly start: (what?: {
    readonly ingests?: boolean
    readonly peers?: ClusterCoordination
    readonly last?: number
  }) => FakeProcess
}

function world(): World {
  const clock = virtualClock()
  const cluster = new FakeCluster(clock)
  const others = new FakeCoordination(clock)
  return {
    clock,
    cluster,
    others,
    start: ({ ingests = true, peers = others.of({}), last = Infinity } = {}) =>
      startFakeProcess({
        clock,
        open: () => cluster.open(),
        peers,
        source: ingests ? chainOf(clock, PACE_MS, last) : null
      })
  }
}

const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** The slots that a feed must have published from its first one on. */
const wholeOf = ({ published }: FakeProcess, last: number): number[] => upTo(last, Number(published[0]))

/** Drains processes within a moment of virtual time and returns their outcomes. */
async function stop(clock: VirtualClock, ...processes: readonly FakeProcess[]) {
  const drained = processes.map(({ running }) => running.drain())
  await advance(clock, 50)
  return Promise.all(drained)
}

/** Lets a long time pass, in steps that are coarse compared with all timeouts. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5) {
    clock.increment(5)
    await settle()
  }
}
const STOPPED = { kind: 'stopped' }

const ingestOf = ({ running }: FakeProcess) => nodeAt(running.tree(), 'chain/ingest')
const held = async ({ leases }: FakeProcess): Promise<number> => leases.held['ingest']?.length ?? 0

t.test('of two processes one ingests, and the feed of each tells of each block once, in order', async (t) => {
  const { clock, cluster, start } = world()
  const first = start()
  await advance(clock, 10)
  const second = start()
  await advance(clock, 2_010)
  t.ok(cluster.commits.length > 30)
  t.strictSame(cluster.slots, upTo(cluster.commits.length))
  for (const process of [first, second]) t.strictSame(process.published, cluster.slots)
  t.strictSame([await held(first), await held(second)], [1, 0])
  t.strictSame([ingestOf(first).gauges.blocks, ingestOf(second).gauges.blocks], [cluster.commits.length, 0])
  t.strictSame(
    second.logged.filter((line) => line.includes('waits for the lease')),
    ['this process waits for the lease of ingest; until then it follows the process that ingests']
  )
  t.same(await stop(clock, first, second), [STOPPED, STOPPED])
})

t.test(
  'a drained leader gives the lease back, and the next process takes up within two seconds',
  async (t) => {
    const { clock, cluster, start } = world()
    const first = start()
    await advance(clock, 10)
    const second = start()
    await advance(clock, 1_000)
    t.same(await stop(clock, first), [STOPPED])
    const before = cluster.commits.length
    await advance(clock, 2_000)
    t.ok(cluster.commits.length > before + 10)
    t.equal(await held(second), 1)
    t.strictSame(cluster.slots, upTo(cluster.commits.length))
    t.strictSame(second.published, cluster.slots, 'following and leading are one feed')
    t.strictSame(first.published, upTo(first.published.length))
    await stop(clock, second)
  }
)

t.test('while Redis is away the leader ingests on, and has its lease again when Redis is back', async (t) => {
  const { clock, cluster, others, start } = world()
  const first = start()
  await advance(clock, 2_500)
  const second = start()
  others.away = true
  const before = cluster.commits.length
  await pass(clock, 20_000)
  t.ok(cluster.commits.length > before + (0.8 * 20_000) / PACE_MS, 'as fast as before')
  t.strictSame([await held(first), await held(second)], [1, 0])
  others.away = false
  await pass(clock, 10_000)
  t.strictSame([await held(first), await held(second)], [1, 0])
  t.ok(others.holder, 'the lease is renewed')
  t.strictSame(cluster.slots, upTo(cluster.commits.length))
  t.notOk(cluster.attempts.some(({ outcome }) => outcome !== 'written'))
  for (const process of [first, second]) {
    t.strictSame(process.published, wholeOf(process, Number(process.feed.head?.slot)))
    t.match(ingestOf(process), { restarts: 0, last_error: null })
  }
  await stop(clock, first, second)
})

t.test(
  'a leader that alone does not reach Redis ingests until another one has claimed, and follows it',
  async (t) => {
    const { clock, cluster, others, start } = world()
    const me = {}
    const first = start({ peers: others.of(me) })
    await advance(clock, 1_000)
    const second = start()
    others.cutOff.add(me)
    await pass(clock, 1_500)
    t.strictSame([await held(first), await held(second)], [1, 0])
    await pass(clock, 10_000)
    t.strictSame([await held(first), await held(second)], [0, 1])
    t.ok(
      cluster.attempts.some(({ outcome }) => outcome === 'refused'),
      'the store refused it'
    )
    others.cutOff.delete(me)
    await pass(clock, 10_000)
    t.strictSame([await held(first), await held(second)], [0, 1], 'back in touch it goes on following')
    t.strictSame(cluster.slots, upTo(cluster.commits.length))
    t.ok(cluster.commits.length > (0.9 * 22_500) / PACE_MS, 'without a pause')
    for (const process of [first, second]) {
      t.strictSame(process.published, wholeOf(process, Number(process.feed.head?.slot)))
      t.match(ingestOf(process), { restarts: 0, last_error: null })
    }
    await stop(clock, first, second)
  }
)

t.test(
  'a leader that dies while Redis is away is followed by another 30 s after its last block, without a lease',
  async (t) => {
    const { clock, cluster, others, start } = world()
    const first = start()
    await advance(clock, 1_000)
    const second = start()
    await advance(clock, 1_000)
    others.away = true
    t.same(await stop(clock, first), [STOPPED])
    const before = cluster.commits.length
    await pass(clock, 29_000)
    t.equal(cluster.commits.length, before)
    await pass(clock, 4_000)
    t.ok(cluster.commits.length > before)
    t.equal(await held(second), 1)
    t.equal(second.logged.filter((line) => line.includes('ingests without a lease')).length, 1)
    others.away = false
    const third = start()
    await pass(clock, 10_000)
    t.ok(others.holder, 'the lease is taken once it can be had')
    t.equal((await held(second)) + (await held(third)), 1)
    t.strictSame(cluster.slots, upTo(cluster.commits.length))
    for (const process of [second, third]) {
      t.strictSame(process.published, wholeOf(process, Number(process.feed.head?.slot)))
      t.match(ingestOf(process), { restarts: 0, last_error: null })
    }
    await stop(clock, second, third)
  }
)

t.test('of two processes that start while Redis is away one ingests after 30 s', async (t) => {
  const { clock, cluster, others, start } = world()
  others.away = true
  const both = [start(), start()]
  await pass(clock, 29_000)
  t.equal(cluster.commits.length, 0)
  await pass(clock, 6_000)
  t.ok(cluster.commits.length > 50)
  t.equal((await held(both[0]!)) + (await held(both[1]!)), 1)
  await pass(clock, 60_000)
  t.ok(cluster.commits.length > (0.9 * 60_000) / PACE_MS, 'and neither takes it from the other')
  others.away = false
  await pass(clock, 5_000)
  t.equal((await held(both[0]!)) + (await held(both[1]!)), 1)
  t.strictSame(cluster.slots, upTo(cluster.commits.length))
  for (const process of both) {
    t.strictSame(process.published, wholeOf(process, Number(process.feed.head?.slot)))
    t.match(ingestOf(process), { restarts: 0, last_error: null })
  }
  await stop(clock, ...both)
})

t.test(
  "after a reset of tokens below the store's claim, the next token is above it and a process leads",
  async (t) => {
    const { clock, cluster, others, start } = world()
    others.token = 1_000
    const first = start()
    await advance(clock, 1_000)
    await stop(clock, first)
    others.token = 0
    const second = start()
    await advance(clock, 4_000)
    t.equal(await held(second), 1)
    t.ok(others.token > 1_000)
    t.ok(cluster.commits.length > 1_000 / PACE_MS)
    t.strictSame(cluster.slots, upTo(cluster.commits.length))
    t.match(ingestOf(second), { restarts: 0, last_error: null })
    await stop(clock, second)
  }
)

t.test(
  'a process with the lease whose source gives nothing follows another one that has claimed without it',
  async (t) => {
    const { clock, cluster, others, start } = world()
    const first = start({ last: 50 })
    await advance(clock, 1_000)
    const second = start()
    await advance(clock, 2_000)
    t.equal(cluster.commits.length, 50)
    others.away = true
    await pass(clock, 35_000)
    t.ok(cluster.commits.length > 50, 'the other takes over')
    others.away = false
    await pass(clock, 5_000)
    t.strictSame([await held(first), await held(second)], [0, 1])
    t.ok(others.holder)
    await pass(clock, 5_000)
    t.ok(Number(first.feed.head?.slot) >= cluster.commits.length - 1 - 250 / PACE_MS)
    t.strictSame(first.published, wholeOf(first, Number(first.feed.head?.slot)))
    t.match(ingestOf(first), { restarts: 0, last_error: null })
    await stop(clock, first, second)
  }
)

t.test(
  'a commit of a former leader is refused by the token of the next, which commits the block itself',
  async (t) => {
    const { clock, cluster, others, start } = world()
    const me = {}
    const first = start({ peers: others.of(me) })
    await advance(clock, 1_000)
    // The server forgets its leases: the holder continues unknowingly, and another process acquires the lease.
    others.cutOff.add(me)
    others.forget()
    const second = start()
    await advance(clock, 3_000)
    t.ok(
      cluster.attempts.some(({ outcome }) => outcome === 'refused'),
      'a late write came, and was refused'
    )
    t.strictSame([await held(first), await held(second)], [0, 1])
    await advance(clock, 3_000)
    t.strictSame(cluster.slots, upTo(cluster.commits.length))
    for (const process of [first, second]) {
      t.strictSame(process.published, wholeOf(process, cluster.commits.length))
      t.match(ingestOf(process), { restarts: 0, last_error: null })
    }
    t.strictSame(
      first.logged.filter((line) => line.includes('refused a write of ingest')),
      [
        'the store refused a write of ingest, because another process has the claim; this process follows it now'
      ]
    )
    await stop(clock, first, second)
  }
)

t.test(
  'while the store is away ingest waits, says so once, and goes on: nothing lost, nothing twice',
  async (t) => {
    const { clock, cluster, start } = world()
    const leading = start()
    const following = start({ ingests: false })
    await advance(clock, 1_000)
    for (const awayMs of [300, 60_000]) {
      const before = cluster.commits.length
      cluster.goAway()
      await pass(clock, awayMs)
      t.equal(cluster.commits.length, before)
      const seconds = (await leading.metrics.outageSeconds.get()).values[0]!.value
      if (awayMs > 1_000) t.ok(seconds > 50 && seconds < 61, `${seconds} s`)
      cluster.comeBack()
      await advance(clock, 2_000)
      t.ok(cluster.commits.length > before + 10, `it goes on after ${awayMs} ms`)
      t.equal((await leading.metrics.outageSeconds.get()).values[0]!.value, 0)
    }
    t.strictSame(cluster.slots, upTo(cluster.commits.length))
    for (const { published, running, logged } of [leading, following]) {
      t.strictSame(published, cluster.slots)
      for (const path of ['storage', 'chain']) t.equal(nodeAt(running.tree(), path).restarts, 0)
      const said = logged.filter((line) => /the store (does not answer|is back)/.test(line)).slice(-2)
      t.match(said, [/does not answer: too few replicas.* ingest waits/, /is back after (59|60)\.\d s/])
      t.ok(logged.filter((line) => line.includes('does not answer')).length <= 2, 'once for each time')
    }
    t.equal((await leading.metrics.waitingReads.get()).values[0]!.value, 2, 'reads that wait are shown')
    t.equal(ingestOf(leading).restarts, 0)
    t.equal(nodeAt(following.running.tree(), 'chain/follower').restarts, 0)
    await stop(clock, leading, following)
  }
)

t.test('a commit without an answer costs the leader neither its lease nor more than a second', async (t) => {
  const { clock, cluster, start } = world()
  const first = start()
  await advance(clock, 1_000)
  const second = start()
  await advance(clock, 1_000)
  for (let time = 0; time < 5; time++) {
    const before = cluster.commits.length
    cluster.unanswered = 1
    await pass(clock, 1_000)
    t.equal(cluster.unanswered, 0)
    t.ok(cluster.commits.length > before + 5, 'it goes on')
    t.strictSame([await held(first), await held(second)], [1, 0])
  }
  t.strictSame(cluster.slots, upTo(cluster.commits.length))
  t.match(ingestOf(first), { restarts: 0, last_error: null })
  await stop(clock, first, second)
})

t.test('a store that goes away between claim and first commit costs no restart either', async (t) => {
  const { clock, cluster, start } = world()
  for (let afterMs = 0; afterMs < 60; afterMs += 3) {
    const process = start()
    await advance(clock, afterMs)
    cluster.goAway()
    await advance(clock, 2_000)
    cluster.comeBack()
    await advance(clock, 3_000)
    t.match(nodeAt(process.running.tree(), 'chain'), { restarts: 0, last_error: null })
    t.equal(process.feed.head?.slot, cluster.commits.length)
    await stop(clock, process)
  }
  t.strictSame(cluster.slots, upTo(cluster.commits.length))
})

t.test('a drain while the store is away ends in time and well', async (t) => {
  const { clock, cluster, start } = world()
  const leading = start()
  const waiting = start()
  const following = start({ ingests: false })
  await advance(clock, 1_000)
  cluster.goAway()
  await advance(clock, 1_000)
  const drained = [leading, waiting, following].map(({ running }) => running.drain())
  await advance(clock, 4_000)
  t.same(
    await Promise.all(drained),
    Array.from({ length: 3 }, () => ({ kind: 'stopped' }))
  )
})

t.test('an ingest that is killed in the middle of commits loses and repeats nothing', async (t) => {
  const { clock, cluster, start } = world()
  const process = start()
  const following = start({ ingests: false })
  for (let kill = 0; kill < 12; kill++) {
    await pass(clock, 12_000 + kill * 7)
    t.ok(process.running.kill('chain/ingest', new Error('killed by the test')))
  }
  await pass(clock, 12_000)
  t.equal(ingestOf(process).restarts, 12)
  t.strictSame(cluster.slots, upTo(cluster.commits.length))
  for (const { published } of [process, following]) t.strictSame(published, cluster.slots)
  await stop(clock, process, following)
})

t.test(
  'once a poll has found a block whose hint was lost, a follower has each block within a quarter of a second',
  async (t) => {
    const { clock, cluster, others, start } = world()
    const leading = start()
    const following = start({ ingests: false })
    await advance(clock, 1_000)
    t.ok(others.hints > 10, 'hints came')
    t.equal(following.feed.head?.slot, cluster.commits.length)
    others.deaf = true
    const { hints } = others
    await advance(clock, 1_100)
    t.equal(others.hints, hints, 'none came')
    const heard = cluster.commits.length
    await advance(clock, 250)
    t.ok(Number(following.feed.head?.slot) >= heard)
    t.strictSame(following.published, upTo(following.published.length))
    const lag = (await following.metrics.lagSlots.get()).values[0]!.value
    t.equal(lag, 0)
    await stop(clock, leading, following)
  }
)

t.test('a follower older than the journal jumps to the head, and logs it', async (t) => {
  const { clock, cluster, start } = world()
  const leading = start()
  const following = start({ ingests: false })
  await advance(clock, 1_000)
  following.running.kill('storage', new Error('away for long'))
  cluster.journalKeeps = 5
  await advance(clock, 50)
  const missed = following.published.length
  await advance(clock, 3_000)
  t.equal(cluster.journalGaps, 0, 'it was back in time')
  cluster.journalKeeps = 0
  await advance(clock, 300)
  t.ok(cluster.journalGaps > 0)
  cluster.journalKeeps = Infinity
  await advance(clock, 1_000)
  const jumps = following.published.filter((what) => what === 'jump').length
  t.ok(jumps > 0 && missed > 0)
  t.equal(following.feed.head?.slot, cluster.commits.length)
  const slots = following.published.filter((what) => what !== 'jump')
  t.strictSame(
    slots,
    [...new Set(slots)].toSorted((a, b) => a - b),
    'in order, none twice'
  )
  await stop(clock, leading, following)
})

t.test('without leases the process that claims last ingests, until it falls silent', async (t) => {
  const { clock, cluster, others, start } = world()
  const alone = (): ClusterCoordination => ({ ...NO_COORDINATION, limits: others.of({}).limits })
  const first = start({ peers: alone() })
  await advance(clock, 1_000)
  const second = start({ peers: alone() })
  await pass(clock, 60_000)
  t.strictSame([await held(first), await held(second)], [0, 1])
  t.strictSame(cluster.slots, upTo(cluster.commits.length))
  t.equal(
    first.logged.filter((line) => line.includes('another process ingests')).length,
    1,
    'it is logged once'
  )
  t.same(await stop(clock, second), [STOPPED])
  const before = cluster.commits.length
  await pass(clock, 29_000)
  t.equal(cluster.commits.length, before)
  await advance(clock, 3_000)
  t.ok(cluster.commits.length > before + 10)
  t.strictSame(first.published, cluster.slots)
  t.match(ingestOf(first), { restarts: 0, last_error: null })
  await stop(clock, first)
})

t.test(
  'whatever happens to whom and when, each feed tells of the same blocks, each once and in order',
  async (t) => {
    const anyStep = fc.record({
      waitMs: fc.integer({ min: 1, max: 6_000 }),
      what: fc.constantFrom(
        'away',
        'back',
        'peers away',
        'peers back',
        'forget',
        'tokens lost',
        'cut off',
        'in touch',
        'kill ingest',
        'kill storage',
        'deaf'
      ),
      whom: fc.nat({ max: 1 })
    })
    const happened = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 12 }), async (steps) => {
        const { clock, cluster, others, start } = world()
        const selves = [{}, {}]
        const processes = selves.map((self) => start({ peers: others.of(self) }))
        const following = start({ ingests: false })
        for (const { waitMs, what, whom } of steps) {
          await pass(clock, waitMs)
          happened.set(what, (happened.get(what) ?? 0) + 1)
          if (what === 'away') cluster.goAway()
          else if (what === 'back') cluster.comeBack()
          else if (what === 'peers away') others.away = true
          else if (what === 'peers back') others.away = false
          else if (what === 'forget') others.forget()
          else if (what === 'tokens lost') {
            others.forget()
            others.token = 0
          } else if (what === 'cut off') others.cutOff.add(selves[whom]!)
          else if (what === 'in touch') others.cutOff.delete(selves[whom]!)
          else if (what === 'deaf') others.deaf = !others.deaf
          else processes[whom]!.running.kill(what === 'kill ingest' ? 'chain/ingest' : 'storage')
        }
        cluster.comeBack()
        others.away = false
        others.cutOff.clear()
        const before = cluster.commits.length
        await pass(clock, 15_000)
        t.ok(cluster.commits.length > before, 'it goes on by itself')
        t.strictSame(cluster.slots, upTo(cluster.commits.length))
        for (const process of [...processes, following]) {
          const { published, feed } = process
          t.strictSame(published, wholeOf(process, Number(feed.head?.slot)))
          t.ok(Number(feed.head?.slot) >= cluster.commits.length - 1 - 250 / PACE_MS)
          t.same(await stop(clock, process), [STOPPED])
        }
        for (const outcome of new Set(cluster.attempts.map((attempt) => attempt.outcome))) {
          happened.set(outcome, (happened.get(outcome) ?? 0) + 1)
        }
      }),
      randomRuns(20, 11)
    )
    for (const what of ['away', 'forget', 'kill ingest', 'kill storage', 'refused', 'written']) {
      t.ok((happened.get(what) ?? 0) > 0, `${what} happened`)
    }
  }
)
