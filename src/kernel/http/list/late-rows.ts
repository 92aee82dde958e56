import type { Slices } from '../../work/slices.ts'

/**
 * Rows of a list that are made while they are written, one after another. Made before, the rows of all pages in the making would
 * wait together for their turn, and outlive the collections of young objects.
 */
export class LateRows<Row> {
  /** Number of rows. */
  readonly length: number
  /** Makes rows in slices and writes them, as `Slices.each` does. */
  readonly each: (slices: Slices, write: (row: Row, index: number) => number) => Promise<void>
  /** Returns the first rows. */
  readonly first: (count: number) => LateRows<Row>

  private constructor({ length, each, first }: Pick<LateRows<Row>, 'length' | 'each' | 'first'>) {
    this.length = length
    this.each = each
    this.first = first
  }

  /** Returns rows that are made from others. */
  static of<Source, Row>(sources: readonly Source[], make: (source: Source) => Row): LateRows<Row> {
    return new LateRows<Row>({
      length: sources.length,
      each: (slices, write) => slices.each(sources, (source, at) => write(make(source), at)),
      first: (count) => LateRows.of(sources.slice(0, count), make)
    })
  }

  /** Returns the rows of a list, whether or not they are made. */
  static in<Row>(data: readonly Row[] | LateRows<Row>): LateRows<Row> {
    return data instanceof LateRows ? data : LateRows.of(data, (row) => row)
  }

  /** Makes all rows. */
  async made(slices: Slices): Promise<Row[]> {
    const rows: Row[] = []
    await this.each(slices, (row) => {
      rows.push(row)
      return 0
    })
    return rows
  }

  /** Returns rows that are made from these. */
  map<Made>(make: (row: Row) => Made): LateRows<Made> {
    const { length, each, first } = this
    return new LateRows<Made>({
      length,
      each: (slices, write) => each(slices, (row, at) => write(make(row), at)),
      first: (count) => first(count).map(make)
    })
  }
}

/** A body whose list is made late. */
export type LateBody<Body> = Body extends { readonly data: readonly (infer Row)[] }
  ? Omit<Body, 'data'> & { readonly data: LateRows<Row> }
  : never
