import { compressionOfEnding, openBytes, type Compression } from '../../recorded/files.ts'
import { readLines } from '../../recorded/lines.ts'
import { readRecordText } from '../../recorded/loader.ts'
import { firstBytes, type RowFormat } from './row-file.ts'

/**
 * The content of a file: trade rows, recorded blocks or transactions, or neither. `unclear`: a file for rows or blocks that is
 * empty, or whose first lines cannot be read.
 */
export type FileContent =
  | { readonly kind: 'rows' | 'unclear'; readonly format: RowFormat; readonly compression: Compression }
  | { readonly kind: 'blocks' }
  | { readonly kind: 'other' }

const NAME = /\.(ndjson|jsonl|csv|parquet|json)(?:\.(gz|zst))?$/
const MAGIC_BYTES = 4
/** Lines that are examined. Arbitrary: one that can be read is enough. */
const LINES_EXAMINED = 100
/** A block takes up to 15 MB; the text of a longer line is not examined. */
const EXAMINED_BYTES_MAX = 64 * 1024 * 1024

/**
 * Tells what a file holds, by the ending of its name. NDJSON may hold either, and files with another ending too, so these
 * are examined; the latter only with `isNamed`, that is, if the operator named the file itself.
 */
export async function contentOf(path: string, isNamed: boolean): Promise<FileContent> {
  const [, ending, packed] = NAME.exec(path) ?? []
  const compression = compressionOfEnding(packed)
  switch (ending) {
    case 'json':
      return { kind: 'blocks' }
    case 'csv':
    case 'parquet':
      return { kind: 'rows', format: ending, compression }
    case 'jsonl':
      return { kind: 'rows', format: 'ndjson', compression }
    case 'ndjson':
      return linesContent(path, compression)
    default:
      return isNamed ? examined(path) : { kind: 'other' }
  }
}

/** Examines a file whose name says nothing. */
async function examined(path: string): Promise<FileContent> {
  const magic = await firstBytes(path, MAGIC_BYTES)
  const compression = compressionOf(magic)
  if (magic.toString('latin1') === 'PAR1') return { kind: 'rows', format: 'parquet', compression: null }
  for await (const { text } of readLines(openBytes(path, compression), EXAMINED_BYTES_MAX)) {
    if (text === null) return { kind: 'other' }
    if (text.startsWith('PAR1')) return { kind: 'rows', format: 'parquet', compression }
    if (text.trimStart().startsWith('{')) return linesContent(path, compression)
    return text.includes(',') ? { kind: 'rows', format: 'csv', compression } : { kind: 'other' }
  }
  return { kind: 'other' }
}

function compressionOf(magic: Buffer): Compression {
  if (magic[0] === 0x1f && magic[1] === 0x8b) return 'gzip'
  return magic.toString('hex') === '28b52ffd' ? 'zstd' : null
}

async function linesContent(path: string, compression: Compression): Promise<FileContent> {
  let examinedLines = 0
  try {
    for await (const { text } of readLines(openBytes(path, compression), EXAMINED_BYTES_MAX)) {
      const kind = text === null ? 'not-json' : readRecordText(text.replace(/^\uFEFF/, ''), path).kind
      if (kind === 'other') return { kind: 'rows', format: 'ndjson', compression }
      if (kind !== 'not-json') return { kind: 'blocks' }
      if (++examinedLines >= LINES_EXAMINED) break
    }
  } catch {
    // The reader of the file names the fault.
  }
  return { kind: 'unclear', format: 'ndjson', compression }
}
