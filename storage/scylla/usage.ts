import type { StorageUsage } from '../port.ts'
import { ROW_KINDS } from '../row-kinds.ts'
import type { CqlClient } from './client.ts'
import { largePartitionsOf } from './large-partitions.ts'

const SELECT_SIZES =
  'SELECT table_name, mean_partition_size, partitions_count FROM system.size_estimates WHERE keyspace_name = ?'
const SELECT_TABLES =
  'SELECT table_name, default_time_to_live FROM system_schema.tables WHERE keyspace_name = ?'
/** Index tables of lists are counted with the lists. */
const INDEX = /_buckets$/

/**
 * Sums the estimates of the nodes that are up, each for its own ranges: one replica, before compression, without rows that
 * are only in memory. Servers update their estimates every few minutes.
 */
export async function usageOf(
  client: Pick<CqlClient, 'read' | 'readOnEachNode'>,
  keyspace: string
): Promise<StorageUsage> {
  const [sizes, tables, largePartitions] = await Promise.all([
    client.readOnEachNode(SELECT_SIZES, [keyspace]),
    client.read(SELECT_TABLES, [keyspace]),
    largePartitionsOf(client, keyspace)
  ])
  const bytes = new Map<string, number>()
  for (const row of sizes) {
    const table = (row['table_name'] as string).replace(INDEX, '')
    const inRange = Number(row['mean_partition_size']) * Number(row['partitions_count'])
    bytes.set(table, (bytes.get(table) ?? 0) + inRange)
  }
  const ttls = new Map(
    tables.map((row) => [row['table_name'] as string, row['default_time_to_live'] as number])
  )
  const kinds = ROW_KINDS.filter(({ tables }) => tables.length > 0).map(({ name, stays, tables }) => {
    const ttl = ttls.get(tables[0]!) ?? 0
    return {
      kind: name,
      bytes: tables.reduce((sum, table) => sum + (bytes.get(table) ?? 0), 0),
      stays: stays === 'needed' ? stays : ttl > 0 ? ttl : ('always' as const)
    }
  })
  return { kinds, freeBytes: null, largePartitions }
}
