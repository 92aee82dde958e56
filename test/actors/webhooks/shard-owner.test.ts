import t from 'tap'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { blockOf, VENUES } from '../../stream/blocks.ts'
import { FakeCluster, type Member } from './fake-cluster.ts'
import { tenantShard } from '../../../src/access/tenant-shard.ts'

const CHANNELS = VENUES.map((venue) => `venue:${venue}`)
/** Tenants of as many shards. */
const TENANTS = [...new Map(Array.from({ length: 400 }, (_, n) => [tenantShard(`t${n}`), `t${n}`])).values()]

const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => b - a)

/** A cluster with a webhook in each shard. */
async function withWebhooks(tenants = TENANTS): Promise<FakeCluster> {
  const cluster = new FakeCluster()
  for (const tenant of tenants) await cluster.world.create({ tenant, channels: CHANNELS })
  return cluster
}

/** Commits a block and lets the time of a batch pass. */
async function commit(cluster: FakeCluster, slot: number): Promise<void> {
  cluster.world.stream.commit(blockOf(slot, [0, 1]))
  await cluster.pass(600)
}

const senders = ({ world }: FakeCluster): number[] => world.receiver.received.map(({ token }) => token)

async function end(cluster: FakeCluster): Promise<void> {
  for (const member of cluster.members) if (!member.ended) await member.die()
}

t.test('processes that come and go share the 32 shards evenly, each shard at one of them', async (t) => {
  const cluster = new FakeCluster()
  const share = async (): Promise<number[]> => {
    await cluster.pass(8_000)
    return sorted(cluster.shards.filter((count) => count > 0))
  }
  cluster.join()
  t.same(await share(), [32])
  cluster.join()
  t.same(await share(), [16, 16])
  for (let each = 0; each < 3; each++) cluster.join()
  t.same(await share(), [7, 7, 6, 6, 6])
  for (let each = 0; each < 4; each++) cluster.join()
  t.same(await share(), [4, 4, 4, 4, 4, 3, 3, 3, 3])
  for (const member of cluster.members.slice(0, 6)) member.drain()
  t.same(await share(), [11, 11, 10])
  for (const member of cluster.members.slice(6, 8)) await member.die()
  t.same(await share(), [32])
  await end(cluster)
  t.same(cluster.faults, [])
})

t.test(
  'a shard that is given up goes to the other process after the POST in flight, which is not repeated',
  async (t) => {
    const cluster = await withWebhooks()
    const { receiver } = cluster.world
    cluster.join()
    await cluster.settle()
    receiver.answers = [null]
    await commit(cluster, 1)
    t.equal(receiver.received.length, 32)
    cluster.join()
    await cluster.pass(1_500)
    t.same(cluster.shards, [16, 0], 'the POSTs in flight hold the shards')
    for (const post of receiver.received) post.answer(200)
    receiver.answers = [200]
    await cluster.pass(1_500)
    t.same(cluster.shards, [16, 16])
    await commit(cluster, 2)
    await cluster.pass(2_000)
    const batches = receiver.received.map(({ body }) => body.batch_id)
    t.equal(new Set(batches).size, batches.length, 'no batch is sent twice')
    t.equal(batches.length, 64)
    t.equal(senders(cluster).filter((index) => index === 1).length, 16)
    await end(cluster)
  }
)

t.test(
  'a POST that does not end holds a shard for three seconds, and is repeated by the next process',
  async (t) => {
    const cluster = await withWebhooks()
    const { receiver } = cluster.world
    cluster.join()
    await cluster.settle()
    receiver.answers = [null]
    await commit(cluster, 1)
    cluster.join()
    await cluster.pass(2_900)
    t.same(cluster.shards, [16, 0])
    receiver.answers = [200]
    await cluster.pass(1_200)
    t.same(cluster.shards, [16, 16])
    t.equal(receiver.aborted, 16)
    const [first, repeats] = [receiver.received.slice(0, 32), receiver.received.slice(32)]
    t.equal(repeats.length, 16)
    for (const { text } of repeats)
      t.ok(
        first.some((post) => post.text === text),
        'the same bytes'
      )
    await end(cluster)
  }
)

t.test(
  'the shards of a dead process are delivered for by the other after four seconds, and its batch is repeated',
  async (t) => {
    const cluster = await withWebhooks()
    const { receiver } = cluster.world
    const [, second] = [cluster.join(), cluster.join()]
    await cluster.pass(3_000)
    t.same(cluster.shards, [16, 16])
    receiver.answers = [null]
    await commit(cluster, 1)
    const lost = receiver.received.filter(({ token }) => token === 1)
    t.equal(lost.length, 16)
    await second.die()
    for (const post of receiver.received) post.answer(200)
    receiver.answers = [200]
    await cluster.pass(4_000)
    t.same(cluster.shards, [32, 0])
    const repeats = receiver.received.slice(32)
    t.same(repeats.map(({ text }) => text).toSorted(), lost.map(({ text }) => text).toSorted())
    t.ok(repeats.every(({ token }) => token === 0))
    await end(cluster)
  }
)

