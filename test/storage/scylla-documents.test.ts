import t from 'tap'
import { documentConformance } from '../../storage/test/conformance.ts'
import { testWithCql } from '../servers/cql.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

testWithCql(t, 'documents on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  documentConformance(t, (t) => under.open(t), 10)
})
