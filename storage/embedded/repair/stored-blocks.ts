import { rm } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import { splitCursor } from '../../../src/market/cursor.ts'
import type { LaunchRow, PoolEventRow, SlotRow, TradeRow } from '../../../src/market/rows.ts'
import type { StoredBlock } from '../../../src/market/stored-block.ts'
import { keyAfter, keyAt, keysOf, type Key, type KeyRange } from '../../codec/keys.ts'
import { KeyTable } from '../../codec/key-table.ts'
import { slotKind } from '../../codec/kinds.ts'
import { launchKind } from '../../codec/launch.ts'
import { poolEventCodec } from '../../codec/pool-event.ts'
import { packRecord, unpackRecord, type RecordKind } from '../../codec/record.ts'
import type { RowCodec } from '../../codec/row-origin.ts'
import { tradeCodec } from '../../codec/trade.ts'
import { Database } from '../database.ts'
import { ENGINE } from '../engine-options.ts'
import type { Level } from '../level.ts'

import { poolEventPages, tradePages } from '../row-lists.ts'
import type { RowPages } from '../row-pages.ts'

/** Cache of a store that is read once. */
const READ_BYTES = 4 * 2 ** 20
/** Records that are read between two turns of other work: some milliseconds. */
const RECORDS_PER_READ = 256

const tradeKind = rowKind('trade', tradeCodec)
const poolEventKind = rowKind('pool event', poolEventCodec)

/** A single row by its cursor, behind which its key names its kind. */
function rowKind<Row, Before>(name: string, codec: RowCodec<Row, Before>): RecordKind<Row> {
  return {
    name,
    write: (out, row) => codec.write(out, row, null, new KeyTable()),
    read: (source) => codec.read(source, null, new KeyTable()),
    weigh: () => 1_000
  }
}

const rowKey = (cursor: number, letter: string): Key =>
  Buffer.concat([keyAt(Buffer.alloc(0), cursor, 8), Buffer.from(letter)])

/** Entries of a range in key order, read some at a time so that no snapshot is held in between. */
export async function* recordsIn<T>(
  database: Database,
  kind: RecordKind<T>,
  { gte, lt }: KeyRange
): AsyncGenerator<(readonly [Key, T])[]> {
  for (let from = gte; ;) {
    const found = await database.read(async (view) => {
      const entries: (readonly [Key, T])[] = []
      for await (const entry of view.scan(kind, { gte: from, lt }, { expected: RECORDS_PER_READ }))
        if (entries.push(entry) === RECORDS_PER_READ) break
      return entries
    })
    if (found.length > 0) yield found
    if (found.length < RECORDS_PER_READ) return
    from = keyAfter(found.at(-1)![0])
  }
}

/** Opens a store, and yields its records of each slot, by slot. Rejects with STORAGE_UNAVAILABLE if it is open elsewhere. */
export async function* readStoredBlocks(directory: string): AsyncGenerator<StoredBlock> {
  const database = await Database.open({ directory, hotBytesMax: READ_BYTES, reached: () => undefined })
  try {
    yield* storedBlocks(database, `${directory}.sorted`)
  } finally {
    await database.close()
  }
}

/**
 * Yields a store's records of each slot, by slot. Rows are stored by mint and by pool, so they are sorted by slot in a
 * temporary folder, which takes about as much space as the rows.
 */
export async function* storedBlocks(database: Database, work: string): AsyncGenerator<StoredBlock> {
  await rm(work, { recursive: true, force: true })
  const sorted: Level = new ClassicLevel(work, ENGINE)
  await sorted.open()
  try {
    await sortRows(database, sorted)
    yield* inOrder(slotsOf(database), rowsBySlot(sorted))
  } finally {
    await sorted.close()
    await rm(work, { recursive: true, force: true })
  }
}

async function sortRows(database: Database, sorted: Level): Promise<void> {
  await sortPages(tradePages, 't', tradeKind)
  await sortPages(poolEventPages, 'e', poolEventKind)
  for await (const entries of recordsIn(database, launchKind, keysOf('l')))
    await put(entries, 'l', launchKind, ([, row]) => [row])

  async function sortPages<Row extends Before & { readonly cursor: number }, Before>(
    pages: RowPages<Row, Before>,
    letter: string,
    kind: RecordKind<Row>
  ): Promise<void> {
    for await (const entries of recordsIn(database, pages.kind, keysOf(letter)))
      await put(entries, letter, kind, ([, page]) => page.rows)
  }

  async function put<Entry, Row extends { readonly cursor: number }>(
    entries: readonly Entry[],
    letter: string,
    kind: RecordKind<Row>,
    rowsOf: (entry: Entry) => readonly Row[]
  ): Promise<void> {
    const batch = sorted.batch()
    for (const row of entries.flatMap(rowsOf)) {
      const key = rowKey(row.cursor, letter)
      batch.put(key, packRecord(kind, key, row))
    }
    await batch.write()
  }
}

type Rows = Omit<StoredBlock, 'row'>

async function* rowsBySlot(sorted: Level): AsyncGenerator<Rows, void> {
  let slot = -1
  let [trades, poolEvents, launches]: [TradeRow[], PoolEventRow[], LaunchRow[]] = [[], [], []]
  for await (const [key, value] of sorted.iterator()) {
    const of = splitCursor(Number(key.readBigUInt64BE(0))).slot
    if (of !== slot) {
      if (slot >= 0) yield { slot, trades, poolEvents, launches }
      ;[slot, trades, poolEvents, launches] = [of, [], [], []]
    }
    switch (String.fromCharCode(key[8]!)) {
      case 't':
        trades.push(unpackRecord(tradeKind, key, value))
        break
      case 'e':
        poolEvents.push(unpackRecord(poolEventKind, key, value))
        break
      default:
        launches.push(unpackRecord(launchKind, key, value))
    }
  }
  if (slot >= 0) yield { slot, trades, poolEvents, launches }
}

async function* slotsOf(database: Database): AsyncGenerator<SlotRow, void> {
  for await (const entries of recordsIn(database, slotKind, keysOf('b')))
    for (const [, row] of entries) yield row
}

/** Brings slots and the rows of slots together. */
async function* inOrder(
  slots: AsyncGenerator<SlotRow, void>,
  rowsOfSlots: AsyncGenerator<Rows, void>
): AsyncGenerator<StoredBlock> {
  const none = { trades: [], poolEvents: [], launches: [] }
  let [row, rows] = [await taken(slots), await taken(rowsOfSlots)]
  while (row !== undefined || rows !== undefined) {
    const slot = Math.min(row?.slot ?? Infinity, rows?.slot ?? Infinity)
    const [isRow, isRows] = [row?.slot === slot, rows?.slot === slot]
    yield { ...(isRows ? rows! : none), slot, row: isRow ? row! : null }
    if (isRow) row = await taken(slots)
    if (isRows) rows = await taken(rowsOfSlots)
  }
}

/** Takes the next value; undefined at the end. */
async function taken<T>(values: AsyncGenerator<T, void>): Promise<T | undefined> {
  const { value } = await values.next()
  return value ?? undefined
}
