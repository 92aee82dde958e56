import {
  parquetMetadataAsync,
  parquetRead,
  type AsyncBuffer,
  type FileMetaData,
  type RowGroup,
  type SchemaElement
} from 'hyparquet'
import type { SelectedColumn } from './mapping.ts'
import { isDecimal, parquetText } from './parquet-cell.ts'
import { PARQUET_CODECS } from './parquet-codec.ts'
import { cellsOf, ROWS_TOGETHER, type ChooseColumns, type RowItem } from './row-item.ts'
import { RefusedFile } from './row-refusal.ts'

/** The first and last four bytes of a Parquet file, and of an encrypted one. */
const MAGIC = 'PAR1'
const ENCRYPTED_MAGIC = 'PARE'
/** Magic, length of the metadata, magic. */
const FILE_BYTES_MIN = 12
/**
 * Maximum uncompressed bytes of the columns that are read from a row group, which are in memory at once. Writers make row
 * groups of up to 1,048,576 rows; the columns of a trade take 400 bytes each.
 */
const ROW_GROUP_BYTES_MAX = 1024 * 1024 * 1024

/**
 * Reads the rows of a Parquet file, one row group at a time, and yields some at a time. A row group that cannot be read is named
 * and skipped.
 */
export async function* readParquetRows(
  file: AsyncBuffer,
  choose: ChooseColumns
): AsyncGenerator<readonly RowItem[]> {
  const metadata = await metadataOf(file)
  const elements = new Map(leavesOf(metadata).map((element) => [element.name, { ...element }]))
  for (const element of metadata.schema) if (isDecimal(element)) delete element.converted_type
  const selected = choose([...elements.keys()])
  const columns = [...new Set(selected.map(({ column }) => column))]
  let start = 0
  for (const [rowGroup, group] of metadata.row_groups.entries()) {
    const end = start + Number(group.num_rows)
    const values = await groupValues(file, metadata, group, columns, start, end).catch(
      (error: unknown) => error as Error
    )
    if (values instanceof Error) {
      const reason = values instanceof RefusedFile ? values.reason : 'unreadable-row-group'
      yield [{ kind: 'broken', line: null, rowGroup, reason, detail: values.message }]
    } else yield* rowsOf({ values, elements, selected, rowGroup, start, end })
    start = end
  }
}

async function metadataOf(file: AsyncBuffer): Promise<FileMetaData> {
  if (file.byteLength < FILE_BYTES_MIN)
    throw new RefusedFile('not-parquet', `a Parquet file has at least ${FILE_BYTES_MIN} bytes`)
  const textAt = async (start: number): Promise<string> =>
    Buffer.from(await file.slice(start, start + 4)).toString('latin1')
  const [head, tail] = [await textAt(0), await textAt(file.byteLength - 4)]
  if (head === ENCRYPTED_MAGIC || tail === ENCRYPTED_MAGIC)
    throw new RefusedFile('not-parquet', 'the file is encrypted')
  if (head !== MAGIC) throw new RefusedFile('not-parquet', `the file does not begin with ${MAGIC}`)
  if (tail !== MAGIC)
    throw new RefusedFile('truncated-file', `the file does not end with ${MAGIC}, so it is not complete`)
  try {
    return await parquetMetadataAsync(file, { geoparquet: false })
  } catch (error) {
    throw new RefusedFile('not-parquet', `its metadata cannot be read (${(error as Error).message})`)
  }
}

/** Returns the columns at the top level; those of nested columns are not read. */
function leavesOf({ schema }: FileMetaData): readonly SchemaElement[] {
  const leaves: SchemaElement[] = []
  const skipped = (at: number): number => {
    let next = at + 1
    for (let child = 0; child < (schema[at]?.num_children ?? 0); child++) next = skipped(next)
    return next
  }
  for (let at = 1; at < schema.length; at = skipped(at)) {
    const element = schema[at]!
    if ((element.num_children ?? 0) === 0 && element.repetition_type !== 'REPEATED') leaves.push(element)
  }
  return leaves
}

/** Reads the values of the columns in a row group. */
async function groupValues(
  file: AsyncBuffer,
  metadata: FileMetaData,
  group: RowGroup,
  columns: readonly string[],
  rowStart: number,
  rowEnd: number
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const size = group.columns
    .filter(({ meta_data }) => columns.includes(meta_data?.path_in_schema[0] ?? ''))
    .reduce((sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size ?? 0), 0)
  if (size > ROW_GROUP_BYTES_MAX)
    throw new RefusedFile(
      'large-row-group',
      `the columns of a trade have ${size} bytes; the limit is ${ROW_GROUP_BYTES_MAX}: write smaller row groups`
    )
  const values = new Map<string, unknown[]>(columns.map((column) => [column, []]))
  await parquetRead({
    file,
    metadata,
    columns: [...columns],
    rowStart,
    rowEnd,
    compressors: PARQUET_CODECS,
    utf8: false,
    geoparquet: false,
    onChunk: ({ columnName, columnData }) => {
      const column = values.get(columnName)
      if (column !== undefined) for (const value of columnData) column.push(value)
    }
  })
  for (const [column, { length }] of values)
    if (length < rowEnd - rowStart) throw new Error(`column ${column} ends after ${length} rows`)
  return values
}

interface GroupRows {
  readonly values: ReadonlyMap<string, readonly unknown[]>
  readonly elements: ReadonlyMap<string, SchemaElement>
  readonly selected: readonly SelectedColumn[]
  readonly rowGroup: number
  readonly start: number
  readonly end: number
}

function* rowsOf({
  values,
  elements,
  selected,
  rowGroup,
  start,
  end
}: GroupRows): Generator<readonly RowItem[]> {
  const columns = selected.map(({ column }) => ({
    values: values.get(column),
    element: elements.get(column)!
  }))
  for (let from = start; from < end; from += ROWS_TOGETHER) {
    const length = Math.min(ROWS_TOGETHER, end - from)
    yield Array.from({ length }, (_, at): RowItem => {
      const cells = cellsOf(selected, (_column, index) => {
        const { values: ofColumn, element } = columns[index]!
        return parquetText(ofColumn?.[from - start + at], element)
      })
      return { kind: 'row', line: from + at + 1, rowGroup, cells }
    })
  }
}
