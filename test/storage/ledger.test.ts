import t from 'tap'
import { testLedger, testLedgerExpiry } from '../../storage/test/conformance/ledger.ts'
import { randomRuns } from '../random-runs.ts'
import { testWithCql } from '../servers/cql.ts'
import { openForTest } from './embedded-under-test.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const directory = t.testdir()

t.test('ledgers of the embedded store', async (t) =>
  testLedger(t, openForTest(directory), randomRuns(40).numRuns)
)
t.test('rows of ledgers of the embedded store expire', async (t) =>
  testLedgerExpiry(t, openForTest(directory))
)

testWithCql(t, 'ledgers on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  await testLedger(t, (t) => under.open(t), randomRuns(4).numRuns)
})
