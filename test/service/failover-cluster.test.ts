import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { tenantShard } from '../../src/access/tenant-shard.ts'
import { transactionShard } from '../../src/transactions/submission.ts'
import { ownDirectory } from '../own-directory.ts'
import { IS_LONG } from '../random-runs.ts'
import { testWithCqlCluster } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { until } from './asking.ts'
import { ChainFleet } from './chain-fleet.ts'
import { drains } from './drains.ts'
import { judgeCourse } from './fleet-course.ts'
import { haveSlot, IndependentRecord } from './independent-record.ts'
import { openOwnLocalnet } from './own-localnet.ts'
import type { ServiceProcess } from './service-process.ts'
import { TENANT } from './webhook-receiver.ts'

const SLOT_MS = 400
/** Slots before the first process starts, so that the store of each begins with the same block. */
const FIRST_SLOTS = 3
/** Three nodes take both cores of a small machine, and prove less than nothing there if they do not get them. */
const NODES = IS_LONG ? 3 : 1
/** Roles in the order in which processes are restarted (src/docs/fleet.md). */
const ROLES = ['delivery', 'ingest', 'gateway'] as const
/** Seconds for which CQL nodes are away. */
const AWAY_SECONDS = 3

testWithCqlCluster(
  t,
  `a fleet of every role twice, on ${NODES} CQL nodes`,
  { nodes: NODES, durable: true },
  (t, cluster) =>
    testWithOwnRedis(
      t,
      'loses each role, Redis and CQL nodes in turn: no event, submission, ledger row or holder is lost or doubled',
      async (t, redis) => {
        const directory = ownDirectory(t)
        mkdirSync(join(directory, 'chain'))
        const chain = await openOwnLocalnet(t, join(directory, 'chain'), SLOT_MS, 'busy')
        const { net } = chain
        for (let made = 0; made < FIRST_SLOTS; made++) await net.bank.produceSlot()
        const fleet = new ChainFleet(t, {
          ...{ server: cluster, keyspace: 'failover', replication: NODES },
          ...{ redisUrl: redis.url, rpcUrl: net.rpcUrl, directory }
        })
        const witness = await fleet.startWitness()
        for (const role of ROLES) for (const number of [1, 2]) await fleet.start(`${role} ${number}`, role)
        await haveSlot([witness, ...fleet.named('')], net.bank.slot('confirmed'))
        chain.grow()
        const record = await IndependentRecord.begin(t, net, fleet)

        let started = 2
        /** Starts a process in place of a lost one. */
        const replace = async (role: (typeof ROLES)[number]): Promise<void> => {
          await fleet.start(`${role} ${++started}`, role)
        }
        const kill = async (what: string, service: ServiceProcess): Promise<void> => {
          await record.lose(what, () => service.end('SIGKILL'))
        }
        await judgeCourse(t, { fleet, witness, chain, record }, async () => {
          await record.goesOn('nothing')
          await kill('the ingest leader, by SIGKILL', await fleet.holderOf('ingest', 'ingest'))
          await replace('ingest')
          const deliverer = await fleet.holderOf('webhooks', `webhooks:${tenantShard(TENANT)}`)
          await kill('the delivery of its webhooks', deliverer)
          await replace('delivery')
          const sender = await fleet.holderOf('transactions', transactionShard(TENANT))
          await kill('the delivery of its transactions', sender)
          await replace('delivery')
          await kill('a gateway', fleet.named('gateway')[0]!)
          await replace('gateway')

          await record.lose('Redis', () => redis.kill())
          await redis.start()
          await record.goesOn('the return of Redis')
          await loseNodes(1)
          if (NODES === 3) await loseNodes(2)

          for (const role of ROLES)
            for (const old of fleet.named(role)) {
              await replace(role)
              await record.lose(`one process of ${role}, restarted`, () => drains(t, old))
            }
        })

        /** Loses some of the CQL nodes for a while, by SIGKILL. */
        async function loseNodes(count: number): Promise<void> {
          const nodes = cluster.nodes.slice(NODES - count)
          const kill = (): Promise<unknown> => Promise.all(nodes.map((node) => node.kill()))
          const start = (): Promise<unknown> => Promise.all(nodes.map((node) => node.start()))
          if (count * 2 < NODES) {
            await record.lose(`${count} of ${NODES} CQL nodes`, kill)
            await start()
          } else {
            await kill()
            await delay(AWAY_SECONDS * 1_000)
            await record.lose(`${count} of ${NODES} CQL nodes, from their return`, start)
          }
          await until(() => cluster.ready().then(() => true), 'the nodes see each other')
        }
      }
    )
)
