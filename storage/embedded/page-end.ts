import type { Pubkey } from '../../src/chain/pubkey.ts'
import { ByteReader } from '../codec/byte-reader.ts'
import { ByteWriter } from '../codec/byte-writer.ts'
import { KeyTable } from '../codec/key-table.ts'
import { recentAddresses } from '../codec/recent-addresses.ts'
import type { RowCodec } from '../codec/row-origin.ts'
import { packedPage, readRows, type RowPage } from './row-page.ts'

/** Estimated bytes in memory: of the page alone, and of an address. A byte of a row is a byte of its text. */
const PAGE_WEIGHT = 400
const ADDRESS_WEIGHT = 100
const scratch = new ByteWriter()

interface Cursor {
  readonly cursor: number
}

/**
 * A page as bytes, to which rows are appended without decoding those before. It takes a tenth of the memory of a decoded
 * page, so that the lists of many more owners grow without reading them. Its rows are decoded at the first read.
 */
export class PageEnd<Row extends Before, Before> implements RowPage<Row> {
  readonly packed: string
  readonly keys: readonly Pubkey[]
  readonly older: number | null
  /** Number of rows. */
  readonly count: number
  /** Cursor of the first row. */
  readonly first: number
  /** The fields of the last row that the bytes of the next one depend on. */
  readonly last: Before
  readonly #codec: RowCodec<Row, Before>
  #rows: readonly Row[] | null = null

  constructor(
    codec: RowCodec<Row, Before>,
    { packed, keys, older, count, first, last }: Omit<PageEnd<Row, Before>, 'rows' | 'weight'>
  ) {
    this.#codec = codec
    this.packed = packed
    this.keys = keys
    this.older = older
    this.count = count
    this.first = first
    this.last = last
  }

  get rows(): readonly Row[] {
    this.#rows ??= readRows(this.#codec, new ByteReader(Buffer.from(this.packed, 'latin1')), null).rows
    return this.#rows
  }

  /** Estimated bytes in memory. */
  get weight(): number {
    return PAGE_WEIGHT + this.packed.length + ADDRESS_WEIGHT * this.keys.length
  }
}

/** Returns the end of a page that is decoded. */
export function endOf<Row extends Before & Cursor, Before>(
  codec: RowCodec<Row, Before>,
  page: RowPage<Row>
): PageEnd<Row, Before> {
  if (page instanceof PageEnd) return page as PageEnd<Row, Before>
  const { rows, packed, keys, older } = page.packed === '' ? packedPage(codec, page) : page
  const last = codec.beforeOf(rows.at(-1)!)
  return new PageEnd(codec, { packed, keys, older, count: rows.length, first: rows[0]!.cursor, last })
}

/** Returns a page with rows added: at least one. It holds no buffer of the rows. */
export function appendedTo<Row extends Before & Cursor, Before>(
  codec: RowCodec<Row, Before>,
  page: PageEnd<Row, Before> | null,
  rows: readonly Row[],
  older: number | null
): PageEnd<Row, Before> {
  const keys = new KeyTable(page?.keys)
  const known = keys.keys.length
  let before: Before | null = page?.last ?? null
  scratch.clear()
  for (const row of rows) {
    codec.write(scratch, row, before, keys)
    before = row
  }
  return new PageEnd(codec, {
    packed: (page?.packed ?? '') + scratch.latin1(),
    keys: keys.keys.map((key, at) => (at < known ? key : recentAddresses.at(key))),
    older,
    count: (page?.count ?? 0) + rows.length,
    first: page?.first ?? rows[0]!.cursor,
    last: codec.beforeOf(rows.at(-1)!)
  })
}
