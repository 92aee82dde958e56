import { ADDRESSED, addressedRecord, tableOf } from '../codec/records.ts'
import type { AddressedName } from '../codec/records.ts'
import type { CqlClient } from './client.ts'
import { withSpeculation } from './speculation.ts'

/** Makes the table of a record as the schema's files have made those of the first records (`002-records.cql`). */
export function recordTable(keyspace: string, name: AddressedName): string {
  const { column } = addressedRecord(name)
  const versions = 'epoch int, commit int, value blob, before_epoch int, before_commit int, before_value blob'
  return withSpeculation(
    `CREATE TABLE IF NOT EXISTS ${keyspace}.${tableOf(name)} (${column} blob, ${versions}, PRIMARY KEY (${column})) ` +
      `WITH compaction = {'class': 'LeveledCompactionStrategy'}`
  )
}

/** The statements that make the tables of records that no file of the schema has made; empty if all exist. */
export async function recordTableChanges(
  client: Pick<CqlClient, 'read'>,
  { keyspace }: { readonly keyspace: string }
): Promise<string[]> {
  const statement = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?'
  const there = new Set((await client.read(statement, [keyspace])).map((row) => row['table_name']))
  return ADDRESSED.filter((name) => !there.has(tableOf(name))).map((name) => recordTable(keyspace, name))
}