t.test('a process that drains while it gives shards up ends after their POSTs in flight', async (t) => {
  const cluster = await withWebhooks()
  const { receiver } = cluster.world
  const first = cluster.join()
  await cluster.settle()
  receiver.answers = [null]
  await commit(cluster, 1)
  cluster.join()
  await cluster.pass(700)
  t.same(cluster.shards, [16, 0])
  first.drain()
  const given = (member: Member): number =>
    TENANTS.filter((tenant) => cluster.holderOf(tenant) === member).length
  t.equal(given(first), 32)
  // Those that it keeps until it drains have ended; the others have not.
  const open = receiver.received.filter(({ body }) => body.webhook_id === 7)
  for (const post of open.slice(0, 16)) post.answer(200)
  await cluster.pass(500)
  t.equal(first.ended, false)
  for (const post of open) post.answer(200)
  await cluster.settle()
  t.equal(first.ended, true)
  t.equal(given(first), 0, 'every lease is released')
  await end(cluster)
})

t.test(
  'a webhook is found at once by a hint of its own process or of another or by a loss of hints, by listing within ten seconds else',
  async (t) => {
    const cases: [name: string, act: (cluster: FakeCluster, owner: Member) => void, waitMs: number][] = [
      ['a hint of its own process', (_, owner) => owner.local.publish('acme'), 0],
      ['a hint of another process', ({ webhooks }) => webhooks.of({}).publish(), 0],
      ['hints that cease', ({ webhooks }) => void (webhooks.available = false), 0],
      ['no hint', () => undefined, 10_000]
    ]
    for (const [name, act, waitMs] of cases) {
      const cluster = new FakeCluster()
      const owner = cluster.join()
      await cluster.pass(2_500)
      t.equal(owner.webhooks, 0)
      await cluster.world.create({ channels: CHANNELS })
      await cluster.settle()
      t.equal(owner.webhooks, 0, 'the change was not announced')
      act(cluster, owner)
      await cluster.settle()
      if (waitMs > 0) await cluster.pass(waitMs)
      t.equal(owner.webhooks, 1, name)
      t.equal(owner.owner.shard(tenantShard('acme'))?.delivery('acme', 7)?.buffered, 0)
      await end(cluster)
    }
  }
)

t.test('while hints do not arrive, shards are listed each second, from their loss on', async (t) => {
  const cluster = new FakeCluster()
  const owner = cluster.join()
  await cluster.pass(10_500)
  cluster.webhooks.available = false
  await cluster.settle()
  for (let id = 1; id <= 3; id++) {
    await cluster.world.create({ id, channels: CHANNELS })
    await cluster.pass(1_000)
    t.equal(owner.webhooks, id)
  }
  cluster.webhooks.available = true
  await cluster.settle()
  await cluster.world.create({ id: 4, channels: CHANNELS })
  await cluster.pass(9_000)
  t.equal(owner.webhooks, 3, 'beside hints they are listed rarely again')
  await end(cluster)
})

t.test('a shard that cannot be listed is listed again a second later, also beside hints', async (t) => {
  const cluster = await withWebhooks()
  const [first, second] = [cluster.join(), cluster.join()]
  await cluster.pass(3_000)
  await second.die()
  cluster.documents.isAway = true
  await cluster.pass(4_000)
  t.equal(first.shards, 32)
  t.equal(first.webhooks, 16)
  cluster.documents.isAway = false
  await cluster.pass(1_000)
  t.equal(first.webhooks, 32)
  await end(cluster)
})

t.test(
  'an outage of the store while shards are listed ends nothing, and what was created is found after it',
  async (t) => {
    const cluster = new FakeCluster()
    const owner = cluster.join()
    await cluster.pass(1_000)
    await cluster.world.create({ channels: CHANNELS, since: endOfEvents(0) })
    cluster.documents.isAway = true
    owner.local.publish('acme')
    await cluster.pass(5_000)
    t.same([owner.shards, owner.webhooks], [32, 0])
    cluster.documents.isAway = false
    await cluster.pass(1_000)
    t.equal(owner.webhooks, 1)
    await end(cluster)
  }
)

t.test(
  'a fault while shards are listed ends the process of deliveries with it, and releases the leases',
  async (t) => {
    const cluster = await withWebhooks(['acme'])
    const owner = cluster.join()
    await cluster.pass(1_000)
    t.equal(cluster.holderOf('acme'), owner)
    cluster.documents.list = () => Promise.reject(new Error('a fault of the test'))
    owner.local.publish('acme')
    await cluster.pass(1_000)
    await t.rejects(owner.running, { message: 'a fault of the test' })
    t.equal(cluster.holderOf('acme'), undefined)
  }
)
