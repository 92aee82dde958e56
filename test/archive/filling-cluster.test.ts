import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import t from 'tap'
import { configOf } from '../../src/configuration.ts'
import type { Config } from '../../src/kernel/config/config.ts'
import { VENUE_IDS, type VenueId } from '../../src/chain/venue-id.ts'
import { readDecodingPeriods } from '../../src/ingest/decoding-periods.ts'
import { archiveGeneration, readStanding, recordStanding } from '../../src/archive/archive-place.ts'
import {
  archiveConfigOf,
  archivePlaceOf,
  openArchiveToRead,
  openStoreToRead
} from '../../src/store/opening.ts'
import { runCommand } from '../cli/run-command.ts'
import { newKeyspaceName, testWithCql } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { clusterEnvironment } from '../service/cluster.ts'
import { portRows } from '../storage/port-rows.ts'
import { rawClient } from '../storage/scylla-keyspace.ts'
import { foldedFolder } from './folded-folder.ts'
import { folderOf, recordedMarket } from './recorded-market.ts'
import { csvText, ownRow, PUMP_MINT } from './rows/sample-rows.ts'

/** A row of a slot that the archive has as a whole block. */
const OTHERS = csvText([ownRow(0, { slot: 2, block_time: 1_710_000_000, mint: PUMP_MINT, decimals: 6 })])

/** A subset of the venues, whose trades the first import decodes. */
const FEW = 'raydium-cpmm'

