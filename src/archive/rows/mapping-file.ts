import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { fieldsOf, type Mapping } from './mapping.ts'
import { lackingFields, ROW_FIELD_NAMES, type RowField } from './row-field.ts'

const COLUMNS = z.record(z.string().min(1), z.enum(ROW_FIELD_NAMES))

/** A mapping, or why its file cannot be used, in words for the operator. */
export type MappingReading =
  | { readonly kind: 'mapping'; readonly mapping: Mapping }
  | { readonly kind: 'refused'; readonly detail: string }

/** Parses a mapping file: a JSON object with the field of each column. With `hasVenue`, the operator names the venue. */
export function readMapping(text: string, name: string, hasVenue: boolean): MappingReading {
  const refused = (detail: string): MappingReading => ({ kind: 'refused', detail: `${name}: ${detail}` })
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    return refused(`is not JSON (${(error as Error).message})`)
  }
  const parsed = COLUMNS.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const column = issue?.path[0]
    return refused(
      column === undefined
        ? 'is not an object of the form {"column": "field"}'
        : `column ${JSON.stringify(column)} names no field; the fields are ${ROW_FIELD_NAMES.join(', ')}`
    )
  }
  const columns: { [Field in RowField]?: string } = {}
  for (const [column, field] of Object.entries(parsed.data)) {
    if (columns[field] !== undefined)
      return refused(`field ${field} has two columns, ${columns[field]} and ${column}`)
    columns[field] = column
  }
  const mapping: Mapping = { name, columns, isStrict: true }
  const lacking = lackingFields(fieldsOf(mapping), hasVenue)
  return lacking.length === 0
    ? { kind: 'mapping', mapping }
    : refused(`no column for ${lacking.join('; ')}${hasVenue ? '' : '; --venue can replace the venue'}`)
}

/** Reads a mapping file. */
export async function readMappingFile(path: string, hasVenue: boolean): Promise<MappingReading> {
  try {
    return readMapping(await readFile(path, 'utf8'), path, hasVenue)
  } catch (error) {
    return { kind: 'refused', detail: `${path} cannot be read (${(error as Error).message})` }
  }
}
