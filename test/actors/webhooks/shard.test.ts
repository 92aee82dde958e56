import t from 'tap'
import { DynamicSupervisor } from '../../../actors/supervision/dynamic-supervisor.ts'
import { DELIVERY_POLICY } from '../../../actors/webhooks/owned-webhook.ts'
import { WebhookShard } from '../../../actors/webhooks/shard.ts'
import { ATTEMPT_HISTORY, storeAttempts } from '../../../src/webhooks/attempts.ts'
import { WEBHOOK, type Webhook, type WebhookSender } from '../../../src/webhooks/webhook.ts'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { Documents } from '../../../storage/documents.ts'
import { History } from '../../../storage/histories.ts'
import { blockOf, VENUES } from '../../stream/blocks.ts'
import { settle } from '../../virtual-time.ts'
import { sampleWebhook } from '../../webhooks/stored-webhook.ts'
import { DeliveryWorld, testClaim } from './delivery-world.ts'
import { tenantShard } from '../../../src/access/tenant-shard.ts'

const CHANNELS = VENUES.map((venue) => `venue:${venue}`)
const SPECS = [0, 1, 2, 3]

async function settled(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settle()
}

/** The shard of a tenant in one process. */
class ShardWorld {
  readonly world = new DeliveryWorld()
  readonly faults: string[] = []
  readonly claim = testClaim(1)
  /** Ids of webhooks whose POSTs throw, which no sender does: a fault of their own. */
  readonly broken = new Set<number>()
  readonly deliveries: DynamicSupervisor
  readonly shard: WebhookShard
  readonly killed = new AbortController()
  #slot = 0

  constructor() {
    const { world, broken } = this
    const deps = world.deps()
    const sender: WebhookSender = {
      post: (tenant, request, signal) => {
        const { webhook_id: id } = JSON.parse(Buffer.from(request.body).toString()) as { webhook_id: number }
        if (broken.has(id)) throw new Error('a fault of the test')
        return deps.sender.post(tenant, request, signal)
      }
    }
    const report = (fault: unknown): void => void this.faults.push((fault as Error).message)
    this.deliveries = new DynamicSupervisor(DELIVERY_POLICY, { ...deps, report })
    const { deliveries } = this
    this.shard = new WebhookShard(tenantShard('acme'), this.claim, {
      ...{ ...deps, sender, deliveries, report },
      documents: world.store
    })
  }

  async sync(): Promise<void> {
    await this.shard.sync()
    await settled()
  }

  /** Ends the shard after its POSTs in flight, unless it is killed. */
  stop(): Promise<void> {
    return this.shard.stop(this.killed.signal)
  }

  async create(changes: Partial<Webhook> = {}): Promise<void> {
    await this.world.create({ channels: CHANNELS, ...changes })
    await this.sync()
  }

