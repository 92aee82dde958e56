import { open, rename, stat, type FileHandle } from 'node:fs/promises'
import { BadUsage, type Row } from '../../kernel/cli/command.ts'
import { CSV_LINE_END, csvLine } from '../../kernel/http/list/csv.ts'
import type { ExportedRow, FileColumns } from './exported-rows.ts'
import { ParquetRows } from './parquet-rows.ts'

export const FILE_FORMATS = ['csv', 'ndjson', 'parquet'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

/** Characters of text that are written at once. */
const TEXT_MAX = 256 * 1024

/** A file that is being written as FILE.part. */
export interface ExportFile {
  /** The file with the rows so far. */
  readonly path: string
  readonly rows: number
  add(row: ExportedRow): Promise<void>
  /** Ends the file, and gives it its name. */
  finish(): Promise<void>
  /** Ends the file under the name FILE.part. */
  stop(): Promise<void>
}

/** Rows in one format. */
interface RowSink {
  add(row: ExportedRow): Promise<void>
  end(): Promise<void>
}

/** Throws BadUsage if a file exists. */
export async function refuseExisting(path: string): Promise<void> {
  if ((await stat(path).catch(() => null)) !== null)
    throw new BadUsage(`${path} exists; name another file, or remove it`)
}

/** Opens FILE.part, in place of an earlier one. Throws BadUsage if it cannot be written. */
export async function openExportFile(
  path: string,
  format: FileFormat,
  columns: FileColumns
): Promise<ExportFile> {
  const part = `${path}.part`
  const handle = await open(part, 'w').catch((error: Error) => {
    throw new BadUsage(`${part} cannot be written: ${error.message}`)
  })
  const sink = format === 'parquet' ? new ParquetRows(handle, columns) : new TextRows(handle, format, columns)
  let rows = 0
  const end = async (): Promise<void> => {
    try {
      await sink.end()
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  return {
    path: part,
    get rows() {
      return rows
    },
    async add(row) {
      await sink.add(row)
      rows++
    },
    async finish() {
      await end()
      await rename(part, path)
    },
    stop: end
  }
}

/** Rows as lines. */
class TextRows implements RowSink {
  readonly #handle: FileHandle
  readonly #columns: readonly string[] | null
  #text: string

  constructor(handle: FileHandle, format: 'csv' | 'ndjson', { columns }: FileColumns) {
    this.#handle = handle
    this.#columns = format === 'csv' ? columns : null
    this.#text = format === 'csv' ? columns.join(',') + CSV_LINE_END : ''
  }

  async add({ line, body }: ExportedRow): Promise<void> {
    this.#text +=
      this.#columns === null ? `${line}\n` : csvLine(body satisfies Row, this.#columns) + CSV_LINE_END
    if (this.#text.length >= TEXT_MAX) await this.end()
  }

  async end(): Promise<void> {
    const text = this.#text
    this.#text = ''
    await this.#handle.appendFile(text)
  }
}
