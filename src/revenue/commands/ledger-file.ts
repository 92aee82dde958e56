import { parse } from 'csv-parse/sync'
import { CsvRecords } from '../../archive/rows/csv-record.ts'
import { ROW_BYTES_MAX, withoutMark } from '../../archive/rows/row-item.ts'
import { compressionOfEnding, openBytes } from '../../recorded/files.ts'
import { readLines } from '../../recorded/lines.ts'

/** A row of a ledger file, or why it cannot be read. */
export interface FileRow {
  readonly line: number
  readonly row: Readonly<Record<string, unknown>> | null
  readonly fault: string | null
}

const NAME = /\.(ndjson|jsonl|csv)(?:\.(gz|zst))?$/
/** Columns of numbers; all other columns are text, so that amounts above 2^53 stay exact. */
const NUMBERS: ReadonlySet<string> = new Set([
  'slot',
  'tx_index',
  'index',
  'decimals',
  'fee_lamports',
  'ix_index',
  'ts_ms',
  'value_usd',
  'attributed_fee_usd'
])
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/

/** Tells whether a file has rows of a ledger, by its name. */
export const isLedgerFile = (path: string): boolean => NAME.test(path)

/**
 * Reads the rows of an export of the ledger: one JSON object a line, or CSV with a header and commas. Holds one row in
 * memory. Rejects with the fault of the file.
 */
export async function* readLedgerFile(path: string): AsyncGenerator<FileRow> {
  const [, kind, ending] = NAME.exec(path) ?? []
  const bytes = openBytes(path, compressionOfEnding(ending))
  yield* kind === 'csv' ? readCsv(bytes) : readJsonLines(bytes)
}

async function* readJsonLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  for await (const { number: line, text } of readLines(bytes, ROW_BYTES_MAX)) {
    if (text === null) yield { line, row: null, fault: `the line has more than ${ROW_BYTES_MAX} bytes` }
    else yield { line, ...parsedLine(line === 1 ? withoutMark(text) : text) }
  }
}

function parsedLine(text: string): Pick<FileRow, 'row' | 'fault'> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { row: value as Record<string, unknown>, fault: null }
      : { row: null, fault: 'the line is not a JSON object' }
  } catch {
    return { row: null, fault: 'the line is not JSON' }
  }
}

async function* readCsv(bytes: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  const records = new CsvRecords(bytes)
  try {
    const header = await records.next()
    if (header === null) return
    const columns = cellsOf(withoutMark(header.text ?? ''))
    if (columns === null || !columns.includes('post_raw'))
      throw new Error('the header has no column post_raw; it is not CSV of the ledger, separated by commas')
    for (;;) {
      const record = await records.next()
      if (record === null) return
      const cells = record.text === null ? null : cellsOf(record.text)
      if (cells === null) yield { line: record.line, row: null, fault: 'the record is not CSV' }
      else if (cells.length !== columns.length) {
        const fault = `the record has ${cells.length} cells, and the header ${columns.length}`
        yield { line: record.line, row: null, fault }
      } else {
        const row = Object.fromEntries(columns.map((column, at) => [column, valueOf(column, cells[at]!)]))
        yield { line: record.line, row, fault: null }
      }
    }
  } finally {
    await records.close()
  }
}

function cellsOf(text: string): readonly string[] | null {
  try {
    return parse(text, { relax_column_count: true, record_delimiter: '\n' })[0] ?? []
  } catch {
    return null
  }
}

function valueOf(column: string, cell: string): unknown {
  if (cell === '') return null
  if (cell === 'true' || cell === 'false') return cell === 'true'
  return NUMBERS.has(column) && NUMBER.test(cell) ? Number(cell) : cell
}
