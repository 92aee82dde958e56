import type { CandleUpsert } from '../../src/market/rows.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { candlePageKind } from './candle.ts'
import { intervalCodes } from './codes.ts'
import { KeyTable } from './key-table.ts'
import type { Key } from './keys.ts'
import type { RecordKind } from './record.ts'
import type { RowCodec } from './row-origin.ts'

/** The rows of a record within a packed block. */
export interface BlockPart<Row> {
  write(out: ByteWriter, rows: readonly Row[]): void
  read(source: ByteReader): Row[]
}

/** Rows that share a table of addresses. The table is searched from its start, so it must stay short. */
const ROWS_OF_A_TABLE = 32
const nested = new ByteWriter()

/** The key of records whose bytes need no field of a key. */
export const NO_KEY: Key = Buffer.alloc(0)

/** Rows that are each packed as their difference from the one before. */
export const packedRows = <Row extends Before, Before>(codec: RowCodec<Row, Before>): BlockPart<Row> => ({
  write(out, rows) {
    out.count(rows.length)
    let keys = new KeyTable()
    rows.forEach((row, i) => {
      if (i % ROWS_OF_A_TABLE === 0) keys = new KeyTable()
      codec.write(out, row, rows[i - 1] ?? null, keys)
    })
  },
  read(source) {
    const rows: Row[] = []
    let keys = new KeyTable()
    for (let left = source.count(); left > 0; left--) {
      if (rows.length % ROWS_OF_A_TABLE === 0) keys = new KeyTable()
      rows.push(codec.read(source, rows.at(-1) ?? null, keys))
    }
    return rows
  }
})

/** Values, each with its key. A kind's bytes leave out fields that follow from the key. */
export const packedRecords = <T>(kind: RecordKind<T>, keyOf: (value: T) => Key): BlockPart<T> => ({
  write(out, values) {
    out.count(values.length)
    for (const value of values) {
      out.bytes(keyOf(value))
      nested.clear()
      kind.write(nested, value)
      out.bytes(nested.written())
    }
  },
  read(source) {
    const values: T[] = []
    for (let left = source.count(); left > 0; left--) {
      const key = Buffer.from(source.bytes())
      values.push(kind.read(new ByteReader(source.bytes()), key))
    }
    return values
  }
})

/** Rows that are each packed as a value of one row. */
export function packedSingly<Row>(values: BlockPart<readonly Row[]>): BlockPart<Row> {
  return {
    write: (out, rows) =>
      values.write(
        out,
        rows.map((row) => [row])
      ),
    read: (source) => values.read(source).flat()
  }
}

/** The series of all candles, then the candles: those of a pair follow each other and are much alike. */
export const packedCandles: BlockPart<CandleUpsert> = {
  write(out, upserts) {
    out.count(upserts.length)
    let keys = new KeyTable()
    upserts.forEach(({ mint, cash, interval }, i) => {
      if (i % ROWS_OF_A_TABLE === 0) keys = new KeyTable()
      keys.write(out, mint)
      keys.write(out, cash)
      out.byte(intervalCodes.codeOf(interval))
    })
    nested.clear()
    candlePageKind.write(
      nested,
      upserts.map(({ candle }) => candle)
    )
    out.bytes(nested.written())
  },
  read(source) {
    const series: Omit<CandleUpsert, 'candle'>[] = []
    let keys = new KeyTable()
    for (let left = source.count(); left > 0; left--) {
      if (series.length % ROWS_OF_A_TABLE === 0) keys = new KeyTable()
      const [mint, cash] = [keys.read(source), keys.read(source)]
      series.push({ mint, cash, interval: intervalCodes.wordOf(source.byte()) })
    }
    const candles = candlePageKind.read(new ByteReader(source.bytes()), NO_KEY)
    if (candles.length !== series.length) throw new RangeError('there are other candles than series')
    return series.map((of, i) => ({ ...of, candle: candles[i]! }))
  }
}
