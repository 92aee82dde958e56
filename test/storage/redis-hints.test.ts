import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { systemPorts } from '../../src/ports.ts'
import type { RedisConnection } from '../../storage/redis/connection.ts'
import { RedisHints } from '../../storage/redis/hints.ts'
import { testWithOwnRedis, testWithRedis } from '../servers/redis.ts'
import { linkTo } from './pausable-link.ts'
import { joinService } from './redis-processes.ts'
import { until } from '../until.ts'

interface Member {
  readonly connection: RedisConnection
  readonly hints: RedisHints
  /** Slots of received hints, and null where some may have been lost. */
  readonly commits: (number | null)[]
  /** Number of hints about keys; a loss counts too. */
  readonly keys: (void | null)[]
}

async function join(t: Test, server: { readonly url: string; readonly prefix?: string }): Promise<Member> {
  const connection = await joinService(t, server)
  const hints = new RedisHints(connection, systemPorts)
  t.teardown(() => hints.close())
  const member: Member = { connection, hints, commits: [], keys: [] }
  hints.commits.subscribe((slot) => member.commits.push(slot))
  hints.keys.subscribe((what) => member.keys.push(what))
  return member
}

testWithRedis(
  t,
  'a hint reaches the other processes of the service, and not the one that gave it',
  async (t, redis) => {
    const [one, two, three] = [await join(t, redis), await join(t, redis), await join(t, redis)]
    const stranger = await join(t, { ...redis, prefix: `${redis.prefix}another:` })
    await until(() => [one, two, three, stranger].every(({ hints }) => hints.commits.available))
    for (const { commits } of [one, two, three])
      t.strictSame(commits, [null], 'whoever begins to hear may have missed some')
    one.hints.commits.publish(420)
    one.hints.keys.publish()
    await until(() => [two, three].every(({ keys }) => keys.length === 2))
    for (const { commits, keys } of [two, three]) {
      t.strictSame(commits, [null, 420])
      t.strictSame(keys, [null, undefined])
    }
    three.hints.commits.publish(421)
    await until(() => one.commits.includes(421))
    t.strictSame(one.commits, [null, 421])
    t.strictSame(stranger.commits, [null])
  }
)

testWithRedis(t, 'a process hears only channels that it has followed, from then on', async (t, redis) => {
  const [one, two] = [await join(t, redis), await join(t, redis)]
  await until(() => two.hints.commits.available)
  const admin = new Redis(redis.url)
  t.teardown(() => admin.disconnect())
  const listeners = async (): Promise<unknown> => {
    const reply = await admin.call('PUBSUB', 'NUMSUB', two.connection.key('hint', 'trackers'))
    return (reply as unknown[])[1]
  }
  t.equal(await listeners(), 0)
  t.equal(two.hints.trackers.available, false)
  const heard: unknown[] = []
  const unfollow = two.hints.trackers.subscribe((id) => heard.push(id))
  await until(() => two.hints.trackers.available)
  t.strictSame(heard, [null], 'whoever begins to hear may have missed some')
  t.equal(await listeners(), 1)
  one.hints.trackers.publish('one')
  await until(() => heard.length === 2)
  unfollow()
  one.hints.trackers.publish('two')
  two.hints.trackers.subscribe((id) => heard.push(id))
  one.hints.trackers.publish('three')
  await until(() => heard.includes('three'))
  t.equal(await listeners(), 1, 'a channel is subscribed to once')
})

testWithRedis(t, 'of many hints at once the newest arrives, in order', async (t, redis) => {
  const [one, two] = [await join(t, redis), await join(t, redis)]
  await until(() => two.hints.commits.available)
  for (let slot = 1; slot <= 10_000; slot++) one.hints.commits.publish(slot)
  await until(() => two.commits.includes(10_000))
  const heard = two.commits.filter((slot) => slot !== null)
  t.ok(heard.length < 10, `${heard.length} messages for 10000 hints`)
  t.strictSame(
    heard,
    heard.toSorted((a, b) => a - b)
  )
})

testWithRedis(t, 'of many events of tenants at once each arrives, in order', async (t, redis) => {
  const [one, two] = [await join(t, redis), await join(t, redis)]
  const heard: unknown[] = []
  two.hints.tenantEvents.subscribe((event) => heard.push(event?.data.webhook_id))
  await until(() => two.hints.tenantEvents.available)
  heard.splice(0)
  const ids = Array.from({ length: 200 }, (_, id) => id)
  for (const id of ids)
    one.hints.tenantEvents.publish({ tenant: 'acme', channel: 'webhooks', data: { webhook_id: id } })
  await until(() => heard.includes(199))
  t.strictSame(heard, ids)
  const name = one.connection.key('hint', 'tenant-events')
  for (const text of ['', '7', '{"tenant":"a"}']) await one.connection.publish(name, `another ${text}`)
  await until(() => heard.length === 203)
  t.strictSame(heard.slice(200), [undefined, undefined, undefined], 'text of no known form is a loss')
})

