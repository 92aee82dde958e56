/**
 * Measures what a process that follows the commits of another costs: processor time of each follower, as a share of that of
 * the process that ingests, in one run. Ingest gets blocks of 1,500 transactions at mainnet's live rate, and commits them to a
 * CQL server of one node. Followers are a gateway without clients, one with stream clients, a delivery process, and a gateway
 * for some products. Beside them runs the least that a follower can do (`followers/floor.ts`). Making the blocks is the source's cost, and is subtracted. Afterwards every client must have each event
 * once, in order, and as a replay has it.
 *
 *     node loadtest/followers.ts [seconds] [clients]
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { CqlCluster } from '../test/servers/cql-cluster.ts'
import { OwnRedis } from '../test/servers/redis.ts'
import { clusterEnvironment } from '../test/service/cluster.ts'
import { openScyllaStorage } from '../storage/scylla/store.ts'
import { scyllaOptions } from '../test/storage/scylla-keyspace.ts'
import { CpuSpan } from './cpu-span.ts'
import { fixturesDirectory } from './fixtures.ts'
import type { FlockFigures } from './followers/clients.ts'
import type { IngestFigures } from './followers/ingest.ts'
import { marketOf, Population } from './market/population.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { LIVE } from './recorded-block.ts'
import { reported, writeResult } from './result.ts'
import { ADMIN_KEY, SETTINGS, startService, WITHOUT_LIMITS } from './service-process.ts'

const seconds = Number(process.argv[2] ?? 60)
const clients = Number(process.argv[3] ?? 1_000)
/** Seconds until code that runs once a second is compiled, and caches are full. */
const WARM_UP_SECONDS = 60
/** Seconds without a block, for what a process costs when nothing happens. */
const QUIET_SECONDS = 15
/** The required share of ingest's processor time for a follower without clients. */
const BAR = 0.05
/** The busiest mints, to which clients subscribe. */
const MINTS = 200
const STARTED_WITHIN_MS = 300_000

const FOLLOWERS = {
  gateway: ['--role', 'gateway'],
  gateway_with_clients: ['--role', 'gateway'],
  gateway_of_rpc: ['--role', 'gateway', '--products', 'rpc,transactions'],
  delivery: ['--role', 'delivery']
} as const
type Name = keyof typeof FOLLOWERS
const names = Object.keys(FOLLOWERS) as Name[]

async function ready({ url }: MeasuredProcess): Promise<void> {
  const late = performance.now() + STARTED_WITHIN_MS
  while ((await fetch(`${url}/ready`)).status !== 200) {
    if (performance.now() > late) throw new Error(`${url} is not ready`)
    await delay(250)
  }
}

async function slotOf({ url }: MeasuredProcess): Promise<number> {
  const { slot } = (await (await fetch(`${url}/v1/health`)).json()) as { slot: number | null }
  return slot ?? 0
}

