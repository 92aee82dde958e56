import type { CqlClient } from './client.ts'

/**
 * Milliseconds after which the coordinator of a read queries one more replica: ten times the usual 5 ms of a replica. By
 * default it waits for the p99 of the table's reads, which is 2.5 s for a table with few reads: longer than a request may
 * take. Until the other nodes notice a hanging node, for about 10 s, two of three reads go to it.
 */
const SPECULATE_AFTER_MS = 50
const OPTION = `speculative_retry = '${SPECULATE_AFTER_MS}ms'`

/** A statement of the schema; one that makes a table states when its reads query one more replica. */
export function withSpeculation(statement: string): string {
  if (!statement.startsWith('CREATE TABLE')) return statement
  return `${statement} ${/\)\s+WITH\s/.test(statement) ? 'AND' : 'WITH'} ${OPTION}`
}

/** The statements that bring tables of an earlier version to this setting; empty if all tables have it. */
export async function speculationChanges(
  client: CqlClient,
  { keyspace }: { readonly keyspace: string }
): Promise<string[]> {
  const statement = 'SELECT table_name, speculative_retry FROM system_schema.tables WHERE keyspace_name = ?'
  const tables = await client.read(statement, [keyspace])
  // On tablets ScyllaDB adds tables of its own for conditional writes, whose names have a $.
  return tables
    .filter((row) => /^\w+$/.test(row['table_name'] as string))
    .filter((row) => !hasIt(row['speculative_retry'] as string))
    .map((row) => `ALTER TABLE ${keyspace}.${row['table_name'] as string} WITH ${OPTION}`)
}

/** Servers write the setting in forms of their own, such as 50.00ms. */
const hasIt = (option: string): boolean =>
  /^[\d.]+ms$/i.test(option) && Number.parseFloat(option) === SPECULATE_AFTER_MS
