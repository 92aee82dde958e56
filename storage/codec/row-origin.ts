import { POSITIONS_PER_SLOT } from '../../src/market/cursor.ts'
import type { RowOrigin } from '../../src/market/rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { commitmentCodes, venueCodes } from './codes.ts'
import type { KeyTable } from './key-table.ts'

/** The fields of a row that the bytes of the next one depend on. */
export type RowBefore = Pick<RowOrigin, 'cursor' | 'blockTime' | 'signature'>

/** Encodes rows of a kind one after another, each relative to the previous row, which is null for the first. */
export interface RowCodec<Row, Before = RowBefore> {
  write(out: ByteWriter, row: Row, before: Before | null, keys: KeyTable): void
  /** `unused` are bits of the codec for sections of a row that the reader does not use, which stay empty; none by default. */
  read(source: ByteReader, before: Before | null, keys: KeyTable, unused?: number): Row
  /** Returns what the bytes of the next row depend on. It holds no buffer of the row. */
  beforeOf(row: Row): Before
}

export const beforeOf = ({ cursor, blockTime, signature }: RowBefore): RowBefore => ({
  cursor,
  blockTime,
  signature: Uint8Array.from(signature)
})

/** Writes the fields that all rows share, relative to the previous row. */
export function writeRowOrigin(
  out: ByteWriter,
  row: RowOrigin,
  before: RowBefore | null,
  keys: KeyTable
): void {
  out.count(row.cursor - (before?.cursor ?? 0))
  out.offset(row.slot - Math.floor(row.cursor / POSITIONS_PER_SLOT))
  out.offset(row.blockTime - (before?.blockTime ?? 0))
  const sameSignature = before !== null && sameBytes(row.signature, before.signature)
  out.byte(sameSignature ? 1 : 0)
  if (!sameSignature) out.fixed(row.signature, 64)
  out.count(row.txIndex)
  out.count(row.ixIndex)
  out.optionalCount(row.innerIxIndex)
  out.byte(venueCodes.codeOf(row.venue))
  out.byte(commitmentCodes.codeOf(row.commitment))
  keys.write(out, row.program)
  keys.write(out, row.pool)
  keys.write(out, row.user)
  keys.write(out, row.feePayer)
}

/** Reads the fields that all rows share into a new object, which the caller completes. */
export function readRowOrigin(source: ByteReader, before: RowBefore | null, keys: KeyTable): RowOrigin {
  const cursor = source.count() + (before?.cursor ?? 0)
  return {
    cursor,
    slot: source.offset() + Math.floor(cursor / POSITIONS_PER_SLOT),
    blockTime: source.offset() + (before?.blockTime ?? 0),
    signature: source.byte() === 1 && before !== null ? before.signature : source.fixed(64),
    txIndex: source.count(),
    ixIndex: source.count(),
    innerIxIndex: source.optionalCount(),
    venue: venueCodes.wordOf(source.byte()),
    commitment: commitmentCodes.wordOf(source.byte()),
    program: keys.read(source),
    pool: keys.read(source),
    user: keys.read(source),
    feePayer: keys.read(source)
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
