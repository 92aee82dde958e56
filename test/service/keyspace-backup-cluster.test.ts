import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { localnetDirectory } from '../../src/ingest/sources.ts'
import { ROOT } from '../house/sources.ts'
import { ownDirectory } from '../own-directory.ts'
import { writeCassandraTools, writeCommand } from '../servers/cassandra-tools.ts'
import { testWithCqlCluster } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { answersOf, leads, slotOf, until } from './asking.ts'
import { clusterEnvironment } from './cluster.ts'
import { makeBusyLocalnet } from './localnet-process.ts'
import { startOwnLocalnet } from './own-localnet.ts'
import { ADMIN_KEY, startProcess, type Body, type ServiceProcess } from './service-process.ts'

const KEYSPACE = 'millrace'
const SLOT_MS = 200
/** Slots of the chain before the backup, and after it. */
const SLOTS = 40
const TRADES = '/v1/trades?from=2000-01-01&to=2100-01-01&limit=1000'

/** Returns the blocks of commands below a heading of the page, as they stand. */
function commandsBelow(heading: string): string[] {
  const page = readFileSync(join(ROOT, 'src/docs/fleet.md'), 'utf8')
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  if (section === undefined) throw new Error(`the page has no heading ${heading}`)
  // Lines that are indented, after an empty one.
  return section
    .split(/\n(?! {4})/)
    .filter((text) => text.startsWith('\n'))
    .map((text) => text.replaceAll(/^ {4}/gm, '').trim())
}

interface Trade {
  readonly slot: number
}

/** Returns all trades up to a slot, as they are listed. */
async function tradesUpTo(service: ServiceProcess, slot: number): Promise<unknown[]> {
  const found: unknown[] = []
  for (let after: string | null = null; ;) {
    const path: string = after === null ? TRADES : `${TRADES}&after=${after}`
    const body: Body = await until(async () => {
      const answer = await service.get(path)
      return answer.status === 200 && answer.body
    }, path)
    found.push(...(body.data as unknown as Trade[]).filter((trade) => trade.slot <= slot))
    if (typeof body['nextCursor'] !== 'string') return found
    after = body['nextCursor']
  }
}

/** Facts of accounts, which a gateway reads once somebody asks: metadata and supplies of mints, reserves of pools. */
const ACCOUNT_FACTS =
  /"(name|symbol|market_cap_usd|supply_slot|liquidity_usd|unvalued_pools)":("(?:[^"\\]|\\.)*"|[^,}"]*),?/g

/** Returns every page of every endpoint, without facts of accounts. */
async function storedAnswers(service: ServiceProcess): Promise<string[]> {
  // A server on a busy machine may be slow at any time.
  const texts = await until(async () => {
    const found = await answersOf(service)
    return found.every((text) => !/^\S+ 503 /.test(text)) && found
  }, 'answers without an outage')
  return texts.map((text) => text.replaceAll(ACCOUNT_FACTS, ''))
}

/** Creates a key. Repeats a request that is refused because the server is slow. */
async function makeKey(service: ServiceProcess, name: string): Promise<string> {
  return until(() => triedKey(service, name), 'a key')
}

async function triedKey(service: ServiceProcess, name: string): Promise<string | null> {
  const response = await fetch(`${service.url}/v1/admin/keys`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ tenant: 'operator', name, scopes: ['data:read'] })
  })
  if (response.status === 503) return null
  if (response.status !== 201) throw new Error(`a key is answered with ${response.status}`)
  return ((await response.json()) as { key: string }).key
}

/** Repeats requests until some work is done. Resolves with the number of requests. */
async function beside(request: (n: number) => Promise<unknown>, work: () => Promise<void>): Promise<number> {
  let isOver = false
  let count = 0
  const requesting = async (): Promise<void> => {
    while (!isOver) await request(count++)
  }
  await Promise.all([requesting(), work().finally(() => (isOver = true))])
  return count
}