testWithCql(t, 'venues that an archive on a CQL server lacks', async (t, server) => {
  const keyspace = newKeyspaceName()
  const [first, second, facts] = [`${keyspace}_archive`, `${keyspace}_archiv2`, `${keyspace}_facts`]
  const client = await rawClient(server)
  t.teardown(async () => {
    if (server.endsWithRun !== true)
      for (const name of [first, second, facts]) await client.execute(`DROP KEYSPACE IF EXISTS ${name}`)
    await endClient(client)
  })
  const keyspaces = async (): Promise<string[]> => {
    const { rows } = await client.execute('SELECT keyspace_name FROM system_schema.keyspaces')
    const names = rows.map((row) => String(row['keyspace_name']))
    return names.filter((name) => name.startsWith(keyspace) && name !== facts).sort()
  }
  const market = await recordedMarket(t, 'an archive that lacks venues', 40)
  // Without the first block, which comes last.
  const slots = market.slots.slice(1)
  const directory = folderOf(market, slots, 'later')
  const environment = {
    ...clusterEnvironment(server, keyspace, null),
    MILLRACE_DATA_DIR: join(t.testdirName, 'data')
  }
  const config = configOfEnvironment(environment)
  const importing = (folder: string, ...venues: string[]) =>
    runCommand(['archive', 'import', folder], {
      ...environment,
      ...(venues.length > 0 && { MILLRACE_VENUES: venues.join() })
    })
  const later = await foldedFolder(t, directory)
  const few = await importing(directory, FEW)
  t.equal(few.code, 0, few.stderr)

  /** Compares the rows that readers of the archive get with the rows of an import with all venues. */
  const differences = async ({ whole, commits } = later): Promise<string[]> => {
    const archive = (await openArchiveToRead(config))!
    const found = await portRows(archive, commits)
    await archive.close()
    return [...whole.keys()].filter((key) => !isDeepStrictEqual(found.get(key), whole.get(key)))
  }
  const servedVenues = async (): Promise<readonly VenueId[]> => {
    const archive = (await openArchiveToRead(config))!
    const [period] = await readDecodingPeriods(archive)
    await archive.close()
    return period!.venues
  }
  t.not((await differences()).length, 0, 'rows are missing')
  t.strictSame(await servedVenues(), [FEW])

  const open = (await openArchiveToRead(config))!
  t.teardown(() => open.close())

  await t.test('a killed import leaves the archive as it was', async (t) => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'import-child.ts'), 'blocks', '1', '-', 'archive', 'import', directory],
      { env: { ...process.env, ...environment }, stdio: ['ignore', 'ignore', 'inherit'] }
    )
    t.strictSame(await once(child, 'exit'), [null, 'SIGKILL'])
    t.strictSame(await keyspaces(), [second, first], 'it was filling the second keyspace')
    t.strictSame(await servedVenues(), [FEW])
    t.equal(await archiveGeneration(open), 0)
    const filling = await openStoreToRead(keyspaceOf(config, second), () => undefined)
    t.match(await readStanding(filling), { state: 'filling' })
    const head = (await filling.blocks.head())!.slot
    t.ok(head >= slots[5]!, `slot ${head}`)
    await filling.close()
  })

  await t.test('the next import continues, and the archive has the rows of all venues once', async (t) => {
    const { code, lines, stderr } = await importing(directory)
    t.equal(code, 0, stderr)
    t.match(stderr, 'an interrupted import of these paths has read them: the fold continues')
    const others = lines
    t.match(others.join('\n'), 'the whole archive was folded again')
    t.match(others.join('\n'), `services stop reading ${first} within 2 minutes`)
    t.strictSame(await differences(), [], `all ${later.whole.size} answers are those of one import`)
    t.strictSame(await servedVenues(), VENUE_IDS)
    t.strictSame(await readDecodingPeriods(open).then(([period]) => period!.venues), [FEW])
    t.equal(await archiveGeneration(open), 1, 'a service that reads the first keyspace opens the second')
    t.equal((await archivePlaceOf(config)).config.scyllaKeyspace, second)
  })

  await t.test(
    'a repeated import changes nothing, and leaves the keyspace that services may read',
    async (t) => {
      // As if the import had ended before it notified services.
      const old = await openStoreToRead(keyspaceOf(config, first), () => undefined)
      await recordStanding(old, { ...(await readStanding(old))!, isReplaced: false })
      await old.close()
      const { code, lines } = await importing(directory)
      t.equal(code, 0)
      t.match(
        lines.join('\n'),
        `0 blocks with 0 trades are imported; ${slots.length} blocks were there before`
      )
      t.match(lines.join('\n'), `services stop reading ${first} within 2 minutes`)
      t.equal(await archiveGeneration(open), 1, 'services are told')
      t.strictSame(await differences(), [])
      t.strictSame(await keyspaces(), [second, first])
    }
  )

  await t.test('once services have left it, an import removes the first keyspace', async (t) => {
    const old = await openStoreToRead(keyspaceOf(config, first), () => undefined)
    await recordStanding(old, { ...(await readStanding(old))!, sinceMs: Date.now() - 3_600_000 })
    await old.close()
    const { code, lines, stderr } = await importing(directory)
    t.equal(code, 0, stderr)
    t.notMatch(lines.join('\n'), 'services stop reading')
    t.strictSame(await keyspaces(), [second])
    t.strictSame(await differences(), [])
  })

  await t.test('a row of a slot with a whole block causes no fold', async (t) => {
    const rows = join(t.testdir({ 'rows.csv': OTHERS }), 'rows.csv')
    const { code, lines, stderr } = await runCommand(['archive', 'import', rows], environment)
    t.equal(code, 0, stderr)
    t.notMatch(lines.join('\n'), 'folded again')
    t.strictSame(await keyspaces(), [second])
    t.strictSame(await differences(), [])
    const repeated = await importing(rows, 'phoenix')
    t.equal(repeated.code, 0, 'nothing is new')
  })

  await t.test('an archive in the second keyspace is folded again in the first', async (t) => {
    const { code, lines, stderr } = await importing(market.directory)
    t.equal(code, 0, stderr)
    t.match(lines.join('\n'), 'the whole archive was folded again')
    t.match(await archivePlaceOf(config), { config: { scyllaKeyspace: first }, generation: 2 })
    t.strictSame(await differences(await foldedFolder(t, market.directory)), [], 'with the earlier block')
  })
})

const keyspaceOf = (config: Config, scyllaKeyspace: string): Config => ({
  ...archiveConfigOf(config),
  scyllaKeyspace
})

function configOfEnvironment(environment: Readonly<Record<string, string>>): Config {
  const reading = configOf({}, environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return reading.config
}
