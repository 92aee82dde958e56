/**
 * Measures the seconds from the end of an outage of the store to the next committed block. The store is one CQL node that
 * hangs, then one that is killed and restarted. The service on it has a localnet that makes a block every 400 ms.
 *
 *     node loadtest/outage.ts [rounds] [seconds of each outage]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'cassandra-driver'
import { clusterEnvironment } from '../test/service/cluster.ts'
import { CQL_DATACENTER, CqlCluster } from '../test/servers/cql-cluster.ts'
import type { MeasuredProcess } from './measured-process.ts'
import { reported, writeResult } from './result.ts'
import { HEADERS, startService } from './service-process.ts'

const BAR_SECONDS = 5
const POLL_MS = 20
const GIVE_UP_MS = 120_000
const rounds = Number(process.argv[2] ?? 3)
const outageSeconds = Number(process.argv[3] ?? 20)

/** Number of committed blocks, as `/metrics` counts them. */
async function blocksOf(service: MeasuredProcess): Promise<number> {
  const answer = await fetch(`${service.url}/metrics`, { headers: HEADERS })
  const [, count] = /^millrace_blocks_total (\d+)$/m.exec(await answer.text()) ?? []
  if (count === undefined) throw new Error('the metrics count no blocks')
  return Number(count)
}

async function until(condition: () => Promise<boolean>, what: string): Promise<number> {
  const began = performance.now()
  while (!(await condition().catch(() => false))) {
    if (performance.now() - began > GIVE_UP_MS) throw new Error(`gave up: ${what}`)
    await delay(POLL_MS)
  }
  return (performance.now() - began) / 1_000
}

/** Whether a new driver gets an answer from the node. */
async function answers(port: number): Promise<boolean> {
  const client = new Client({
    contactPoints: ['127.0.0.1'],
    localDataCenter: CQL_DATACENTER,
    protocolOptions: { port },
    socketOptions: { connectTimeout: 500, readTimeout: 500 }
  })
  try {
    await client.connect()
    await client.execute('SELECT key FROM system.local')
    return true
  } finally {
    await client.shutdown()
  }
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-outage-'))
const cluster = await CqlCluster.start({ fast: true, durable: true })
try {
  const [node] = cluster.nodes
  const env = { ...clusterEnvironment(cluster, 'measured', null), MILLRACE_LOG_LEVEL: 'error' }
  const service = await startService(folder, [], { env })
  // The past of the localnet first, then some live blocks.
  let seen = -1
  await until(async () => {
    const before = seen
    seen = await blocksOf(service)
    await delay(2_000)
    return before > 0 && (await blocksOf(service)) - seen < 20
  }, 'the past is indexed')
  const measure = async (begin: () => Promise<void>, end: () => Promise<void>): Promise<number[]> => {
    const seconds: number[] = []
    for (let round = 0; round < rounds; round++) {
      await delay(3_000)
      await begin()
      await delay(outageSeconds * 1_000)
      const stopped = await blocksOf(service)
      await end()
      await until(() => answers(cluster.port), 'the node answers')
      const took = await until(async () => (await blocksOf(service)) > stopped, 'a block is committed')
      seconds.push(reported('seconds_to_the_next_block', Number(took.toFixed(2))))
    }
    return seconds
  }
  const hung = await measure(
    async () => node!.pause(),
    async () => node!.resume()
  )
  const killed = await measure(
    () => node!.kill(),
    () => node!.start()
  )
  await service.end()
  await writeResult('outage', {
    bar_seconds: BAR_SECONDS,
    outage_seconds: outageSeconds,
    seconds_to_the_next_block: { hung, killed },
    met: Math.max(...hung, ...killed) <= BAR_SECONDS
  })
} finally {
  await cluster.end()
  await rm(folder, { recursive: true, force: true })
}
