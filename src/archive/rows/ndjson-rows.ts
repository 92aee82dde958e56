import { readManyLines, type Line } from '../../recorded/lines.ts'
import type { SelectedColumn } from './mapping.ts'
import {
  cellsOf,
  ROW_BYTES_MAX,
  ROWS_TOGETHER,
  withoutMark,
  type ChooseColumns,
  type RowItem
} from './row-item.ts'

/** Rows whose columns are those of the file: exports that omit nulls may omit a column in the first rows. */
const ROWS_OF_COLUMNS = ROWS_TOGETHER
/** Maximum nesting that is flattened. Vendors nest up to 5 levels. */
const DEPTH_MAX = 8

/** Objects that rows of this service have, and that are one column in their other formats. */
const NESTED_FIELDS = new Set(['reserves'])

/** The values of a row by column; nested objects are flattened, with their names joined by `_`. */
type FlatRow = ReadonlyMap<string, string | null>

type ParsedLine =
  | { readonly line: number; readonly row: FlatRow }
  | { readonly line: number; readonly row: null; readonly item: RowItem }

/** Reads the rows of a file with one JSON object a line, some at a time. Holds at most 100 rows. */
export async function* readNdjsonRows(
  bytes: AsyncIterable<Buffer>,
  choose: ChooseColumns
): AsyncGenerator<readonly RowItem[]> {
  const held: ParsedLine[] = []
  let selected: readonly SelectedColumn[] | null = null
  const release = (): RowItem[] => {
    const columns = (selected ??= choose(columnsOf(held)))
    return held.splice(0).map((parsed) => itemOf(parsed, columns))
  }
  // Lines before a fault of the file count.
  let fault: Error | null = null
  try {
    for await (const lines of readManyLines(bytes, ROW_BYTES_MAX))
      for (const line of lines) {
        held.push(parseLine(line))
        if (held.length >= ROWS_OF_COLUMNS) yield release()
      }
  } catch (error) {
    fault = error as Error
  }
  if (held.some(({ row }) => row !== null)) yield release()
  else yield held.flatMap((parsed) => (parsed.row === null ? parsed.item : []))
  if (fault !== null) throw fault
}

function itemOf(parsed: ParsedLine, selected: readonly SelectedColumn[]): RowItem {
  if (parsed.row === null) return parsed.item
  const { line, row } = parsed
  const cells = cellsOf(selected, ({ column }) => row.get(column) ?? null)
  return { kind: 'row', line, rowGroup: null, cells }
}

function columnsOf(parsed: readonly ParsedLine[]): string[] {
  return [...new Set(parsed.flatMap(({ row }) => (row === null ? [] : [...row.keys()])))]
}

function parseLine({ number, text }: Line): ParsedLine {
  const broken = (reason: 'long-line' | 'broken-row', detail: string): ParsedLine => ({
    line: number,
    row: null,
    item: { kind: 'broken', line: number, rowGroup: null, reason, detail }
  })
  if (text === null) return broken('long-line', `the line has more than ${ROW_BYTES_MAX} bytes`)
  try {
    const value = parseExact(number === 1 ? withoutMark(text) : text)
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return broken('broken-row', 'the line is not a JSON object')
    const row = new Map<string, string | null>()
    flatten(value as Record<string, unknown>, '', DEPTH_MAX, row)
    return { line: number, row }
  } catch (error) {
    return broken('broken-row', `the line is not JSON (${(error as Error).message})`)
  }
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** Parses JSON with numbers as their text, because a double holds no amount above 2^53 exactly. */
function parseExact(text: string): unknown {
  const reviver: Reviver = (_, value, { source }) => (typeof value === 'number' ? source : value)
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
}

function flatten(
  object: Record<string, unknown>,
  prefix: string,
  depth: number,
  row: Map<string, string | null>
): void {
  for (const [name, value] of Object.entries(object)) {
    const column = prefix + name
    if (typeof value === 'string') row.set(column, value)
    else if (typeof value === 'boolean') row.set(column, String(value))
    else if (value === null) row.set(column, null)
    else if (Array.isArray(value)) row.set(column, JSON.stringify(value))
    else if (NESTED_FIELDS.has(column)) row.set(column, JSON.stringify(value))
    else if (depth > 1) flatten(value as Record<string, unknown>, `${column}_`, depth - 1, row)
  }
}
