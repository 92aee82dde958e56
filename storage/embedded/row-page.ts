import type { Pubkey } from '../../src/chain/pubkey.ts'
import { ByteReader } from '../codec/byte-reader.ts'
import { ByteWriter } from '../codec/byte-writer.ts'
import { KeyTable } from '../codec/key-table.ts'
import { isOpenPageKey } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import type { RowCodec } from '../codec/row-origin.ts'

/** Rows of one list that follow each other, stored as one value. Never empty. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  /**
   * The rows as stored, a character a byte, and the addresses they name; the next row is appended to both. For full pages
   * memory has neither.
   */
  readonly packed: string
  readonly keys: readonly Pubkey[]
  /** The first cursor of the page before this one; null for the first page. */
  readonly older: number | null
  /** Estimated bytes in memory, if the rows are not decoded (`page-end.ts`). */
  readonly weight?: number
}

/** Estimated bytes of a row in memory: decoded alone, and as stored beside it. */
const ROW_WEIGHT = 1_000
const OPEN_ROW_WEIGHT = 1_400
const scratch = new ByteWriter()

/**
 * A page with rows added; the given page and the rows stay as they are. Rows are decoded from their bytes again, because the
 * given ones may hold the buffers of a whole block in memory.
 */
export function extendPage<Row extends Before, Before>(
  codec: RowCodec<Row, Before>,
  known: RowPage<Row> | null,
  rows: readonly Row[],
  older: number | null
): RowPage<Row> {
  const page = known === null || known.packed.length > 0 ? known : packedPage(codec, known)
  const keys = new KeyTable(page?.keys)
  let before: Row | null = page?.rows.at(-1) ?? null
  scratch.clear()
  for (const row of rows) {
    codec.write(scratch, row, before, keys)
    before = row
  }
  const kept = readRows(codec, new ByteReader(scratch.written()), page)
  return {
    rows: page === null ? kept.rows : [...page.rows, ...kept.rows],
    keys: kept.keys,
    packed: (page === null ? '' : page.packed) + scratch.latin1(),
    older
  }
}

/** Returns a closed page as an open one: with its rows as stored, and their addresses. */
export function packedPage<Row extends Before, Before>(
  codec: RowCodec<Row, Before>,
  page: RowPage<Row>
): RowPage<Row> {
  const keys = new KeyTable()
  scratch.clear()
  writeRows(codec, scratch, page.rows, keys)
  return { ...page, packed: scratch.latin1(), keys: keys.keys }
}

function writeRows<Row extends Before, Before>(
  codec: RowCodec<Row, Before>,
  out: ByteWriter,
  rows: readonly Row[],
  keys: KeyTable
): void {
  let before: Row | null = null
  for (const row of rows) {
    codec.write(out, row, before, keys)
    before = row
  }
}

/** The part of a full page that is cached. */
export function closedPage<Row>({ rows, older }: Pick<RowPage<Row>, 'rows' | 'older'>): RowPage<Row> {
  return { rows, packed: '', keys: [], older }
}

export function rowPageKind<Row extends Before, Before>(
  name: string,
  codec: RowCodec<Row, Before>
): RecordKind<RowPage<Row>> {
  return {
    name,
    write(out, page) {
      out.optionalCount(page.older)
      if (page.packed.length > 0) out.fixedLatin1(page.packed)
      // The end of a list (`page-end.ts`) decodes its rows if they are read.
      else writeRows(codec, out, page.rows, new KeyTable())
    },
    read(source, key) {
      const older = source.optionalCount()
      if (!isOpenPageKey(key)) return closedPage({ rows: readRows(codec, source, null).rows, older })
      const packed = source.restLatin1()
      return { ...readRows(codec, source, null), packed, older }
    },
    weigh: (page) =>
      page.weight ?? page.rows.length * (page.packed.length === 0 ? ROW_WEIGHT : OPEN_ROW_WEIGHT)
  }
}

/** Returns the rows of a page's contents without sections that the reader does not use, as bits of the codec. */
export function partialPage<Row extends Before, Before>(
  codec: RowCodec<Row, Before>,
  contents: Uint8Array,
  unused: number
): RowPage<Row> {
  const source = new ByteReader(contents)
  const older = source.optionalCount()
  return closedPage({ rows: readRows(codec, source, null, unused).rows, older })
}

/** Returns the rows of a page's contents with the given cursors, ascending. Rows after the last one are not decoded. */
export function rowsAt<Row extends Before & { readonly cursor: number }, Before>(
  codec: RowCodec<Row, Before>,
  contents: Uint8Array,
  cursors: readonly number[]
): Row[] {
  const source = new ByteReader(contents)
  source.optionalCount()
  const keys = new KeyTable()
  const rows: Row[] = []
  for (let row: Row | null = null, at = 0; at < cursors.length && !source.atEnd;) {
    row = codec.read(source, row, keys)
    while (at < cursors.length && cursors[at]! < row.cursor) at++
    if (row.cursor !== cursors[at]) continue
    rows.push(row)
    at++
  }
  return rows
}

/** Returns the first cursor of a page's contents, and that of the page before it. */
export function pageHead<Row extends Before & { readonly cursor: number }, Before>(
  codec: RowCodec<Row, Before>,
  contents: Uint8Array
): { readonly first: number; readonly older: number | null } {
  const source = new ByteReader(contents)
  const older = source.optionalCount()
  return { first: codec.read(source, null, new KeyTable()).cursor, older }
}

/** The rows to the end of the source, which follow those of a page. */
export function readRows<Row extends Before, Before>(
  codec: RowCodec<Row, Before>,
  source: ByteReader,
  page: RowPage<Row> | null,
  unused = 0
): { rows: Row[]; keys: readonly Pubkey[] } {
  const keys = new KeyTable(page?.keys)
  const rows: Row[] = []
  let before: Row | null = page?.rows.at(-1) ?? null
  while (!source.atEnd) {
    const row = codec.read(source, before, keys, unused)
    rows.push(row)
    before = row
  }
  return { rows, keys: keys.keys }
}
