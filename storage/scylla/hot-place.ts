import type { DocumentHeader } from '../document-store.ts'
import { blob } from './client.ts'
import { shareOf, type DocumentLayout } from './divided-kinds.ts'

/** The statements of one of the two tables of hot values. */
interface HotStatements {
  readonly put: string
  readonly fence: string
  readonly select: string
  readonly delete: string
  readonly deleteOlder: string
}

/** The rows of a document's hot values, and the statements of their table. */
export interface HotPlace {
  readonly statements: HotStatements
  readonly key: readonly unknown[]
  /** Names the partition. */
  readonly partition: string
}

function statementsOf(table: string, partition: readonly string[]): HotStatements {
  const columns = [...partition, 'key', 'born']
  const where = columns.map((column) => `${column} = ?`).join(' AND ')
  const places = columns.map(() => '?').join(', ')
  const remove = `DELETE FROM ${table} WHERE ${where}`
  return {
    put: `UPDATE ${table} USING TTL ? AND TIMESTAMP ? SET value = ? WHERE ${where} AND fence = ?`,
    fence: `INSERT INTO ${table} (${columns.join(', ')}, fence) VALUES (${places}, ?) USING TTL ? AND TIMESTAMP ?`,
    // All rows of a document: they are deleted once a greater token has a value.
    select: `SELECT fence, value FROM ${table} WHERE ${where}`,
    delete: remove,
    deleteOlder: `${remove} AND fence < ?`
  }
}

const WHOLE = statementsOf('document_hot', ['kind', 'part'])
/** The statements of kinds that are divided. */
const SHARED = statementsOf('document_hot_shares', ['kind', 'part', 'share'])

/** The statements of both tables. */
export const HOT_STATEMENTS: readonly HotStatements[] = [WHOLE, SHARED]

/** Returns where the values of a document are. */
export function hotPlaceOf(document: DocumentHeader, { divided }: DocumentLayout): HotPlace {
  const { address, born } = document
  const { kind, partition, key } = address
  const division = divided[kind]
  if (division === undefined) return wholeHotPlace(document)
  const share = shareOf(division, key)
  return {
    statements: SHARED,
    key: [kind, partition, share, blob(key), born],
    partition: JSON.stringify([kind, partition, share])
  }
}

/** Returns where an earlier version has the values of a kind that is divided now; null for other kinds and keyspaces. */
export function earlierHotPlaceOf(
  document: DocumentHeader,
  { divided, hasEarlier }: DocumentLayout
): HotPlace | null {
  return hasEarlier && divided[document.address.kind] !== undefined ? wholeHotPlace(document) : null
}

function wholeHotPlace({ address, born }: DocumentHeader): HotPlace {
  const { kind, partition, key } = address
  return {
    statements: WHOLE,
    key: [kind, partition, blob(key), born],
    partition: JSON.stringify([kind, partition])
  }
}
