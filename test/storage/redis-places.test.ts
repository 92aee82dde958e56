import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { RedisBlockDigests } from '../../storage/redis/block-digests.ts'
import type { RedisConnection } from '../../storage/redis/connection.ts'
import { RedisHints } from '../../storage/redis/hints.ts'
import { RedisLeases } from '../../storage/redis/leases.ts'
import { RedisPresence } from '../../storage/redis/presence.ts'
import { RedisRateCounter } from '../../storage/redis/rate-counter.ts'
import type { Script } from '../../storage/redis/script.ts'
import { RedisSlotFloors } from '../../storage/redis/slot-floors.ts'
import { RedisSocketCounts } from '../../storage/redis/socket-counts.ts'
import { makeCertificates, optionsOf } from '../servers/certificates.ts'
import { testWithRedisGroup, type RedisNode } from '../servers/redis-group.ts'
import { until } from '../until.ts'
import { joinService } from './redis-processes.ts'

const ADDRESS = '127.0.0.1'
/** A port on which nobody listens. */
const NOBODY = `${ADDRESS}:9`
const RUN_ID: Script = {
  name: 'runId',
  keys: 1,
  lua: `return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')`
}

const hostsOf = (nodes: readonly RedisNode[]): string =>
  nodes.map(({ port }) => `${ADDRESS}:${port}`).join(',')

/** Two processes of a service, and a hint channel of each. */
async function pairOf(t: Test, urls: readonly [string, string]) {
  const connections = [
    await joinService(t, { url: urls[0] }),
    await joinService(t, { url: urls[1] })
  ] as const
  const hints = connections.map((connection) => new RedisHints(connection, systemPorts))
  t.teardown(() => Promise.all(hints.map((each) => each.close())))
  const heard: (number | null)[] = []
  hints[1]!.commits.subscribe((slot) => heard.push(slot))
  return { connections, hints, heard, publish: (slot: number) => hints[0]!.commits.publish(slot) }
}

/** Resolves with a lease once the server grants it. */
const leaseOf = (connection: RedisConnection) =>
  until(() => new RedisLeases(connection, systemPorts).acquire('work'), 'the lease is granted')

