import type { LargePartition, LargePartitions } from '../port.ts'
import type { CqlClient } from './client.ts'
import { serverVersion } from './server-version.ts'

/** Size from which a partition is reported: the bound of every table (src/docs/decisions/0008-scylla.md). */
export const PARTITION_BYTES_MAX = 100_000_000

/** Cassandra from 4.0 on: of each table the largest partition that a node has in its files. */
const SELECT_MAX = 'SELECT keyspace_name, table_name, mebibytes FROM system_views.max_partition_size'
const MEBIBYTE = 2 ** 20
/** ScyllaDB: partitions that were above a threshold when a file was written. */
const SELECT_LARGE =
  'SELECT table_name, partition_size, partition_key FROM system.large_partitions WHERE keyspace_name = ? AND table_name = ?'
const SELECT_THRESHOLD =
  "SELECT value FROM system.config WHERE name = 'compaction_large_partition_warning_threshold_mb'"
/** The default of that threshold. */
const THRESHOLD_MB = 1_000
const SELECT_TABLES = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?'
/** Partitions that are reported: an operator starts with the largest. */
const REPORTED_MAX = 20
const TABLES_AT_ONCE = 8

type Reads = Pick<CqlClient, 'read' | 'readOnEachNode'>

/**
 * Returns the largest partitions of a keyspace above 100 MB, by what each node that is up says of its own files. Null if the
 * nodes do not say: an older server, or a role without the permission to read its system tables.
 */
export async function largePartitionsOf(client: Reads, keyspace: string): Promise<LargePartitions | null> {
  try {
    const { product } = await serverVersion(client)
    return product === 'ScyllaDB' ? await ofScylla(client, keyspace) : await ofCassandra(client, keyspace)
  } catch {
    return null
  }
}

async function ofCassandra(client: Reads, keyspace: string): Promise<LargePartitions> {
  const rows = await client.readOnEachNode(SELECT_MAX, [])
  const found = rows
    .filter((row) => row['keyspace_name'] === keyspace)
    .map((row) => ({
      table: row['table_name'] as string,
      bytes: Number(row['mebibytes']) * MEBIBYTE,
      key: null
    }))
  return { knownFromBytes: PARTITION_BYTES_MAX, partitions: largestOf(found) }
}

async function ofScylla(client: Reads, keyspace: string): Promise<LargePartitions> {
  const tables = (await client.read(SELECT_TABLES, [keyspace])).map((row) => row['table_name'] as string)
  const found: LargePartition[] = []
  for (let from = 0; from < tables.length; from += TABLES_AT_ONCE) {
    const some = tables.slice(from, from + TABLES_AT_ONCE)
    const answers = await Promise.all(
      some.map(async (table) => client.readOnEachNode(SELECT_LARGE, [keyspace, table]))
    )
    for (const row of answers.flat())
      found.push({
        table: row['table_name'] as string,
        bytes: Number(row['partition_size']),
        key: row['partition_key'] as string
      })
  }
  const [threshold] = await client.read(SELECT_THRESHOLD, []).catch(() => [])
  const megabytes = Number(threshold?.['value'] ?? THRESHOLD_MB)
  const knownFromBytes = Math.max(PARTITION_BYTES_MAX, (megabytes || THRESHOLD_MB) * MEBIBYTE)
  return { knownFromBytes, partitions: largestOf(found) }
}

/** A partition that several files or nodes have counts once, with its largest size. */
function largestOf(found: readonly LargePartition[]): LargePartition[] {
  const largest = new Map<string, LargePartition>()
  for (const each of found) {
    const name = `${each.table} ${each.key}`
    if (each.bytes > PARTITION_BYTES_MAX && each.bytes > (largest.get(name)?.bytes ?? 0))
      largest.set(name, each)
  }
  return [...largest.values()].toSorted((a, b) => b.bytes - a.bytes).slice(0, REPORTED_MAX)
}
