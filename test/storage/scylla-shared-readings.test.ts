import t from 'tap'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { testWithCql } from '../servers/cql.ts'
import { lendKeyspace } from './scylla-keyspace.ts'
import { checkSharedReadings } from './shared-readings-cases.ts'

testWithCql(t, 'readings in the store are made by one process and served by all', async (t, server) => {
  const options = await lendKeyspace(t, server)
  const [one, two] = await Promise.all([openScyllaStorage(options), openScyllaStorage(options)])
  t.teardown(() => Promise.all([one.close(), two.close()]))
  t.equal(one.readings?.available, true)
  t.equal(one.readings?.notifies, false)
  await checkSharedReadings(t, one.readings!, two.readings!)
})
