import { BEFORE_TRANSACTIONS } from '../ledger-entry.ts'
import type { LedgerPlace } from '../ledger-reader.ts'
import {
  foreignCursor,
  readForeignWords,
  readWordsCursor,
  writeWordsCursor
} from '../../kernel/http/page-cursor.ts'

/** Encodes the place of a row in the ledger of a tenant. The cursor is valid with every order and filter. */
export function writeLedgerCursor(tenant: string, { slot, txIndex, index, address }: LedgerPlace): string {
  return writeWordsCursor(listOf(tenant), [String(slot), String(txIndex), String(index), address])
}

/** Returns the place that a cursor of a tenant's ledger names. Throws CURSOR_INVALID. */
export function readLedgerCursor(tenant: string, text: string): LedgerPlace {
  const place = placeOf(readWordsCursor(listOf(tenant), text))
  if (place === null) throw foreignCursor()
  return place
}

/** Returns the place that a cursor of any tenant's ledger names, such as that of an exported row; null if it names none. */
export function placeOfCursor(text: string): LedgerPlace | null {
  const words = readForeignWords(text)
  return words === null ? null : placeOf(words)
}

function placeOf(words: readonly string[]): LedgerPlace | null {
  const [slot, txIndex, index] = words.slice(0, 3).map(Number)
  const address = words[3]
  const isPlace = words.length === 4 && isCount(slot) && isPlaceInBlock(txIndex) && isCount(index)
  if (!isPlace || address === undefined) return null
  return { slot, txIndex, index, address }
}

const listOf = (tenant: string): string => `revenue:${tenant}`

const isPlaceInBlock = (value: number | undefined): value is number =>
  value === BEFORE_TRANSACTIONS || isCount(value)

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0
