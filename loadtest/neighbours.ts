/**
 * Measures the latencies of careful tenants while a greedy tenant makes the most expensive requests that its key
 * allows. The service runs a localnet on one core; the tenants share the other, and the greedy one has the lowest priority on it.
 *
 *     node loadtest/neighbours.ts [--seconds=25] [--quota=default|unlimited] [--store=embedded|cql] [--only=TEXT]
 *
 * On CQL a server runs beside the tenants, and the attacks are those that read or write the store.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { clusterEnvironment } from '../test/service/cluster.ts'
import { CqlCluster } from '../test/servers/cql-cluster.ts'
import { LAG_SAMPLE_MS } from '../src/kernel/telemetry/metrics.ts'
import { giveServersCore, leaveServersACore } from './cores.ts'
import { ATTACKS, TOKEN_PROGRAM } from './neighbours/attacks.ts'
import { chainFiguresOf } from './neighbours/target.ts'
import { feel, restVictim, rpcVictim, streamVictim, type Felt, type Victim } from './neighbours/victims.ts'
import { readResult, writeResult } from './result.ts'
import { HEADERS, startService } from './service-process.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '25' },
    quota: { type: 'string', default: 'default' },
    store: { type: 'string', default: 'embedded' },
    only: { type: 'string', default: '' }
  }
})
const seconds = Number(values.seconds)
const SOL = 'So11111111111111111111111111111111111111112'
/** Bars of a careful tenant's p99: a factor of its p99 without the greedy tenant, and additional milliseconds. */
const BARS = { default: { factor: 3, ms: 10 }, unlimited: { factor: 10, ms: 10 } } as const
if (values.quota !== 'default' && values.quota !== 'unlimited')
  throw new Error('--quota is default or unlimited')
const { quota } = values
const bar = BARS[quota]
/** Calls a minute of a key that no limit holds back. */
const UNLIMITED = 1_000_000
/** Milliseconds for the queues of an attack to go. */
const REST_MS = 3_000
/** Milliseconds in which the memory of all attacks has to go. */
const MEMORY_BACK_MS = 60_000

const directory = await mkdtemp(join(tmpdir(), 'millrace-neighbours-'))
const isApart = leaveServersACore()
const cql = values.store === 'cql' ? await CqlCluster.start({ fast: true }) : null
const attacks = ATTACKS.filter(
  ({ name, usesStore }) => name.includes(values.only) && (cql === null || usesStore)
)
const server = await startService(directory, [], {
  env: cql === null ? {} : clusterEnvironment(cql, 'neighbours', null)
})

async function admin<T>(path: string, body: unknown): Promise<T> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${text}`)
  return JSON.parse(text) as T
}

async function keyOf(tenant: string, limit: object): Promise<string> {
  const scopes = ['data:read', 'rpc:read', 'stream', 'revenue']
  return (await admin<{ key: string }>('/v1/admin/keys', { tenant, name: 'loadtest', scopes, ...limit })).key
}

/** Makes a tenant, and returns its key. */
async function tenant(name: string, limit: object): Promise<string> {
  await admin('/v1/admin/tenants', { name })
  return keyOf(name, limit)
}

/** Resolves once the localnet has its past, and the accounts of the token program are mirrored. */
async function ready(key: string): Promise<void> {
  for (;;) {
    const { status } = (await (await fetch(`${server.url}/v1/health`)).json()) as { status: string }
    const { status: accounts } = await fetch(`${server.url}/v1/programs/${TOKEN_PROGRAM}/accounts?limit=1`, {
      headers: { 'x-api-key': key }
    })
    if (status === 'ok' && accounts === 200) return
    await delay(500)
  }
}

/** Runs an attack in its own process until `work` has ended. Returns the number of each outcome. */
async function attacked(name: string, key: string, work: () => Promise<void>): Promise<unknown> {
  const child = fork(join(import.meta.dirname, 'neighbours/attacker.ts'), [
    ...[server.url, key, name],
    cql === null ? '' : 'spare'
  ])
  // Reading its answers takes a whole core. The careful tenants and the CQL server on that core must not wait for it.
  setPriority(child.pid!, constants.priority.PRIORITY_LOW)
  await once(child, 'message')
  await work()
  const outcomes = once(child, 'message')
  child.send('end')
  return (await outcomes)[0]
}

async function allFeel(victims: readonly Victim[]): Promise<Record<string, Felt>> {
  const felt = await Promise.all(
    victims.map(async (victim) => [victim.name, await feel(victim, seconds)] as const)
  )
  return Object.fromEntries(felt)
}

/**
 * Returns the longest stall of the event loop since the last call, in milliseconds. The metric has the interval of its
 * samples in it.
 */
async function longestStallMs(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`, { headers: HEADERS })).text()
  return Math.round(
    Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)![1]) * 1_000 - LAG_SAMPLE_MS
  )
}

try {
  if (isApart) giveServersCore(server.pid)
  const unlimited = { rate_limit_per_minute: UNLIMITED }
  const careful = await Promise.all(['rest', 'rpc', 'stream'].map((name) => tenant(name, unlimited)))
  await admin('/v1/admin/programs', { program: TOKEN_PROGRAM })
  await ready(careful[0]!)
  const figures = await chainFiguresOf(server.url, careful[0]!)
  const victims = [
    restVictim(server.url, careful[0]!),
    rpcVictim(server.url, careful[1]!, figures.wallets),
    await streamVictim(new URL(server.url).host, careful[2]!, `trades:${SOL}`)
  ]
  await allFeel(victims)
  await longestStallMs()
  const alone = await allFeel(victims)
  const aloneStallMs = await longestStallMs()
  const rssMib = Math.round(server.rssMib())
  const rows = []
  for (const [at, { name }] of attacks.entries()) {
    const key = await tenant(`greedy-${at}`, quota === 'default' ? {} : unlimited)
    let felt: Record<string, Felt> = {}
    await longestStallMs()
    const outcomes = await attacked(name, key, async () => void (felt = await allFeel(victims)))
    const stallMs = await longestStallMs()
    await delay(REST_MS)
    const isReached = Object.entries(felt).every(
      ([victim, { p99_ms, failures }]) =>
        failures === 0 && p99_ms <= alone[victim]!.p99_ms * bar.factor + bar.ms
    )
    const row = {
      attack: name,
      ...felt,
      stall_ms: stallMs,
      outcomes,
      rss_mib: Math.round(server.rssMib()),
      reached: isReached
    }
    console.error(JSON.stringify(row))
    rows.push(row)
  }
  victims.forEach(({ end }) => end())
  await delay(MEMORY_BACK_MS)
  const run = cql === null ? quota : `${quota}_cql`
  const others = ['default', 'unlimited', 'default_cql', 'unlimited_cql'].filter((name) => name !== run)
  await writeResult('neighbours', {
    ...readResult('neighbours', others),
    [run]: {
      seconds,
      server_has_a_core: isApart,
      bar: `p99 at most ${bar.factor} times that alone and ${bar.ms} ms, without a failure`,
      alone: { ...alone, stall_ms: aloneStallMs, rss_mib: rssMib },
      attacks: rows,
      rss_mib_a_minute_later: Math.round(server.rssMib())
    }
  })
} finally {
  await server.end()
  await cql?.end()
  await rm(directory, { recursive: true, force: true })
}
