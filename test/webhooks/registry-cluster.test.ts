import t from 'tap'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { newKeyspaceName, testWithCql } from '../servers/cql.ts'
import { scyllaOptions } from '../storage/scylla-keyspace.ts'
import { testRegistry } from './registry-on-a-store.ts'

testWithCql(t, 'webhooks on a CQL server, changed by two processes', async (t, server) => {
  const options = scyllaOptions(server, newKeyspaceName())
  const stores = [await openScyllaStorage(options), await openScyllaStorage(options)]
  t.teardown(async () => {
    for (const store of stores) await store.close()
  })
  await testRegistry(
    t,
    stores.map(({ documents }) => documents)
  )
})
