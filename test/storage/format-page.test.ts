import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { LOCALNET_FORMAT } from '../../src/localnet/bank/bank-store.ts'
import { BACKUP_FORMAT } from '../../src/store/backup/manifest.ts'
import { ARCHIVE_FORMAT, FORMAT, OLDEST_FORMAT } from '../../storage/embedded/format.ts'
import { FACTS_FORMAT, OLDEST_FACTS_FORMAT } from '../../storage/port/facts.ts'
import { schemaFiles } from '../../storage/scylla/schema.ts'
import { ROOT } from '../house/sources.ts'

const page = (name: string): string => readFileSync(join(ROOT, 'src/docs', name), 'utf8')

t.test('the page on upgrades states the formats that this version writes and reads', async (t) => {
  const rows = page('upgrade.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const schema = (await schemaFiles()).at(-1)!.version
  const expected = {
    'embedded store': [FORMAT, `${OLDEST_FORMAT} to ${FORMAT}`],
    'embedded archive': [ARCHIVE_FORMAT, `${OLDEST_FORMAT} to ${ARCHIVE_FORMAT}`],
    'keyspace of a cluster': [schema, `1 to ${schema}`],
    'facts of the archive': [FACTS_FORMAT, `${OLDEST_FACTS_FORMAT} and ${FACTS_FORMAT}`],
    "the localnet's chain": [LOCALNET_FORMAT, LOCALNET_FORMAT],
    backup: [BACKUP_FORMAT, BACKUP_FORMAT]
  }
  for (const [stored, [format, read]] of Object.entries(expected))
    t.same(
      rows.filter(([, cell]) => cell === stored).map((cells) => [cells[3], cells[4]]),
      [[String(format), String(read)]],
      stored
    )
})

t.test('the newest version of the changelog says which formats it raises', async (t) => {
  const [, newest] = page('CHANGELOG.md').split('\n## ')
  t.match(newest, `the embedded store to ${FORMAT}, that of an archive to ${ARCHIVE_FORMAT}`)
  t.match(newest, `the schema of a keyspace to ${(await schemaFiles()).at(-1)!.version}`)
  t.match(newest, `that of an archive's facts to ${FACTS_FORMAT}`)
})
