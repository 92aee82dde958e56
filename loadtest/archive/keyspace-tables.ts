import { setTimeout as delay } from 'node:timers/promises'
import type { CqlCluster } from '../../test/servers/cql-cluster.ts'
import { endClient, plainClient } from '../../test/servers/plain-client.ts'

/** Seconds until a server has written its tables to disk and measured them. */
const FLUSHED_SECONDS = 45

/** Sets a property of all tables of a keyspace. */
export async function alterTables(cluster: CqlCluster, keyspace: string, property: string): Promise<void> {
  const client = plainClient(cluster)
  await client.connect()
  const { rows: tables } = await client.execute(
    `SELECT table_name FROM system_schema.tables WHERE keyspace_name = '${keyspace}'`
  )
  for (const { table_name: table } of tables)
    await client.execute(`ALTER TABLE ${keyspace}.${table} WITH ${property}`)
  await endClient(client)
}

/** Has a server write a keyspace to disk, and returns the mebibytes of its tables, by name; empty ones are left out. */
export async function mebibytesByTable(
  cluster: CqlCluster,
  keyspace: string
): Promise<Readonly<Record<string, number>>> {
  await alterTables(cluster, keyspace, 'memtable_flush_period_in_ms = 1000')
  await delay(FLUSHED_SECONDS * 1_000)
  const client = plainClient(cluster)
  await client.connect()
  const sizes = await client.execute(
    'SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage'
  )
  await endClient(client)
  return Object.fromEntries(
    sizes.rows
      .filter((row) => row['keyspace_name'] === keyspace && Number(row['mebibytes']) > 0)
      .map((row) => [String(row['table_name']), Number(row['mebibytes'])])
  )
}
