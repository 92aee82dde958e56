import { parse } from 'csv-parse/sync'
import { CsvRecords, type CsvRecordText } from './csv-record.ts'
import type { SelectedColumn } from './mapping.ts'
import {
  cellsOf,
  ROW_BYTES_MAX,
  ROWS_TOGETHER,
  withoutMark,
  type ChooseColumns,
  type RowItem
} from './row-item.ts'
import { RefusedFile } from './row-refusal.ts'

/** Records parsed at once: a call of the parser takes 7 µs, and a record 4 µs. */
const RECORDS_PER_PARSE = ROWS_TOGETHER
/** Separators that are recognized in a header, to name them in the refusal. */
const OTHER_SEPARATORS = { ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' }

/** Reads the rows of a CSV file with a header and commas (RFC 4180), some at a time. Holds at most 100 rows. */
export async function* readCsvRows(
  bytes: AsyncIterable<Buffer>,
  choose: ChooseColumns
): AsyncGenerator<readonly RowItem[]> {
  const records = new CsvRecords(bytes)
  try {
    const header = await records.next()
    if (header === null) return
    const columns = headerOf(header)
    const selected = choose(columns)
    const positions = selected.map(({ column }) => columns.indexOf(column))
    const form = { records, selected, positions, width: columns.length }
    const faults: Error[] = []
    for (let isMore = true; isMore;) {
      const batch: CsvRecordText[] = []
      while (isMore && batch.length < RECORDS_PER_PARSE) {
        const record =
          records.taken() ??
          (await records.next().catch((error: Error) => {
            faults.push(error)
            return null
          }))
        if (record === null) isMore = false
        // Lines of a faulty record are read again, so a longer one is parsed at once.
        else if (record.text === null || record.lines.length > 1) {
          yield itemsOf(batch.splice(0), form)
          yield itemsOf([record], form)
        } else batch.push(record)
      }
      yield itemsOf(batch, form)
    }
    const [fault] = faults
    if (fault !== undefined) throw fault
  } finally {
    await records.close()
  }
}

interface CsvForm {
  readonly records: CsvRecords
  readonly selected: readonly SelectedColumn[]
  /** Positions of the selected columns in a record. */
  readonly positions: readonly number[]
  /** Cells of a record. */
  readonly width: number
}

function headerOf({ text, line }: CsvRecordText): readonly string[] {
  if (text === null) throw new RefusedFile('long-line', `the header has more than ${ROW_BYTES_MAX} bytes`)
  const columns = parseRecords(withoutMark(text))
  if (typeof columns === 'string')
    throw new RefusedFile('broken-row', `the header in line ${line}: ${columns}`)
  const [only = '', ...others] = columns[0] ?? []
  const separator =
    others.length > 0 ? undefined : Object.entries(OTHER_SEPARATORS).find(([mark]) => only.includes(mark))
  if (separator !== undefined)
    throw new RefusedFile('wrong-separator', `columns are separated by ${separator[1]}; only commas are read`)
  return columns[0] ?? []
}

function itemsOf(batch: readonly CsvRecordText[], form: CsvForm): RowItem[] {
  if (batch.length === 0) return []
  const texts = batch.map(({ text }) => text)
  const parsed = texts.includes(null) ? 'long' : parseRecords(texts.join('\n'))
  return typeof parsed === 'string' || parsed.length !== batch.length
    ? batch.map((record) => singleItem(record, form))
    : parsed.map((cells, at) => itemOf(batch[at]!, cells, form))
}

function singleItem(record: CsvRecordText, form: CsvForm): RowItem {
  const { line, text } = record
  if (text === null) return broken(line, 'long-line', `the line has more than ${ROW_BYTES_MAX} bytes`)
  const parsed = parseRecords(text)
  if (typeof parsed !== 'string') return itemOf(record, parsed[0] ?? [], form)
  form.records.readAgain(record.lines.slice(1))
  return broken(line, 'broken-row', parsed)
}

function itemOf(
  record: CsvRecordText,
  values: readonly string[],
  { records, selected, positions, width }: CsvForm
): RowItem {
  const { line } = record
  if (values.length !== width) {
    records.readAgain(record.lines.slice(1))
    return broken(line, 'broken-row', `the row has ${values.length} cells, and the header ${width}`)
  }
  const cells = cellsOf(selected, (_, at) => values[positions[at]!] ?? null)
  return { kind: 'row', line, rowGroup: null, cells }
}

const broken = (line: number, reason: 'broken-row' | 'long-line', detail: string): RowItem => ({
  kind: 'broken',
  line,
  rowGroup: null,
  reason,
  detail
})

/** Parses records; returns the fault in words if they are not CSV. */
function parseRecords(text: string): string[][] | string {
  try {
    return parse(text, { relax_column_count: true, record_delimiter: '\n' })
  } catch (error) {
    return (error as Error).message.replace(/ at line \d+.*$/, '')
  }
}