testWithRedis(
  t,
  'submissions, bundles and trackers each arrive as they were said, in order',
  async (t, redis) => {
    const [one, two] = [await join(t, redis), await join(t, redis)]
    const heard: unknown[] = []
    const trackers: unknown[] = []
    two.hints.submissions.subscribe((stored) => heard.push(stored))
    two.hints.trackers.subscribe((id) => trackers.push(id))
    await until(() => two.hints.submissions.available && two.hints.trackers.available)
    heard.splice(0)
    trackers.splice(0)
    const signatures = Array.from({ length: 200 }, (_, at) => encodeBase58(Buffer.alloc(64, at)))
    const told = [...signatures, '0123456789abcdef'.repeat(4)].map((signature) => ({
      tenant: 'acme & sons',
      signature
    }))
    for (const each of told) one.hints.submissions.publish(each)
    one.hints.trackers.publish('a-tracker')
    await until(() => heard.length >= told.length && trackers.length > 0)
    t.strictSame(heard, told)
    t.strictSame(trackers, ['a-tracker'])
    const name = one.connection.key('hint', 'submissions')
    for (const text of ['', 'short acme', signatures[1]!])
      await one.connection.publish(name, `another ${text}`)
    await until(() => heard.length === told.length + 3)
    t.strictSame(heard.slice(told.length), [null, null, null], 'text of no known form is a loss')
  }
)

testWithRedis(t, 'questions and answers each arrive as they were said, in order', async (t, redis) => {
  const [one, two] = [await join(t, redis), await join(t, redis)]
  const [asked, answered]: unknown[][] = [[], []]
  two.hints.questions.subscribe((question) => asked!.push(question))
  two.hints.answers.subscribe((id) => answered!.push(id))
  await until(() => two.hints.questions.available && two.hints.answers.available)
  asked!.splice(0)
  answered!.splice(0)
  const questions = Array.from({ length: 200 }, (_, at) => ({
    id: `s-${at}`,
    text: `{"text":"zwei\n${at}"}`
  }))
  for (const each of questions) one.hints.questions.publish(each)
  one.hints.answers.publish('s-7')
  await until(() => asked!.length === 200 && answered!.length === 1)
  t.strictSame(asked, questions)
  t.strictSame(answered, ['s-7'])
  await one.connection.publish(one.connection.key('hint', 'questions'), 'another no-text')
  await until(() => asked!.length === 201)
  t.equal(asked![200], null, 'text of no known form is a loss')
})

testWithOwnRedis(t, 'a server that is away and back is told to whoever follows', async (t, redis) => {
  const [one, two] = [await join(t, redis), await join(t, redis)]
  const members = [one, two]
  await until(() => members.every(({ hints }) => hints.commits.available))
  await redis.kill()
  await until(() => members.every(({ hints }) => !hints.commits.available))
  t.strictSame(two.commits, [null, null], 'whoever follows has to look for itself from now on')
  await redis.start()
  await until(() => members.every(({ hints, connection }) => hints.commits.available && connection.available))
  t.equal(two.commits[2], null, 'and once more, for what was missed')
  one.hints.commits.publish(3)
  await until(() => two.commits.includes(3))
})

testWithOwnRedis(
  t,
  'a subscription that alone is cut, or stands still, is taken up again',
  async (t, redis) => {
    const link = await linkTo(t, redis.url)
    const [one, two] = [await join(t, redis), await join(t, { url: link.url })]
    await until(() => two.hints.keys.available)
    const admin = new Redis(redis.url)
    t.teardown(() => admin.disconnect())
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until(() => two.keys.length === 3)
    t.ok(two.connection.available)
    t.ok(two.hints.keys.available)
    link.pause()
    await until(() => !two.hints.keys.available)
    link.resume()
    await until(() => two.hints.keys.available)
    const before = two.keys.length
    one.hints.keys.publish()
    await until(() => two.keys.length > before)
  }
)

testWithOwnRedis(
  t,
  'what could not be said is said when the connection is back, the newest alone',
  async (t, redis) => {
    const link = await linkTo(t, redis.url)
    const [one, two] = [await join(t, { url: link.url }), await join(t, redis)]
    await until(() => two.hints.commits.available)
    link.pause()
    await until(() => !one.connection.available)
    for (let slot = 1; slot <= 5; slot++) one.hints.commits.publish(slot)
    one.hints.keys.publish()
    t.strictSame(two.commits, [null])
    link.resume()
    await until(() => two.commits.length > 1 && two.keys.length > 1)
    t.strictSame(two.commits, [null, 5])
    t.strictSame(two.keys, [null, undefined])
  }
)

testWithOwnRedis(t, 'a message that none of ours has written is taken for a loss', async (t, redis) => {
  const two = await join(t, redis)
  await until(() => two.hints.commits.available)
  const admin = new Redis(redis.url)
  t.teardown(() => admin.disconnect())
  for (const message of ['', 'somebody', 'somebody -1', 'somebody 1e9', 'somebody 9'.padEnd(40, '9')])
    await admin.publish(two.connection.key('hint', 'commits'), message)
  await admin.publish(two.connection.key('hint', 'commits'), 'somebody 5')
  await until(() => two.commits.includes(5))
  t.strictSame(two.commits, [null, null, null, null, null, null, 5])
})
