import type { CqlClient } from './client.ts'

/** The schema from which kinds without a limit are divided, and the first one with documents. */
export const DIVIDED_SINCE = 14
export const DOCUMENTS_SINCE = 7

/**
 * Marks a keyspace whose table `documents` may have documents of divided kinds. They are read and changed there until they
 * expire or are deleted. The mark is a row of the applied versions with a negative number, which no file has.
 */
export const EARLIER_DOCUMENTS = { version: -DIVIDED_SINCE, name: 'documents of an earlier schema' } as const

/** Tells whether a schema of this version has documents that are not divided. */
export const makesEarlierDocuments = (version: number): boolean =>
  version >= DOCUMENTS_SINCE && version < DIVIDED_SINCE

/** Reads the mark. */
export async function hasEarlierDocuments(client: Pick<CqlClient, 'read'>): Promise<boolean> {
  const statement = 'SELECT file FROM schema_versions WHERE name = ? AND version = ?'
  const [row] = await client.read(statement, ['millrace', EARLIER_DOCUMENTS.version])
  return row !== undefined
}
