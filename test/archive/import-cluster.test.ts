import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { configOf } from '../../src/configuration.ts'
import { openCoordination } from '../../src/store/coordination.ts'
import { archiveConfigOf, openArchiveToRead } from '../../src/store/opening.ts'
import { runCommand } from '../cli/run-command.ts'
import { FaultyNode, type JsonBlock } from '../node/faulty-node.ts'
import { newKeyspaceName, testWithCql } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { testWithRedis } from '../servers/redis.ts'
import { until } from '../service/asking.ts'
import { clusterEnvironment } from '../service/cluster.ts'
import { portRows } from '../storage/port-rows.ts'
import { rawClient } from '../storage/scylla-keyspace.ts'
import { foldedFolder } from './folded-folder.ts'
import { recordedMarket } from './recorded-market.ts'

/** Number of blocks that come from a node; the folder has them and the later ones. */
const FIRST = 8

/** Returns the blocks of a folder by slot. */
const blocksOf = (directory: string, slots: readonly number[]): Map<number, JsonBlock> =>
  new Map(
    slots.map((slot) => {
      const text = readFileSync(join(directory, `${slot}.json`), 'utf8')
      return [slot, (JSON.parse(text) as { block: JsonBlock }).block]
    })
  )

testWithCql(t, 'an archive on a CQL server', async (t, server) => {
  const keyspace = newKeyspaceName()
  const client = await rawClient(server)
  t.teardown(async () => {
    // Dropping tables is expensive for the server.
    if (server.endsWithRun !== true)
      for (const name of ['archive', 'facts'])
        await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}_${name}`)
    await endClient(client)
  })
  const keyspaces = async (): Promise<string[]> => {
    const { rows } = await client.execute('SELECT keyspace_name FROM system_schema.keyspaces')
    return rows.map((row) => String(row['keyspace_name'])).filter((name) => name.startsWith(keyspace))
  }
  const { directory, slots } = await recordedMarket(t, 'an archive on a cluster', 16)
  const dataDir = join(t.testdirName, 'data')
  const environment = { ...clusterEnvironment(server, keyspace, null), MILLRACE_DATA_DIR: dataDir }
  const reading = configOf({}, environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  const { config } = reading

  t.equal(await openArchiveToRead(config), null, 'nothing is imported yet')
  t.same(await keyspaces(), [], 'reading has created nothing')

  await t.test(
    'a backfill reads the first blocks from a node, and continues after an interruption',
    async (t) => {
      const node = await FaultyNode.start(t, blocksOf(directory, slots))
      const range = `${slots[0]}..${slots[FIRST - 1]}`
      const flags = ['--archive-rpc-url', node.url, '--requests-per-second', '1000']
      const interrupt = new AbortController()
      node.inject('silent', { kind: 'silent' }, (request) => {
        if (request.method !== 'getBlock' || request.params[0] !== slots[FIRST - 2]) return false
        interrupt.abort()
        return true
      })
      const words = ['archive', 'backfill', range, ...flags]
      t.equal((await runCommand(words, environment, interrupt.signal)).code, 1)
      node.forgive()
      const { code, lines, stderr } = await runCommand(words, environment)
      t.equal(code, 0, stderr)
      t.match(lines.at(-1), new RegExp(`^the archive has slots ${slots[0]} to ${slots[FIRST - 1]},`))
      const again = await runCommand(words, environment)
      t.match([again.code, again.lines[0]], [0, '0 blocks with 0 trades are added'])
    }
  )

  const { code, lines, stderr } = await runCommand(['archive', 'import', directory], environment)
  const counts = `^${slots.length - FIRST} blocks with [1-9]\\d* trades are imported; ${FIRST} blocks were there before$`
  t.equal(code, 0, stderr)
  t.match(lines[0], new RegExp(counts))
  t.same(
    (await keyspaces()).sort(),
    [`${keyspace}_archive`, `${keyspace}_facts`],
    'the live keyspace is not created'
  )
  const again = await runCommand(['archive', 'import', directory], environment)
  t.match(
    [again.code, again.lines],
    [0, [`0 blocks with 0 trades are imported; ${slots.length} blocks were there before`]]
  )

  const { whole: expected, commits } = await foldedFolder(t, directory)
  const archive = await openArchiveToRead(config)
  t.teardown(() => archive?.close())
  const found = await portRows(archive!, commits)
  const different = [...expected.keys()].filter(
    (key) => !isDeepStrictEqual(found.get(key), expected.get(key))
  )
  t.same(different, [], `all ${expected.size} answers are those of the embedded store`)
})

testWithRedis(
  t,
  'two imports at once on a cluster: the second is refused in one line',
  async (t, { url }) => {
    const environment = {
      MILLRACE_STORAGE: 'scylla',
      MILLRACE_SCYLLA_KEYSPACE: newKeyspaceName(),
      MILLRACE_REDIS_URL: url
    }
    const reading = configOf({}, environment)
    if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
    const quiet = { info: () => undefined, warn: () => undefined }
    const other = await openCoordination(archiveConfigOf(reading.config), quiet)
    t.teardown(() => other.close())
    // A Redis that has just started grants no leases for three seconds.
    const lease = await until(() => other.leases!.acquire('import'), 'the first import has the lease')
    const { code, lines, stderr } = await runCommand(['archive', 'import', oneBlock(t)], environment)
    t.same([code, lines], [1, []])
    t.match(stderr, /^millrace: another import is running, or Redis does not answer; wait [^\n]*$/)
    await lease.release()
  }
)

t.test('a keyspace whose archive would have too long a name is refused, and names the setting', async (t) => {
  const environment = { MILLRACE_STORAGE: 'scylla', MILLRACE_SCYLLA_KEYSPACE: 'k'.repeat(41) }
  const { code, stderr } = await runCommand(['archive', 'import', oneBlock(t)], environment)
  t.equal(code, 1)
  t.match(
    stderr,
    `millrace: the archive needs the keyspace ${'k'.repeat(41)}_archive, whose name has 49 characters; a keyspace has 48 at most: shorten MILLRACE_SCYLLA_KEYSPACE`
  )
})

/** Makes a folder of a block without transactions. */
function oneBlock(t: Test): string {
  const block = { blockhash: '1', parentSlot: 6, blockTime: 1_700_000_000, transactions: [] }
  return t.testdir({ '7.json': JSON.stringify({ slot: 7, block }) })
}
