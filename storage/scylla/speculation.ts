import type { CqlClient } from './client.ts'

/**
 * Milliseconds after which a node that coordinates a read asks one more replica. By default it waits as long as 99 of 100
 * reads of the table took, which is 2.5 s where there were few: longer than a request may take, and until the others notice
 * that a node hangs, some 10 s, two of three reads ask it. A replica answers within 5 ms: ten times that is rare.
 */
const SPECULATE_AFTER_MS = 50
const OPTION = `speculative_retry = '${SPECULATE_AFTER_MS}ms'`

/** A statement of the schema; one that makes a table says when its reads ask one more replica. */
export function withSpeculation(statement: string): string {
  if (!statement.startsWith('CREATE TABLE')) return statement
  return `${statement} ${/\)\s+WITH\s/.test(statement) ? 'AND' : 'WITH'} ${OPTION}`
}

/** The statements that bring tables of an earlier version to it; none where all have it. */
export async function speculationChanges(
  client: CqlClient,
  { keyspace }: { readonly keyspace: string }
): Promise<string[]> {
  const statement = 'SELECT table_name, speculative_retry FROM system_schema.tables WHERE keyspace_name = ?'
  const tables = await client.read(statement, [keyspace])
  return tables
    .filter((row) => !hasIt(row['speculative_retry'] as string))
    .map((row) => `ALTER TABLE ${keyspace}.${row['table_name'] as string} WITH ${OPTION}`)
}

/** Servers write it in forms of their own, such as 50.00ms. */
const hasIt = (option: string): boolean =>
  /^[\d.]+ms$/i.test(option) && Number.parseFloat(option) === SPECULATE_AFTER_MS
