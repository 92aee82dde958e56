import t from 'tap'
import { testProgramAccountIndex } from '../../storage/test/conformance/program-account-index.ts'
import { testProgramAccounts } from '../../storage/test/conformance/program-accounts.ts'
import { randomRuns } from '../random-runs.ts'
import { testWithCql } from '../servers/cql.ts'
import { testIndexCrashes } from './account-index-crashes.ts'
import { openForTest } from './embedded-under-test.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const directory = t.testdir()

t.test('mirrored accounts of the embedded store', async (t) =>
  testProgramAccounts(t, openForTest(directory), randomRuns(60).numRuns)
)

t.test('indexes of mirrored accounts in the embedded store', async (t) =>
  testProgramAccountIndex(t, openForTest(directory), randomRuns(60).numRuns)
)

testWithCql(t, 'mirrored accounts on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  await testProgramAccounts(t, (t) => under.open(t), randomRuns(4).numRuns)
  await testProgramAccountIndex(t, (t) => under.open(t), randomRuns(4).numRuns)
  t.test('an index equals a scan after a crash at any write', async (t) => testIndexCrashes(t, under))
})
