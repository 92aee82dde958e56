import t from 'tap'
import { testWithCql } from '../servers/cql.ts'
import { storageConformance } from '../../storage/test/conformance.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

testWithCql(t, 'the store on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server, { isNew: true })
  t.teardown(() => under.end())
  storageConformance(t, (t) => under.open(t))
})
