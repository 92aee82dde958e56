import { join } from 'node:path'
import t from 'tap'
import { openEmbeddedFacts } from '../../storage/embedded/facts.ts'
import { openCqlFacts } from '../../storage/scylla/facts.ts'
import { testFacts } from '../../storage/test/conformance/facts.ts'
import { randomRuns } from '../random-runs.ts'
import { newKeyspaceName, testWithCql } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
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

testWithCql(t, 'facts on a CQL server', async (t, server) => {
  const keyspace = newKeyspaceName()
  t.teardown(async () => {
    if (server.endsWithRun === true) return
    const client = await rawClient(server)
    await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`)
    await endClient(client)
  })
  await testFacts(t, () => openCqlFacts(scyllaOptions(server, keyspace)), randomRuns(4).numRuns)
})
