import t from 'tap'
import { testHolders } from '../../storage/test/conformance/holders.ts'
import { randomRuns } from '../random-runs.ts'
import { testWithCql } from '../servers/cql.ts'
import { openForTest } from './embedded-under-test.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const directory = t.testdir()

t.test('holder lists of the embedded store', async (t) =>
  testHolders(t, openForTest(directory), randomRuns(40).numRuns)
)

testWithCql(t, 'holder lists on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  await testHolders(t, (t) => under.open(t), randomRuns(4).numRuns)
})