async function asked<Answer>(child: ChildProcess, message: string): Promise<Answer> {
  const answer = once(child, 'message')
  child.send(message)
  return ((await answer) as [Answer])[0]
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-followers-'))
const cluster = await CqlCluster.start({ fast: true, disposable: true })
const redis = await OwnRedis.start()
const running: MeasuredProcess[] = []
/** Processes that are no services. */
const others: MeasuredProcess[] = []
try {
  // Tables are made before the processes start, which have limits for their starts.
  await (await openScyllaStorage(scyllaOptions(cluster, 'followers'))).close()
  const env = {
    ...clusterEnvironment(cluster, 'followers', redis.url),
    ...WITHOUT_LIMITS,
    MILLRACE_SCYLLA_REPLICATION: '1',
    FIXTURES_DIR: fixturesDirectory()
  }
  const ingest = await startMeasured(
    'followers/ingest.ts',
    ['--role', 'ingest', '--data-dir', join(folder, 'i')],
    {
      env: { ...SETTINGS, ...env }
    }
  )
  running.push(ingest)
  const followers: Partial<Record<Name, MeasuredProcess>> = {}
  for (const name of names) {
    const follower = await startService(join(folder, name), FOLLOWERS[name], { env }).catch(
      (error: unknown) => {
        // A version without the setting has no such gateway.
        if (name !== 'gateway_of_rpc') throw error
        return null
      }
    )
    if (follower === null) continue
    running.push(follower)
    followers[name] = follower
    await ready(follower)
  }
  const [contactPoint] = cluster.contactPoints
  const floor = await startMeasured('followers/floor.ts', [
    contactPoint!.split(':')[0]!,
    ...[String(cluster.port), cluster.datacenter, 'followers', redis.url]
  ])
  others.push(floor)
  const { gateway_with_clients: served } = followers
  const population = new Population(marketOf(1_000_000))
  const mints = Array.from({ length: MINTS }, (_, n) => pubkeyToBase58(population.mint(n + 1)))
  const flock = fork(
    join(import.meta.dirname, 'followers/clients.ts'),
    [served!.url, ADMIN_KEY, String(clients), mints.join(',')],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }
  )
  await once(flock, 'message')
  await delay(WARM_UP_SECONDS * 1_000)

  const processes = { ingest, ...followers, floor }
  const readsBefore = (await floor.ask('reads')) as number
  const before = (await ingest.ask('figures')) as IngestFigures
  const heardBefore = (await asked<FlockFigures>(flock, 'figures')).tally.live
  const span = new CpuSpan<string>(processes)
  await delay(seconds * 1_000)
  const cpu = reported('cpu_ms_a_second', span.end())
  const measuredSeconds = span.seconds
  const after = (await ingest.ask('pause')) as IngestFigures
  const heard = (await asked<FlockFigures>(flock, 'figures')).tally.live - heardBefore
  await delay(3_000)
  const quiet = new CpuSpan<string>(processes)
  await delay(QUIET_SECONDS * 1_000)
  const idle = reported('cpu_ms_a_second_without_blocks', quiet.end())
  const slots = await Promise.all(running.map(slotOf))
  const { tally, judged } = await asked<FlockFigures>(flock, 'end')
  flock.disconnect()

  const blocks = after.blocks - before.blocks
  const floorReads = ((await floor.ask('reads')) as number) - readsBefore
  const sourceMs = (after.sourceMsABlock * blocks) / measuredSeconds
  const ingestMs = cpu['ingest']! - sourceMs
  const figures = (name: string): object => ({
    cpu_ms_a_second: cpu[name],
    cpu_ms_a_second_without_blocks: idle[name],
    share_of_ingest: cpu[name]! / ingestMs,
    share_of_ingest_by_blocks: (cpu[name]! - idle[name]!) / (ingestMs - idle['ingest']!),
    rss_mib: processes[name as keyof typeof processes]!.rssMib()
  })
  const share = cpu['gateway']! / ingestMs
  const isExact =
    tally.faults === 0 &&
    Object.keys(tally.closes).length === 0 &&
    new Set(slots).size === 1 &&
    judged !== null &&
    // A process that hears of no block would cost less than the least.
    floorReads > blocks / 2
  await writeResult('followers', {
    seconds: measuredSeconds,
    blocks,
    blocks_a_second: blocks / measuredSeconds,
    transactions_a_block: LIVE.transactionsPerBlock,
    clients,
    ingest: {
      cpu_ms_a_second: ingestMs,
      cpu_ms_a_second_without_blocks: idle['ingest'],
      source_ms_a_second: sourceMs
    },
    followers: Object.fromEntries(Object.keys(followers).map((name) => [name, figures(name)])),
    floor: { ...figures('floor'), reads: floorReads },
    deliveries_a_second: heard / measuredSeconds,
    client_us_a_delivery:
      ((cpu['gateway_with_clients']! - cpu['gateway']!) * 1_000) / (heard / measuredSeconds),
    bar: BAR,
    reached: share <= BAR,
    events: judged?.events,
    deliveries: judged?.heard,
    faults: tally.firstFaults,
    slots,
    verified_exact: isExact
  })
  if (!isExact) process.exitCode = 1
} finally {
  for (const each of [...running, ...others].toReversed()) await each.end()
  await redis.end()
  await cluster.end()
  await rm(folder, { recursive: true, force: true })
}
