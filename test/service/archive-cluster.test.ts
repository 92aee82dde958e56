import { join } from 'node:path'
import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { testWithCql } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { rawClient } from '../storage/scylla-keyspace.ts'
import { faultsBesideOutages, until } from './asking.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { runMillrace, startProcess } from './service-process.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const BLOCKS = 30
const ARCHIVED = 10
const PATHS = [
  `/v1/tokens/${WSOL}/trades?limit=100&order=asc`,
  `/v1/tokens/${WSOL}/trades?limit=100`,
  `/v1/tokens/${WSOL}/candles?interval=1m`,
  `/v1/tokens/${WSOL}`,
  '/v1/coverage'
]

testWithFixtures(t, 'an archive of a cluster', (t) =>
  testWithCql(t, 'is served alike by every gateway, whichever process imported it', async (t, server) => {
    const keyspace = ownKeyspace(t, server)
    t.teardown(async () => {
      const client = await rawClient(server)
      for (const name of ['archive', 'facts'])
        await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}_${name}`)
      await endClient(client)
    })
    const directory = t.testdir({ early: {}, live: {} })
    const pathOf = (name: string): string => join(directory, name)
    const blocks = recordedBlocks(BLOCKS)
    writeLines(pathOf('early'), 'early.ndjson', blocks.slice(0, ARCHIVED))
    writeLines(pathOf('live'), 'live.ndjson', blocks.slice(ARCHIVED))
    const environment = clusterEnvironment(server, keyspace, null)
    const start = async (name: string, ...more: readonly string[]) => {
      const flags = { dataDir: pathOf(name), recordedDir: pathOf('live'), environment, more }
      const service = await startProcess(flags)
      t.teardown(async () => {
        if (service.child.exitCode === null) await service.end('SIGKILL')
        if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
      })
      return service
    }
    const ingest = await start('ingest', '--role', 'ingest')
    await ingest.said(/the source has no more blocks/)
    // The folder of the import is of another machine than those of the gateways.
    // A server that makes tables on a starved machine counts as down; the next import continues.
    await until(async () => {
      const { code, stderr } = await runMillrace(
        ['archive', 'import', pathOf('early'), '--data-dir', pathOf('importer')],
        environment
      )
      if (code !== 0) t.comment(stderr)
      return code === 0
    }, 'the blocks are imported')

    const gateways = [
      await start('one', '--role', 'gateway'),
      await start('two', '--role', 'gateway')
    ] as const
    for (const gateway of gateways)
      await until(
        async () => (await gateway.get('/v1/coverage')).body['archive'] !== null,
        'the archive is served'
      )
    for (const path of PATHS) {
      const [one, two] = await Promise.all(gateways.map((gateway) => gateway.get(path)))
      t.equal(one!.status, 200, path)
      t.strictSame(two!.body, one!.body, path)
      t.equal(two!.headers.get('etag'), one!.headers.get('etag'), path)
    }
    const [oldest, newest] = await Promise.all(PATHS.slice(0, 2).map((path) => gateways[1].get(path)))
    t.equal(oldest!.body.data[0]?.['source'], 'archive')
    t.equal(newest!.body.data[0]?.['source'], undefined)
    for (const service of [ingest, ...gateways]) t.strictSame(faultsBesideOutages(service), [])
  })
)