  /** Commits a block, and lets the time of a batch pass. */
  async commit(): Promise<void> {
    this.world.stream.commit(blockOf(++this.#slot, SPECS))
    await settled()
    await this.pass(500)
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      this.world.clock.increment(Math.min(100, left))
      await settled(8)
    }
  }

  get posts(): string[] {
    return this.world.receiver.received.map(({ body }) => `${body.webhook_id} ${body.batch_id}`)
  }
}

t.test(
  'a webhook that was created is delivered to from the next list on, and one that is inactive is not',
  async (t) => {
    const world = new ShardWorld()
    await world.create()
    await world.create({ id: 8, slot: 1, active: false, disabledReason: 'gone' })
    await world.commit()
    t.same(world.posts, ['7 batch-1'])
    t.equal(world.shard.webhooks, 2)
    await world.sync()
    await world.commit()
    t.same(world.posts, ['7 batch-1', '7 batch-2'], 'a list without changes restarts nothing')
  }
)

t.test(
  'a webhook that is deleted while a POST is in flight ends it, sends nothing more, and leaves no attempts',
  async (t) => {
    const world = new ShardWorld()
    const { receiver, documents, store } = world.world
    receiver.answers = [null]
    await world.create()
    await world.commit()
    await storeAttempts(store, 'acme', 7, [
      {
        batchId: 'b',
        attempt: 0,
        statusCode: 200,
        error: null,
        events: 1,
        dropped: 0,
        startedAtMs: 1,
        durationMs: 1,
        nextRetryAtMs: null
      }
    ])
    await documents.delete(await world.world.stored())
    await world.sync()
    t.equal(receiver.aborted, 1)
    t.equal(world.shard.webhooks, 0)
    await world.commit()
    await world.pass(40_000)
    t.equal(receiver.received.length, 1)
    t.equal(world.world.stream.hub.channels, 0, 'it reads no channel')
    t.same(await new History(store, ATTEMPT_HISTORY).newest(JSON.stringify(['acme', 7]), 10), [])
    t.same(world.faults, [])
  }
)

t.test(
  'a running webhook that is enabled with since begins there, and the POST in flight ends',
  async (t) => {
    const world = new ShardWorld()
    const { receiver } = world.world
    await world.create()
    for (let slot = 1; slot <= 3; slot++) await world.commit()
    receiver.answers = [null]
    await world.commit()
    t.equal(receiver.received.length, 4)
    receiver.answers = [200]
    await world.world.change({ activation: 2, since: endOfEvents(1) })
    await world.sync()
    await world.pass(1_000)
    t.equal(receiver.aborted, 1)
    const slots = receiver.received
      .slice(4)
      .flatMap(({ body }) => body.events.map(({ data }) => Math.floor(data.cursor / 2 ** 20)))
    t.same([...new Set(slots)], [2, 3, 4])
  }
)

t.test('several changes before the first is carried out start one run with the newest', async (t) => {
  const world = new ShardWorld()
  const { receiver } = world.world
  await world.create()
  await world.commit()
  const list = async () =>
    (await new Documents(world.world.store, WEBHOOK).list(tenantShard('acme'), { limit: 10 })).documents
  await world.world.change({ activation: 2, since: endOfEvents(0) })
  const first = await list()
  await world.world.change({ activation: 3, since: endOfEvents(1) })
  const second = await list()
  world.shard.take(first)
  world.shard.take(second)
  await settled()
  await world.commit()
  await world.pass(1_000)
  t.same(receiver.received.length, 2)
  t.match(await world.world.progress(), { activation: 3 })
})

t.test('a secret that was rotated signs the next POST, a repeat too, without a restart', async (t) => {
  const world = new ShardWorld()
  const { receiver } = world.world
  const rotate = async (secret: string): Promise<void> => {
    await world.world.change({ secrets: [{ sealed: Buffer.from(secret), expiresAtMs: null }] })
    await world.sync()
  }
  await world.create()
  await rotate('one')
  receiver.answers = [500, 200]
  await world.commit()
  await rotate('two')
  await world.pass(5_000)
  await rotate('three')
  await world.commit()
  t.same(
    receiver.received.map(({ headers }) => headers['secret']),
    ['one', 'two', 'three']
  )
  t.equal(receiver.received[0]!.text, receiver.received[1]!.text)
  t.equal(receiver.aborted, 0)
  t.equal(world.deliveries.restarts, 0)
})

t.test('a fault of one webhook is reported and restarts it alone, after a pause', async (t) => {
  const world = new ShardWorld()
  await world.create()
  await world.create({ id: 8, slot: 1 })
  world.broken.add(8)
  await world.commit()
  t.same(world.posts, ['7 batch-1'])
  t.match(world.faults, ['webhook 8 of tenant acme failed and is restarted: a fault of the test'])
  const healthy = world.shard.delivery('acme', 7)
  world.broken.clear()
  await world.pass(1_000)
  t.same(world.posts, ['7 batch-1', '8 batch-2'], 'the batch that was stored is sent')
  t.ok(world.deliveries.restarts > 0)
  t.equal(world.shard.delivery('acme', 7), healthy)
})

t.test('a webhook that pauses after a fault begins nothing more while its process drains', async (t) => {
  const world = new ShardWorld()
  await world.create()
  world.broken.add(7)
  await world.commit()
  world.broken.clear()
  let hasStopped = false
  const stopped = world.stop().then(() => (hasStopped = true))
  await settled()
  t.ok(hasStopped, 'it does not wait for the pause')
  await world.pass(60_000)
  t.same(world.posts, [])
  world.killed.abort()
  await stopped
})

t.test('a webhook that was enabled just before its process drains sends nothing more', async (t) => {
  const world = new ShardWorld()
  const { receiver } = world.world
  await world.create()
  await world.commit()
  await world.world.change({ activation: 2, since: endOfEvents(0) })
  const { documents } = await new Documents(world.world.store, WEBHOOK).list(tenantShard('acme'), {
    limit: 10
  })
  world.shard.take(documents)
  await world.stop()
  await settled()
  await world.pass(2_000)
  t.equal(receiver.received.length, 1)
  t.equal(world.world.stream.hub.channels, 0, 'it reads no channel')
})

t.test('a drain waits for the POST in flight, and a kill ends it', async (t) => {
  for (const isKilled of [false, true]) {
    const world = new ShardWorld()
    const { receiver } = world.world
    receiver.answers = [null]
    await world.create()
    await world.commit()
    let hasStopped = false
    const stopped = world.stop().then(() => (hasStopped = true))
    await settled()
    t.notOk(hasStopped)
    if (isKilled) world.killed.abort()
    else receiver.received[0]!.answer(200)
    await stopped
    t.match(await world.world.progress(), { batch: isKilled ? { batchId: 'batch-1' } : null })
  }
})

t.test('webhooks of a shard that is lost send nothing more, and are not started again', async (t) => {
  const world = new ShardWorld()
  await world.create()
  await world.commit()
  world.claim.lose()
  await world.world.change({ activation: 2, since: endOfEvents(0) })
  await world.sync()
  await world.commit()
  t.equal(world.posts.length, 1)
})

t.test(
  'an owner who enables again within the reading of a list that has the older version is followed',
  async (t) => {
    const world = new ShardWorld()
    const { receiver } = world.world
    receiver.answers = [410, 200]
    await world.create()
    await world.commit()
    t.match((await world.world.stored()).value, { active: false, disabledReason: 'gone' })
    await world.world.change({
      ...sampleWebhook({ channels: CHANNELS }),
      active: true,
      activation: 2,
      since: endOfEvents(0)
    })
    await world.sync()
    await world.pass(1_000)
    t.equal(receiver.received.length, 2)
  }
)
