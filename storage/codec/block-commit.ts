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
  write: (out, block) => void writeBlock(out, block),
  read(source, key) {
    const slot = slotFieldsKind.read(source, key)
    const before = BEFORE_HASH.map((name) => [name, readRows(source, name)] as const)
    const blockhash = readLastHash(source) || null
    const rows = new Map([...before, ...BEHIND_HASH.map((name) => [name, readRows(source, name)] as const)])
    return {
      slot: { ...slot, blockhash },
      ...byName<RecordRows>(RECORD_NAMES, (name) => valueOf(name, rows.get(name)!))
    }
  },
  weigh: (block) => 1_000 * (10 + block.trades.length + block.poolEvents.length + block.candles.length)
}

/**
 * Writes a block. Returns the places in `out` of its hash, then of the rows of each record in the order of `RECORDS`; those
 * of records at the end that were left out are missing.
 */
export function writeBlock(out: ByteWriter, block: BlockCommit): number[] {
  slotFieldsKind.write(out, block.slot)
  const places = BEFORE_HASH.map((name) => writePart(out, block, name))
  const hashPlace = out.length
  if (BEHIND_HASH.every((name) => rowsOf(block, name).length === 0)) writeLastHash(out, block.slot)
  else {
    // The hash is empty if it is not known. Older versions did not write the records behind it.
    out.text(block.slot.blockhash ?? '')
    places.push(...BEHIND_HASH.map((name) => writePart(out, block, name)))
  }
  return [hashPlace, ...places]
}

/** Returns the rows of a record as a block has them. */
export const valueOf = <Name extends RecordName>(
  name: Name,
  rows: readonly RowOf<Name>[]
): RowOf<Name> | readonly RowOf<Name>[] | null => (isSingle(name) ? (rows[0] ?? null) : rows)

function writePart<Name extends RecordName>(out: ByteWriter, block: BlockCommit, name: Name): number {
  const place = out.length
  blockPart(name).write(out, rowsOf(block, name))
  return place
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
