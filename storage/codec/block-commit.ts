import { byName, isSingle, RECORD_NAMES } from '../../src/market/records.ts'
import type { RecordName, RecordRows, RowOf } from '../../src/market/records.ts'
import type { BlockCommit } from '../port.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readLastHash, slotFieldsKind, writeLastHash } from './kinds.ts'
import type { RecordKind } from './record.ts'
import { blockPart } from './records.ts'

/** Blocks of the first versions end before the log; blocks of later versions have the hash after it. */
const LOG = RECORD_NAMES.indexOf('log')
const BEFORE_HASH = RECORD_NAMES.slice(0, LOG + 1)
const BEHIND_HASH = RECORD_NAMES.slice(LOG + 1)

/** All changes of a block: the rows of each record in the order of `RECORDS`. */
export const blockCommitKind: RecordKind<BlockCommit> = {
  name: 'block',
  write(out, block) {
    slotFieldsKind.write(out, block.slot)
    for (const name of BEFORE_HASH) blockPart(name).write(out, rowsOf(block, name))
    if (BEHIND_HASH.every((name) => rowsOf(block, name).length === 0)) writeLastHash(out, block.slot)
    else writeBehindHash(out, block)
  },
  read(source, key) {
    const slot = slotFieldsKind.read(source, key)
    const before = BEFORE_HASH.map((name) => [name, readRows(source, name)] as const)
    const blockhash = readLastHash(source) || null
    const rows = new Map([...before, ...BEHIND_HASH.map((name) => [name, readRows(source, name)] as const)])
    return {
      slot: { ...slot, blockhash },
      ...byName<RecordRows>(RECORD_NAMES, (name) =>
        isSingle(name) ? (rows.get(name)![0] ?? null) : rows.get(name)
      )
    }
  },
  weigh: (block) => 1_000 * (10 + block.trades.length + block.poolEvents.length + block.candles.length)
}

/** The hash, empty if it is not known, and records that older versions did not write. */
function writeBehindHash(out: ByteWriter, block: BlockCommit): void {
  out.text(block.slot.blockhash ?? '')
  for (const name of BEHIND_HASH) blockPart(name).write(out, rowsOf(block, name))
}

function rowsOf<Name extends RecordName>(block: BlockCommit, name: Name): readonly RowOf<Name>[] {
  const rows = block[name] as RowOf<Name> | readonly RowOf<Name>[] | null
  if (rows === null) return []
  return Array.isArray(rows) ? (rows as readonly RowOf<Name>[]) : [rows as RowOf<Name>]
}

/** Returns the rows of a record; an empty list if the block was written before the record existed. */
function readRows<Name extends RecordName>(source: ByteReader, name: Name): RowOf<Name>[] {
  const mayLack = RECORD_NAMES.indexOf(name) >= LOG
  return mayLack && source.atEnd ? [] : blockPart(name).read(source)
}
