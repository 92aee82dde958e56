import { selectColumns, type Mapping, type SelectedColumn } from './mapping.ts'
import { lackingFields } from './row-field.ts'
import { RefusedFile } from './row-refusal.ts'

/** The mapping of a file, and the columns to read. */
export interface ColumnChoice {
  readonly mapping: Mapping
  readonly selected: readonly SelectedColumn[]
}

/** Columns named in a refusal; further ones are counted. */
const NAMED_COLUMNS = 20

/**
 * Chooses the first mapping that fits the columns of a file. Throws RefusedFile if none fits, and if a column of a strict
 * mapping is missing. With `hasVenue`, the operator names the venue.
 */
export function chooseColumns(
  mappings: readonly Mapping[],
  inFile: readonly string[],
  hasVenue: boolean
): ColumnChoice {
  for (const mapping of mappings) {
    const { selected, missing } = selectColumns(mapping, inFile)
    if (mapping.isStrict && missing.length > 0)
      throw new RefusedFile('missing-column', `no column ${missing.join(', ')}; ${columnsText(inFile)}`)
    if (lackingFields(new Set(selected.map(({ field }) => field)), hasVenue).length === 0)
      return { mapping, selected }
  }
  const closest = mappings
    .map((mapping) => ({ mapping, ...selectColumns(mapping, inFile) }))
    .reduce((best, each) => (each.selected.length > best.selected.length ? each : best))
  const lacking = lackingFields(new Set(closest.selected.map(({ field }) => field)), hasVenue)
  throw new RefusedFile(
    'no-mapping',
    closest.selected.length === 0
      ? `no built-in mapping fits; name one with --map; ${columnsText(inFile)}`
      : `${closest.mapping.name} fits best, but there is nothing for ${lacking.join('; ')}` +
          ` (missing columns: ${closest.missing.join(', ')}); ${columnsText(inFile)}`
  )
}

function columnsText(columns: readonly string[]): string {
  const more = columns.length > NAMED_COLUMNS ? ` and ${columns.length - NAMED_COLUMNS} more` : ''
  return `the columns are ${columns.slice(0, NAMED_COLUMNS).join(', ')}${more}`
}
