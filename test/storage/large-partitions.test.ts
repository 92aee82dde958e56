import t from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { CqlClient, type CqlRow } from '../../storage/scylla/client.ts'
import { largePartitionsOf } from '../../storage/scylla/large-partitions.ts'
import { testWithCql } from '../servers/cql.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const MEBIBYTE = 2 ** 20

/** Answers the reads whose statements have a text in them; every other read fails. */
function nodes(answers: Readonly<Record<string, readonly CqlRow[]>>, params: unknown[] = []) {
  const read = async (statement: string, given: readonly unknown[]): Promise<CqlRow[]> => {
    const [, rows] = Object.entries(answers).find(([text]) => statement.includes(text)) ?? []
    if (rows === undefined) throw new Error(`no answer to ${statement}`)
    params.push(...given)
    return [...rows]
  }
  return { read, readOnEachNode: read }
}

const CASSANDRA = { "'versions'": [], release_version: [{ release_version: '5.0.4' }] }
const SCYLLA = { "'versions'": [{}], 'system.versions': [{ version: '2025.4.1' }] }
const largest = (table_name: string, mebibytes: bigint, keyspace_name = 'shop'): CqlRow => ({
  keyspace_name,
  table_name,
  mebibytes
})

t.test('Cassandra states the largest partition of each table on each node', async (t) => {
  const max = [
    largest('log', 95n),
    largest('documents', 96n),
    largest('documents', 300n),
    largest('log', 900n, 'other')
  ]
  t.strictSame(await largePartitionsOf(nodes({ ...CASSANDRA, max_partition_size: max }), 'shop'), {
    knownFromBytes: 100_000_000,
    partitions: [{ table: 'documents', bytes: 300 * MEBIBYTE, key: null }]
  })
})

t.test('ScyllaDB names large partitions from its own threshold on, each once', async (t) => {
  const found = [
    { table_name: 'documents', partition_size: 2_000_000_000n, partition_key: 'submission:a/1' },
    { table_name: 'documents', partition_size: 1_500_000_000n, partition_key: 'submission:a/1' },
    { table_name: 'documents', partition_size: 99_000_000n, partition_key: 'submission:a/2' },
    { table_name: 'log', partition_size: 3_000_000_000n, partition_key: '01:5' }
  ]
  const tables = [{ table_name: 'documents' }]
  const answers = {
    ...SCYLLA,
    large_partitions: found,
    'system_schema.tables WHERE keyspace_name = ?': tables
  }
  const partitions = [
    { table: 'log', bytes: 3_000_000_000, key: '01:5' },
    { table: 'documents', bytes: 2_000_000_000, key: 'submission:a/1' }
  ]
  t.strictSame(await largePartitionsOf(nodes({ ...answers, 'system.config': [{ value: '200' }] }), 'shop'), {
    knownFromBytes: 200 * MEBIBYTE,
    partitions
  })
  t.strictSame(
    await largePartitionsOf(nodes(answers), 'shop'),
    { knownFromBytes: 1_000 * MEBIBYTE, partitions },
    'the default where the server does not say'
  )
})

t.test('nodes that do not say leave it unknown', async (t) => {
  t.equal(await largePartitionsOf(nodes(CASSANDRA), 'shop'), null)
  t.equal(await largePartitionsOf(nodes({}), 'shop'), null)
})

testWithCql(t, 'the largest partitions of a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  const { storage } = await under.open(t)
  const { largePartitions } = await storage.usage()
  t.strictSame(largePartitions?.partitions, [], 'the server says, and a test has none above 100 MB')
  const client = await CqlClient.connect(under.options, under.options.keyspace, systemPorts)
  t.teardown(() => client.close())
  t.ok((await largePartitionsOf(client, 'system')) !== null)
})