testWithCqlCluster(t, 'a keyspace on a CQL server', { hasTools: true }, (t, cluster) =>
  testWithOwnRedis(
    t,
    'is backed up beside a running service, dropped and restored by the commands of the page',
    async (t, redis) => {
      const directory = ownDirectory(t)
      await makeBusyLocalnet(directory)
      const net = await startOwnLocalnet(t, localnetDirectory({ dataDir: directory }), SLOT_MS)
      const environment = clusterEnvironment(cluster, KEYSPACE, redis.url)
      const start = async (role: string, dataDir: string): Promise<ServiceProcess> => {
        const more = ['--source', 'rpc', '--rpc-url', net.rpcUrl, '--role', role]
        const place = join(directory, dataDir)
        const service = await startProcess({ dataDir: place, recordedDir: null, environment, more })
        t.teardown(async () => {
          if (service.child.exitCode === null && service.child.signalCode === null)
            await service.end('SIGKILL')
          if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
        })
        return service
      }
      const runs = commandsOf(directory, cluster, environment)
      const backup = commandsBelow('Back up')
      const restore = commandsBelow('Restore')
      t.equal(backup.length, 5, 'names, schema, snapshot, files, copy')
      t.equal(restore.length, 3, 'tables, rows, files')

      let ingest = await start('ingest', 'ingest')
      const gateway = await start('gateway,delivery', 'gateway')
      const first = await slotOf(gateway)
      await until(async () => (await slotOf(gateway)) > first + SLOTS, 'blocks')
      const kept = await makeKey(gateway, 'before the backup')
      t.same(await ingest.end('SIGTERM'), { code: 0, signal: null })
      const slot = await slotOf(gateway)
      const [answers, trades] = [await storedAnswers(gateway), await tradesUpTo(gateway, slot)]
      t.ok(trades.length > 0, `${trades.length} trades up to slot ${slot}`)

      // Requests that write come while the snapshot is taken.
      const keys = await beside(
        async (key) => makeKey(gateway, `beside the backup ${key}`),
        async () => {
          await runs(backup[1]!)
          await runs(backup[2]!)
        }
      )
      t.ok(keys > 0, `${keys} keys were made meanwhile`)
      await runs(backup[3]!)
      ingest = await start('ingest', 'ingest')
      await until(() => leads(ingest), 'it ingests')
      await runs(backup[4]!)
      const lost = await makeKey(gateway, 'after the backup')
      await until(async () => (await slotOf(gateway)) > slot + SLOTS, 'blocks after the backup')
      const later = await slotOf(gateway)
      const laterTrades = await tradesUpTo(gateway, later)
      t.ok(laterTrades.length > trades.length)

      await runs(restore[0]!.split('\n')[0]!)
      await until(
        async () => (await gateway.get('/v1/trades?from=2000-01-01&to=2100-01-01&limit=7')).status === 503,
        'the keyspace has vanished'
      )
      for (const service of [ingest, gateway]) await service.end('SIGKILL')

      for (const commands of restore) await runs(commands)
      const again = await start('gateway,delivery', 'restored')
      t.strictSame(await storedAnswers(again), answers, 'the answers at the slot of the backup')
      t.strictSame(await tradesUpTo(again, later), trades, 'and all trades')
      t.equal((await again.get('/v1/launches?limit=1', kept)).status, 200, 'a key from before the backup')
      t.equal((await again.get('/v1/launches?limit=1', lost)).status, 401, 'a later key is lost')
      t.equal(await slotOf(again), slot)
      const next = await start('ingest', 'next')
      await until(async () => (await slotOf(again)) > later, 'blocks after the restore')
      t.strictSame(await tradesUpTo(again, later), laterTrades, 'the blocks since the backup are reread')
      const { gaps } = (await again.get('/v1/admin/coverage')).body as unknown as { gaps: unknown[] }
      t.strictSame(gaps, [], 'no slot is missing')
      for (const service of [next, again]) t.same(await service.end('SIGTERM'), { code: 0, signal: null })
    }
  )
)

/** Returns a function that runs commands of the page in a shell of an operator, with the names that the page asks for. */
function commandsOf(
  directory: string,
  cluster: Parameters<typeof writeCassandraTools>[0],
  environment: Readonly<Record<string, string>>
): (commands: string) => Promise<void> {
  const tools = join(directory, 'bin')
  mkdirSync(tools)
  writeCassandraTools(cluster, tools)
  writeCommand(
    join(tools, 'npx'),
    `shift\nexec '${process.execPath}' '${ROOT}/src/kernel/cli/millrace.js' "$@"`
  )
  const names = {
    KEYSPACE,
    TAG: '2026-11-30',
    DATA: cluster.nodes[0]!.dataFolder,
    BACKUP: join(directory, 'backups')
  }
  const env = {
    ...environment,
    ...names,
    MILLRACE_DATA_DIR: join(directory, 'ingest'),
    PATH: [tools, process.env['PATH']].join(delimiter)
  }
  return async (commands) => {
    await promisify(execFile)('/bin/sh', ['-euc', commands], { cwd: directory, env }).catch(
      (error: unknown) => {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
        throw new Error(`${commands}\n${stdout}${stderr}`, { cause: error })
      }
    )
  }
}
