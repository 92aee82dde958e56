import { ROW_FIELD_NAMES, type RowField } from './row-field.ts'

/** The column of each field, in files of one vendor. */
export interface Mapping {
  /** The vendor's table, or the mapping file. */
  readonly name: string
  readonly columns: { readonly [Field in RowField]?: string }
  /** Whether every column must be in a file. Otherwise only what a trade needs must be, and the others may be left out. */
  readonly isStrict: boolean
}

/** A column of a file that fills a field. */
export interface SelectedColumn {
  readonly field: RowField
  /** As the file spells it. */
  readonly column: string
}

/** Returns the fields of a mapping. */
export const fieldsOf = ({ columns }: Mapping): ReadonlySet<RowField> =>
  new Set(ROW_FIELD_NAMES.filter((field) => columns[field] !== undefined))

/**
 * Returns the form in which column names are compared. Vendors change the case, and join the names of nested objects by
 * `.` or `_`.
 */
const comparable = (column: string): string => column.trim().toLowerCase().replaceAll('.', '_')

/** Finds the columns of a mapping in a file, and names those that the file lacks. */
export function selectColumns(
  { columns }: Mapping,
  inFile: readonly string[]
): { readonly selected: readonly SelectedColumn[]; readonly missing: readonly string[] } {
  const found = new Map<string, string>()
  for (const column of inFile.toReversed()) found.set(comparable(column), column)
  // An exact name wins over one of another case.
  const exact = new Set(inFile)
  const selected: SelectedColumn[] = []
  const missing: string[] = []
  for (const field of ROW_FIELD_NAMES) {
    const wanted = columns[field]
    if (wanted === undefined) continue
    const column = exact.has(wanted) ? wanted : found.get(comparable(wanted))
    if (column === undefined) missing.push(wanted)
    else selected.push({ field, column })
  }
  return { selected, missing }
}
