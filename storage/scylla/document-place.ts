import type { DocumentAddress } from '../document-store.ts'
import { shareOf, type Division } from './divided-kinds.ts'

/** The statements that change the documents of one table. */
interface DocumentStatements {
  readonly select: string
  readonly put: string
  readonly delete: string
  readonly putEntry: string
  readonly takeEntry: string
  readonly deleteEntry: string
}

/** The partition of a document, and the statements of its table. */
export interface DocumentPlace {
  readonly statements: DocumentStatements
  /** Values of the partition key. */
  readonly partition: readonly unknown[]
  /** Whether its entries are rows of the partition, and change together with it. */
  readonly hasEntries: boolean
  /** Changes of one queue run one after another. */
  readonly queue: string
}

/** One partition for a logical partition. */
export function wholePlace({ kind, partition }: Pick<DocumentAddress, 'kind' | 'partition'>): DocumentPlace {
  return {
    statements: WHOLE,
    partition: [kind, partition],
    hasEntries: true,
    queue: JSON.stringify([kind, partition])
  }
}

/** The share of a key, of a kind that is divided. */
export function sharedPlace({ kind, partition, key }: DocumentAddress, division: Division): DocumentPlace {
  const share = shareOf(division, key)
  return {
    statements: SHARED,
    partition: [kind, partition, share],
    hasEntries: false,
    queue: JSON.stringify([kind, partition, share])
  }
}

function statementsOf(table: string, partition: readonly string[], hasEntries: boolean): DocumentStatements {
  const where = [...partition, 'row'].map((column) => `${column} = ?`).join(' AND ')
  const putEntry = `UPDATE ${table} USING TTL ? SET owner = ? WHERE ${where}`
  return {
    select: `SELECT row, document${hasEntries ? ', owner' : ''} FROM ${table} WHERE ${where}`,
    put: `UPDATE ${table} USING TTL ? SET version = ?, document = ? WHERE ${where} IF version = ?`,
    delete: `DELETE FROM ${table} WHERE ${where} IF version = ?`,
    putEntry,
    takeEntry: `${putEntry} IF owner = ?`,
    deleteEntry: `DELETE FROM ${table} WHERE ${where}`
  }
}

const WHOLE = statementsOf('documents', ['kind', 'part'], true)
const SHARED = statementsOf('document_shares', ['kind', 'part', 'share'], false)
