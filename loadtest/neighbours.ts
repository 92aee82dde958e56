/**
 * Measures what a well-behaved tenant feels while another one sends the dearest requests that its key allows. The service
 * runs a localnet on one core, and both tenants on the other.
 *
 *     node loadtest/neighbours.ts [SECONDS]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { measure, type Measurement } from './closed-loop.ts'
import { giveServersCore, leaveServersACore } from './cores.ts'
import { startMeasured } from './measured-process.ts'
import { writeResult } from './result.ts'

const seconds = Number(process.argv[2] ?? 25)
const ADMIN = 'an-admin-key-of-the-loadtest'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const SOL = 'So11111111111111111111111111111111111111112'
/** Bar of the p99 of the careful tenant: a factor of its own, and milliseconds in addition. */
const BAR = { factor: 3, ms: 10 }

/** Sends one request of the greedy tenant, and returns the status of the answer. */
type Send = (method: 'GET' | 'POST', path: string, body?: string) => Promise<number>
interface Attack {
  readonly name: string
  /** Requests that run at a time. */
  readonly together: number
  readonly send: (send: Send) => Promise<number>
}

const call = (id: number, filters: readonly unknown[] = []): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'getProgramAccounts',
    params: [TOKEN_PROGRAM, { encoding: 'base64', filters }]
  })
const OF_SOL = [{ memcmp: { offset: 0, bytes: SOL } }]
const batch = `[${Array.from({ length: 100 }, (_, id) => call(id, OF_SOL)).join(',')}]`
const deep = '['.repeat(240 * 1024)
const long = `{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["${'x'.repeat(255 * 1024)}"]}`
const rpc = (body: string) => (send: Send) => send('POST', '/v1/rpc', body)
const rest = (path: string) => (send: Send) => send('GET', path)

const ATTACKS: readonly Attack[] = [
  { name: 'three batches of 100 getProgramAccounts', together: 3, send: rpc(batch) },
  { name: 'six getProgramAccounts of all accounts', together: 6, send: rpc(call(1)) },
  {
    name: 'scans of program accounts by REST',
    together: 20,
    send: rest(`/v1/programs/${TOKEN_PROGRAM}/accounts?limit=1000&memcmp=1:${SOL}`)
  },
  { name: '240 KiB of opening brackets', together: 10, send: rpc(deep) },
  { name: 'bodies of 255 KiB', together: 10, send: rpc(long) },
  { name: 'pages of 1,000 trades', together: 100, send: rest(`/v1/tokens/${SOL}/trades?limit=1000`) },
  { name: 'searches', together: 50, send: rest('/v1/search?q=so&limit=20') },
  { name: 'rankings', together: 50, send: rest('/v1/trending?limit=100') }
]
const CAREFUL_PATHS = [
  '/v1/me',
  '/v1/stats',
  '/v1/launches?limit=20',
  '/v1/trending?limit=10',
  '/v1/coverage'
]

const directory = await mkdtemp(join(tmpdir(), 'millrace-neighbours-'))
const isApart = leaveServersACore()
const server = await startMeasured(
  '../src/cli/millrace.js',
  ['serve', '--port', '0', '--data-dir', directory],
  {
    env: {
      MILLRACE_ADMIN_KEY: ADMIN,
      MILLRACE_LOG_LEVEL: 'warn',
      MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000',
      MILLRACE_PROGRAM_ACCOUNTS_WEIGHT: '1'
    }
  }
)

async function admin<T>(path: string, body: unknown): Promise<T> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${text}`)
  return JSON.parse(text) as T
}

async function keyOf(tenant: string): Promise<string> {
  await admin('/v1/admin/tenants', { name: tenant })
  const { key } = await admin<{ key: string }>('/v1/admin/keys', {
    tenant,
    name: 'loadtest',
    scopes: ['data:read', 'rpc:read', 'stream']
  })
  return key
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

/** Sends an attack's requests until the signal aborts. Returns the number of answers by status; 0 for a broken connection. */
async function attacking(
  { together, send }: Attack,
  key: string,
  signal: AbortSignal
): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  const request: Send = async (method, path, body) => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
      signal
    })
    await answer.arrayBuffer()
    return answer.status
  }
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await send(request).catch(() => 0)
      if (!signal.aborted) statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: together }, one))
  return statuses
}

try {
  if (isApart) giveServersCore(server.pid)
  const [careful, greedy] = [await keyOf('careful'), await keyOf('greedy')]
  await admin('/v1/admin/programs', { program: TOKEN_PROGRAM })
  await ready(careful)
  const good = (): Promise<Measurement> =>
    measure(server, {
      headers: { 'x-api-key': careful },
      paths: Array.from({ length: 6 }, (_, at) =>
        CAREFUL_PATHS.map((_path, i) => CAREFUL_PATHS[(at + i) % 5]!)
      ),
      seconds,
      perConnectionPerSecond: 10
    })
  await good()
  const alone = await good()
  const barMs = alone.p99Ms * BAR.factor + BAR.ms
  const rows = []
  for (const attack of ATTACKS) {
    const end = new AbortController()
    const attacked = attacking(attack, greedy, end.signal)
    const amid = await good()
    end.abort()
    const statuses = await attacked
    await delay(2_000)
    const failures = Object.entries(amid.statuses).reduce((sum, [s, n]) => sum + (s === '200' ? 0 : n), 0)
    const row = {
      attack: attack.name,
      p50_ms: amid.p50Ms,
      p99_ms: amid.p99Ms,
      failures,
      attacker: statuses,
      rss_mib: Math.round(server.rssMib()),
      reached: amid.p99Ms <= barMs && failures === 0
    }
    console.error(JSON.stringify(row))
    rows.push(row)
  }
  await writeResult('neighbours', {
    seconds,
    server_has_a_core: isApart,
    alone: { p50_ms: alone.p50Ms, p99_ms: alone.p99Ms },
    bar: `p99 at most ${BAR.factor} times that alone and ${BAR.ms} ms, without a failure`,
    attacks: rows
  })
} finally {
  await server.end()
  await rm(directory, { recursive: true, force: true })
}
