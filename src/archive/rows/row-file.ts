import { open } from 'node:fs/promises'
import { asyncBufferFromFile, type AsyncBuffer } from 'hyparquet'
import { collectedBytes } from '../../kernel/collected-bytes.ts'
import { openBytes, type Compression, type ReadBytes } from '../../recorded/files.ts'
import { readCsvRows } from './csv-rows.ts'
import { readNdjsonRows } from './ndjson-rows.ts'
import { readParquetRows } from './parquet-rows.ts'
import type { ChooseColumns, RowItem } from './row-item.ts'
import { RefusedFile } from './row-refusal.ts'

export type RowFormat = 'ndjson' | 'csv' | 'parquet'

/** A file with trade rows. */
export interface RowFile {
  readonly path: string
  /** The file as messages name it. */
  readonly name: string
  readonly format: RowFormat
  readonly compression: Compression
}

/**
 * Maximum decompressed bytes of a Parquet file that is compressed as a whole. It is decompressed into memory, because its
 * metadata is at the end. Parquet compresses by itself, so such files are rare.
 */
const WHOLE_BYTES_MAX = 256 * 1024 * 1024

/**
 * Reads the rows of a file in their order, some at a time. Rejects with RefusedFile if the file cannot be read to its end; the rows before
 * are yielded.
 */
export async function* readRowFile(
  file: RowFile,
  choose: ChooseColumns,
  onOpen?: (file: ReadBytes) => void
): AsyncGenerator<readonly RowItem[]> {
  try {
    if (file.format === 'parquet') yield* readParquetRows(await parquetBytes(file), choose)
    else {
      const bytes = openBytes(file.path, file.compression, null, onOpen)
      yield* file.format === 'csv' ? readCsvRows(bytes, choose) : readNdjsonRows(bytes, choose)
    }
  } catch (error) {
    throw refusedFile(error as Error & { readonly code?: string }, file)
  }
}

function refusedFile(error: Error & { readonly code?: string }, { compression }: RowFile): Error {
  const { code } = error
  if (error instanceof RefusedFile || code === undefined) return error
  return code === 'Z_BUF_ERROR'
    ? new RefusedFile('truncated-file', `the ${compression} data ends too early; the rows before are read`)
    : new RefusedFile(
        'unreadable-file',
        compression === null ? error.message : `the ${compression} data cannot be read (${error.message})`
      )
}

async function parquetBytes({ path, compression }: RowFile): Promise<AsyncBuffer> {
  if (compression === null) return asyncBufferFromFile(path)
  const whole = await collectedBytes(openBytes(path, compression), WHOLE_BYTES_MAX)
  if (whole === null)
    throw new RefusedFile(
      'unreadable-file',
      `the file has more than ${WHOLE_BYTES_MAX} bytes decompressed; decompress it first`
    )
  // A copy, because a small buffer shares its memory with others.
  const bytes = new Uint8Array(whole).buffer
  return { byteLength: whole.length, slice: (start, end) => bytes.slice(start, end) }
}

/** Returns the first bytes of a file. */
export async function firstBytes(path: string, length: number): Promise<Buffer> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
