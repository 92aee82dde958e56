import type { Slices } from '../../work/slices.ts'

/**
 * Rows of a list that are made while they are written, one after another. Made before, the rows of all pages in the making would
 * wait together for their turn, and outlive the collections of young objects.
 */
export class LateRows<Row> {
  readonly #sources: readonly unknown[]
  readonly #make: (source: never) => Row

  private constructor(sources: readonly unknown[], make: (source: never) => Row) {
    this.#sources = sources
    this.#make = make
  }

  /** Returns rows that are made from others. */
  static of<Source, Row>(sources: readonly Source[], make: (source: Source) => Row): LateRows<Row> {
    return new LateRows<Row>(sources, make)
  }

  /** Returns the rows of a list, whether or not they are made. */
  static in<Row>(data: readonly Row[] | LateRows<Row>): LateRows<Row> {
    return data instanceof LateRows ? data : LateRows.of(data, (row) => row)
  }

  /** Number of rows. */
  get length(): number {
    return this.#sources.length
  }

  /** Makes rows in slices and writes them, as `Slices.each` does. */
  each(slices: Slices, write: (row: Row, index: number) => number): Promise<void> {
    return slices.each(this.#sources, (source, at) => write(this.#make(source as never), at))
  }

  /** Makes all rows, as `Slices.map` does. */
  made(slices: Slices): Promise<Row[]> {
    return slices.map(this.#sources, (source) => this.#make(source as never))
  }

  /** Returns the first rows. */
  first(count: number): LateRows<Row> {
    return new LateRows<Row>(this.#sources.slice(0, count), this.#make)
  }

  /** Returns rows that are made from these. */
  map<Made>(make: (row: Row) => Made): LateRows<Made> {
    return new LateRows<Made>(this.#sources, (source) => make(this.#make(source)))
  }
}

/** A body whose list is made late. */
export type LateBody<Body> = Body extends { readonly data: readonly (infer Row)[] }
  ? Omit<Body, 'data'> & { readonly data: LateRows<Row> }
  : never
