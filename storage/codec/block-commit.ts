import type { BlockCommit, CandleUpsert } from '../port.ts'
import { activityKind } from './activity.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { candlePageKind } from './candle.ts'
import { intervalCodes } from './codes.ts'
import { curveKind } from './curve.ts'
import { KeyTable } from './key-table.ts'
import { activityKey, curveKey, launchKey, logKey, pairsKey, poolKey, tokenKey, totalsKey } from './keys.ts'
import type { Key } from './keys.ts'
import { readLastHash, slotFieldsKind, solPriceKind, writeLastHash } from './kinds.ts'
import { launchKind } from './launch.ts'
import { logPartKind } from './log-part.ts'
import { pairsKind } from './pair.ts'
import { poolKind } from './pool.ts'
import { poolEventCodec } from './pool-event.ts'
import type { RecordKind } from './record.ts'
import type { RowCodec } from './row-origin.ts'
import { tokenKind } from './token.ts'
import { totalsKind } from './totals.ts'
import { tradeCodec } from './trade.ts'

/** Rows that share a table of addresses: it is searched from its start, so it is to stay short. */
const ROWS_OF_A_TABLE = 32
const nested = new ByteWriter()

/** All that a block changes, in the order that it has it. */
export const blockCommitKind: RecordKind<BlockCommit> = {
  name: 'block',
  write(out, block) {
    slotFieldsKind.write(out, block.slot)
    writeRows(out, tradeCodec, block.trades)
    writeRows(out, poolEventCodec, block.poolEvents)
    writeCandles(out, block.candles)
    writeRecords(out, launchKind, block.launches, (row) => launchKey(row.mint))
    writeRecords(
      out,
      pairsKind,
      block.pairs.map((pair) => [pair]),
      ([pair]) => pairsKey(pair!.mint)
    )
    writeRecords(out, solPriceKind, present(block.solPrice), () => NO_KEY)
    writeRecords(out, activityKind, block.activity, (row) => activityKey(row.of, row.owner, row.hour))
    writeRecords(out, tokenKind, block.tokens, (row) => tokenKey(row.mint))
    writeRecords(out, poolKind, block.pools, (row) => poolKey(row.pool))
    writeRecords(out, curveKind, block.curves, (row) => curveKey(row.mint))
    writeRecords(out, totalsKind, present(block.totals), totalsKey)
    writeRecords(out, logPartKind, block.log, ({ channel, slot }) => logKey(channel, slot))
    writeLastHash(out, block.slot)
  },
  read(source, key) {
    const slot = slotFieldsKind.read(source, key)
    const rows = readBlockRows(source)
    return { slot: { ...slot, blockhash: readLastHash(source) }, ...rows }
  },
  weigh: (block) => 1_000 * (10 + block.trades.length + block.poolEvents.length + block.candles.length)
}

function readBlockRows(source: ByteReader): Omit<BlockCommit, 'slot'> {
  return {
    trades: readRows(source, tradeCodec),
    poolEvents: readRows(source, poolEventCodec),
    candles: readCandles(source),
    launches: readRecords(source, launchKind),
    pairs: readRecords(source, pairsKind).flat(),
    solPrice: readRecords(source, solPriceKind)[0] ?? null,
    activity: readRecords(source, activityKind),
    tokens: readRecords(source, tokenKind),
    pools: readRecords(source, poolKind),
    curves: readRecords(source, curveKind),
    totals: readRecords(source, totalsKind)[0] ?? null,
    // A journal may have blocks from before there was a log.
    log: source.atEnd ? [] : readRecords(source, logPartKind)
  }
}

const NO_KEY: Key = Buffer.alloc(0)
const present = <T>(value: T | null): readonly T[] => (value === null ? [] : [value])

function writeRows<Row>(out: ByteWriter, codec: RowCodec<Row>, rows: readonly Row[]): void {
  out.count(rows.length)
  let keys = new KeyTable()
  rows.forEach((row, i) => {
    if (i % ROWS_OF_A_TABLE === 0) keys = new KeyTable()
    codec.write(out, row, rows[i - 1] ?? null, keys)
  })
}

function readRows<Row>(source: ByteReader, codec: RowCodec<Row>): Row[] {
  const rows: Row[] = []
  let keys = new KeyTable()
  for (let left = source.count(); left > 0; left--) {
    if (rows.length % ROWS_OF_A_TABLE === 0) keys = new KeyTable()
    rows.push(codec.read(source, rows.at(-1) ?? null, keys))
  }
  return rows
}

/** Each with its key, of which a kind's bytes do not repeat what they can do without. */
function writeRecords<T>(
  out: ByteWriter,
  kind: RecordKind<T>,
  records: readonly T[],
  keyOf: (record: T) => Key
): void {
  out.count(records.length)
  for (const record of records) {
    out.bytes(keyOf(record))
    nested.clear()
    kind.write(nested, record)
    out.bytes(nested.written())
  }
}

function readRecords<T>(source: ByteReader, kind: RecordKind<T>): T[] {
  const records: T[] = []
  for (let left = source.count(); left > 0; left--) {
    const key = Buffer.from(source.bytes())
    records.push(kind.read(new ByteReader(source.bytes()), key))
  }
  return records
}

/** The series of all candles, then the candles: those of a pair follow each other and are much alike. */
function writeCandles(out: ByteWriter, upserts: readonly CandleUpsert[]): void {
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
}

function readCandles(source: ByteReader): CandleUpsert[] {
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
