import type { SelectedColumn } from './mapping.ts'
import type { RowCells, RowField } from './row-field.ts'
import type { RefusalReason, RowPlace } from './row-refusal.ts'

/** A row of a file, or why a part of the file cannot be read. */
export type RowItem =
  | ({ readonly kind: 'row'; readonly cells: RowCells } & ItemPlace)
  | ({ readonly kind: 'broken'; readonly reason: RefusalReason; readonly detail: string } & ItemPlace)

/** Rows that are handed over together: a turn of the event loop for each row takes as long as parsing it. */
export const ROWS_TOGETHER = 100

/** A place within the file that is read. */
export type ItemPlace = Omit<RowPlace, 'file'>

/** Chooses the columns to read, given all columns of the file. Throws RefusedFile if they do not fit. */
export type ChooseColumns = (columns: readonly string[]) => readonly SelectedColumn[]

/** Maximum bytes of a row: vendors write up to 5 KB, and a quote that is never closed must not fill the memory. */
export const ROW_BYTES_MAX = 1024 * 1024

/** Spellings of an absent value in CSV files; every format may have empty text. */
const ABSENT = new Set(['', 'null', 'NULL', '\\N', '<nil>'])
const ABSENT_LENGTH_MAX = 5

/** Returns a row's cells by field. `cellOf` gives the text of a column, or null. */
export function cellsOf(
  selected: readonly SelectedColumn[],
  cellOf: (column: SelectedColumn, at: number) => string | null
): RowCells {
  const cells: { [Field in RowField]?: string | null } = {}
  for (let at = 0; at < selected.length; at++) {
    const column = selected[at]!
    const text = cellOf(column, at)?.trim() ?? ''
    cells[column.field] = isAbsent(text) ? null : text
  }
  return cells
}

/** The longest spelling has five characters, and nearly all cells have more or are digits. */
const isAbsent = (text: string): boolean => text.length <= ABSENT_LENGTH_MAX && ABSENT.has(text)

/** Removes a byte order mark. */
export const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)