testWithRedisGroup(t, 'TLS: both sides show certificates, and each verifies the other', async (t, group) => {
  const folder = join(group.folder, 'certificates')
  const strange = join(group.folder, 'strange')
  for (const each of [folder, strange]) mkdirSync(each)
  const certificates = makeCertificates(folder, ['DNS:redis.example', `IP:${ADDRESS}`])
  const { port } = await group.tlsServer(certificates, '--requirepass', 'a-password-of-the-test')
  const url = `rediss://:a-password-of-the-test@${ADDRESS}:${port}`
  const tls = optionsOf(certificates)
  const connection = await joinService(t, { url, tls })
  t.ok(connection.available)
  t.ok((await joinService(t, { url, tls: { ...tls, servername: 'redis.example' } })).available)
  const refused: readonly (readonly [typeof tls & { servername?: string }, RegExp])[] = [
    [{ ca: tls.ca } as typeof tls, /certificate required|closed|ECONNRESET/],
    [{ ...tls, ca: optionsOf(makeCertificates(strange, ['DNS:x'])).ca }, /certificate/],
    [{ ...tls, servername: 'another.example' }, /does not match certificate's altnames/]
  ]
  for (const [options, why] of refused) {
    const stranger = await joinService(t, { url, tls: options })
    t.notOk(stranger.available)
    t.match(stranger.outage?.detail, why)
    t.notMatch(JSON.stringify(stranger.said), 'a-password-of-the-test')
    await stranger.close()
  }
  t.notOk((await joinService(t, { url: url.replace('rediss', 'redis') })).available, 'nor without TLS')
})

testWithRedisGroup(
  t,
  'Sentinels: the primary that they name is followed through a failover, and a lease goes on',
  async (t, group) => {
    const primary = await group.server()
    const replica = await group.server('--replicaof', ADDRESS, String(primary.port))
    const isReplicating = async (): Promise<boolean> =>
      String(await group.call(replica, 'INFO', 'replication')).includes('master_link_status:up')
    await until(isReplicating, 'the replica has the data')
    const sentinels = [
      await group.sentinel('main', primary, 2),
      await group.sentinel('main', primary, 2),
      await group.sentinel('main', primary, 2)
    ]
    const knows = async (sentinel: RedisNode): Promise<boolean> => {
      const said = JSON.stringify(await group.call(sentinel, 'SENTINEL', 'MASTER', 'main'))
      return said.includes('"num-other-sentinels","2"') && said.includes('"num-slaves","1"')
    }
    for (const sentinel of sentinels) await until(() => knows(sentinel), 'it knows the others')
    const url = `redis+sentinel://${NOBODY},${hostsOf(sentinels)}/main`
    const { connections, hints, heard, publish } = await pairOf(t, [url, url])
    const [one, two] = connections
    for (const connection of connections) t.ok(connection.available)
    await until(() => hints[1]!.commits.available, 'hints arrive')
    const lease = await leaseOf(one)
    const runId = two.define(RUN_ID)
    const before = await runId([two.key('x')], [])
    t.match(await group.call(sentinels[0]!, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main'), [
      ADDRESS,
      String(primary.port)
    ])

    await primary.kill()
    await until(() => !one.available && !two.available, 'both see that it is gone')
    t.match(one.said.warn[0], /^Redis at main of the Sentinels 127\.0\.0\.1:9,\S+ is unreachable/)
    await until(() => one.available && two.available, 'both are at the new primary')
    t.not(await runId([two.key('x')], []), before)
    await until(() => lease.held, 'the holder renews its lease there')
    t.notOk(lease.lost.aborted)
    t.equal(await new RedisLeases(two, systemPorts).acquire('work'), null, 'nobody else gets it')
    await until(() => hints[1]!.commits.available, 'hints arrive again')
    publish(7)
    await until(() => heard.includes(7), 'the hint by the new primary')
    await lease.release()
    const next = await leaseOf(two)
    t.ok(next.token > lease.token)
    await next.release()
  }
)

testWithRedisGroup(
  t,
  'a cluster of three primaries: everything has one hash slot, and is found where that has moved',
  async (t, group) => {
    const nodes = await group.cluster(3)
    // Each begins at another node.
    const { connections, hints, heard, publish } = await pairOf(t, [
      `redis+cluster://${NOBODY},${hostsOf(nodes.slice(0, 1))}`,
      `redis+cluster://${hostsOf(nodes.slice(2))}`
    ])
    const [one, two] = connections
    const use = async (what: string): Promise<void> => {
      const counter = new RedisRateCounter(one)
      const own = { window: 0, calls: 0 }
      const counted = await counter.count({ name: what, quota: 5, windowSeconds: 60, cost: 1, own })
      t.match(counted, { allowed: true }, `${what}: calls are counted`)
      const presence = new RedisPresence(two)
      await presence.announce('a', 'first')
      t.match((await new RedisPresence(one).announce('b', 'second')).processes.length, 2, 'presence')
      const digests = new RedisBlockDigests(one, 10)
      await digests.put(3, new Uint8Array([1, 2]))
      t.same((await new RedisBlockDigests(two, 10).read([3, 4]))[1], null, 'digests of several keys')
      t.equal(await new RedisSocketCounts(one).take(`key ${what}`, 1), true)
      t.equal(await new RedisSocketCounts(two).take(`key ${what}`, 1), false, 'sockets of a key')
      t.same(await new RedisSlotFloors(two).raise(`key ${what}`, [1, 2, 3]), [1, 2, 3], 'floors')
    }
    const at = async (): Promise<number> => {
      const slot = Number(await group.call(nodes[0]!, 'CLUSTER', 'KEYSLOT', one.key('x')))
      return nodes.findIndex((_, index) => slot < Math.ceil(16_384 / 3) * (index + 1))
    }
    await use('first')
    await until(() => hints[1]!.commits.available, 'hints arrive')
    publish(7)
    await until(() => heard.includes(7), 'a hint from one node to another')
    const lease = await leaseOf(one)

    const ownerIndex = await at()
    const [from, to] = [nodes[ownerIndex]!, nodes[(ownerIndex + 1) % 3]!]
    const slot = Number(await group.call(from, 'CLUSTER', 'KEYSLOT', one.key('x')))
    const [idOfOld, idOfNew] = [
      String(await group.call(from, 'CLUSTER', 'MYID')),
      String(await group.call(to, 'CLUSTER', 'MYID'))
    ]
    await group.call(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', idOfOld)
    const move = async (): Promise<boolean> => {
      // A node that has keys of a slot does not give it away, and the processes write all the time.
      await group.call(from, 'FLUSHALL')
      return group.call(from, 'CLUSTER', 'SETSLOT', slot, 'NODE', idOfNew).then(
        () => true,
        () => false
      )
    }
    await group.call(to, 'CLUSTER', 'SETSLOT', slot, 'NODE', idOfNew)
    await until(move, 'the slot moves')
    await until(async () => {
      const clients = String(await group.call(to, 'CLIENT', 'LIST')).match(/name=millrace /g) ?? []
      return one.available && two.available && clients.length >= 2
    }, 'both are at the new owner')
    await use('second')
    await until(() => lease.held, 'the holder renews its lease there')
    t.notOk(lease.lost.aborted)
    publish(8)
    await until(() => heard.includes(8), 'hints go on')
    await lease.release()
  }
)
