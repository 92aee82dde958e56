import { join } from 'node:path'
import t from 'tap'
import { FACTS_FORMAT } from '../../storage/port/facts.ts'
import { openEmbeddedFacts } from '../../storage/embedded/facts.ts'
import { openCqlFacts } from '../../storage/scylla/facts.ts'
import { testFacts } from '../../storage/test/conformance/facts.ts'
import { randomRuns } from '../random-runs.ts'
import { newKeyspaceName, testWithCql } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { withRawStore } from './embedded-directory.ts'
import { rawClient, scyllaOptions } from './scylla-keyspace.ts'

const directory = join(t.testdir(), 'facts')

t.test('facts of the embedded store', async (t) => {
  await testFacts(t, () => openEmbeddedFacts(directory), randomRuns(30).numRuns)
})

t.test('facts that another process has open are refused', async (t) => {
  const facts = await openEmbeddedFacts(`${directory}-open`)
  t.teardown(() => facts.close())
  await t.rejects(openEmbeddedFacts(`${directory}-open`), /is open in another process/)
})

const FACT = { position: 7, key: Uint8Array.of(1), value: Uint8Array.of(2, 3) }

t.test(
  'facts of earlier formats, and of the first version, which states none, are given the newest',
  async (t) => {
    for (const format of [null, 1]) {
      const place = `${directory}-${format}`
      const first = await openEmbeddedFacts(place)
      await first.put('block', [FACT])
      await first.close()
      const key = Buffer.from('format')
      await withRawStore(place, (raw) => (format === null ? raw.del(key) : raw.put(key, Buffer.of(format))))
      const facts = await openEmbeddedFacts(place)
      t.strictSame(await facts.at('block', 7), [FACT])
      await facts.close()
      t.strictSame(await withRawStore(place, (raw) => raw.get(key)), Buffer.of(FACTS_FORMAT))
    }
  }
)

t.test('facts of a newer format are refused, by both formats and what to do', async (t) => {
  const place = `${directory}-newer`
  await (await openEmbeddedFacts(place)).close()
  await withRawStore(place, (raw) => raw.put(Buffer.from('format'), Buffer.of(9)))
  await t.rejects(openEmbeddedFacts(place), {
    message: `the store of the archive's facts in ${place} has format 9, and this version reads formats 1 to 2: start the version that wrote it or a later one, or restore a backup from before the upgrade (src/docs/upgrade.md)`
  })
})

testWithCql(t, 'facts on a CQL server', async (t, server) => {
  const keyspace = newKeyspaceName()
  t.teardown(async () => {
    if (server.endsWithRun === true) return
    const client = await rawClient(server)
    await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`)
    await endClient(client)
  })
  await testFacts(t, () => openCqlFacts(scyllaOptions(server, keyspace)), randomRuns(4).numRuns)

  await t.test('of a newer format are refused, by both formats and what to do', async (t) => {
    const client = await rawClient(server)
    const change = (value: string) =>
      client.execute(
        `INSERT INTO ${keyspace}.facts (list, bucket, position, key, value) VALUES (-1, 0, 0, textAsBlob('format'), ${value})`
      )
    await change('0x09')
    await t.rejects(
      openCqlFacts(scyllaOptions(server, keyspace)),
      /has format 9, and this version reads formats 1 to 2: start/
    )
    await change('0x01')
    await (await openCqlFacts(scyllaOptions(server, keyspace))).close()
    await endClient(client)
  })
})
