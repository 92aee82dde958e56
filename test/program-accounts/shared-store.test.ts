import { Registry } from 'prom-client'
import t from 'tap'
import { MirrorShard } from '../../actors/program-accounts/mirror-shard.ts'
import { pubsubSubscriptions } from '../../actors/program-accounts/pubsub-subscription.ts'
import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { MirrorReader } from '../../src/program-accounts/mirror-reader.ts'
import { Whitelist } from '../../src/program-accounts/whitelist.ts'
import { systemPorts } from '../../src/ports.ts'
import { mirrorMetrics } from '../../src/program-accounts/metrics.ts'
import type { AccountVersion, Storage } from '../../storage/port.ts'
import { openBank } from '../localnet/bank/sending.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { testWithCql } from '../servers/cql.ts'
import { until } from '../service/asking.ts'
import { ScyllaUnderTest } from '../storage/scylla-keyspace.ts'
import { mirrorSupervisor, PROGRAM, shape, shapeOf, World } from './mirrored-world.ts'

testWithCql(t, 'one process mirrors, another serves the same slots and takes over', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  const opened = await under.open(t)
  const first = opened.storage
  const second = await opened.join!()
  const world = new World(await openBank())
  world.isGiving = true
  await world.slots(5)
  const node = await startNode(t, world.bank)
  const accounts = new RpcAccountNode(() => [urlOf(node)], systemPorts.clock)
  t.teardown(() => accounts.close())
  const shardOf = (storage: Storage, token: number): MirrorShard => {
    const claim = { token, lost: new AbortController().signal, held: true, outranked: () => undefined }
    return new MirrorShard('all', claim, {
      ...systemPorts,
      node: accounts,
      subscribe: pubsubSubscriptions(() => [`ws://${node.host}:${node.port}`], systemPorts.clock),
      watch: {
        subscribe: (_, listener) => {
          world.listeners.add(listener)
          return () => void world.listeners.delete(listener)
        }
      },
      store: storage.programAccounts,
      documents: storage.documents,
      isShared: true,
      metrics: mirrorMetrics(new Registry()),
      logger: { info: () => undefined, warn: () => undefined },
      slotsUnconfirmed: 0,
      settleMs: 20,
      mirrors: mirrorSupervisor(t)
    })
  }
  let seen = -1
  /** Reads by the index in one process the accounts that another process has mirrored, and returns the slot. */
  const check = async (storage: Storage): Promise<number> => {
    const selected = new Set<string>()
    const reader = new MirrorReader(storage, (by) => void selected.add(by))
    const status = (await reader.status(PROGRAM))!
    const slot = status.progress.slot!
    const found: AccountVersion[] = []
    for (const byte of [0, 1, 2]) {
      const filters = [{ memcmp: { offset: 0, bytes: Uint8Array.of(byte) } }]
      const query = { slot, limit: 100, examined: 10_000, filters }
      await reader.read(PROGRAM, status, query, (accounts) => found.push(...accounts) > 0)
    }
    t.strictSame(shapeOf(found), shape(world.states.get(slot)!.values()), `slot ${slot}`)
    t.strictSame([...selected], ['index'])
    t.ok(slot >= seen, `slot ${slot} is not before ${seen}`)
    return (seen = slot)
  }
  const whitelist = new Whitelist(second.documents)
  await whitelist.add(pubkeyToBase58(PROGRAM), 0, [{ offset: 0, length: 1 }])
  const moved = async (storage: Storage, slots: number): Promise<void> => {
    const least = seen + slots
    await until(async () => {
      await world.slots(1)
      const status = await whitelist.get(pubkeyToBase58(PROGRAM))
      return status?.progress.slot != null && (await check(storage)) > least
    }, `the mirror is past slot ${least}`)
  }
  const before = shardOf(first, 1)
  t.teardown(() => before.stop())
  await before.sync()
  await moved(second, 10)
  // The previous process does not know it yet, and continues for a while.
  const after = shardOf(second, 2)
  t.teardown(() => after.stop())
  await after.sync()
  await moved(first, 10)
  await before.stop()
  await moved(first, 10)
})
