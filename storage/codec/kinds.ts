import type { SlotRow, SolPriceRow } from '../../src/market/rows.ts'
import type { RowHorizon } from '../port.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { RecordKind } from './record.ts'

export const formatKind: RecordKind<number> = {
  name: 'format version',
  write: (out, version) => out.count(version),
  read: (source) => source.count(),
  weigh: () => 8
}

export const horizonKind: RecordKind<RowHorizon> = {
  name: 'retention horizon',
  write(out, { cursor, time }) {
    out.count(cursor)
    out.count(time)
  },
  read: (source) => ({ cursor: source.count(), time: source.count() }),
  weigh: () => 16
}

export const genesisKind: RecordKind<string> = {
  name: 'genesis hash',
  write: (out, hash) => out.text(hash),
  read: (source) => source.text(),
  weigh: () => 100
}

/** A slot without its block hash, which stands behind it or behind the whole block: older records have none. */
export const slotFieldsKind: RecordKind<SlotRow> = {
  name: 'slot',
  write(out, row) {
    out.count(row.slot)
    out.offset(row.blockTime)
    out.optionalCount(row.parentSlot)
    out.count(row.transactions)
    out.count(row.trades)
    out.count(row.events)
    out.float(row.receivedAtMs)
  },
  read: (source) => ({
    slot: source.count(),
    blockTime: source.offset(),
    parentSlot: source.optionalCount(),
    blockhash: null,
    transactions: source.count(),
    trades: source.count(),
    events: source.count(),
    receivedAtMs: source.float()
  }),
  weigh: () => 100
}

/** Writes the hash at the end of a record, and nothing where it is not known. */
export function writeLastHash(out: ByteWriter, { blockhash }: SlotRow): void {
  if (blockhash !== null) out.text(blockhash)
}

/** Reads the hash at the end of a record; null where the record ends before. */
export const readLastHash = (source: ByteReader): string | null => (source.atEnd ? null : source.text())

export const slotKind: RecordKind<SlotRow> = {
  name: 'slot',
  write(out, row) {
    slotFieldsKind.write(out, row)
    writeLastHash(out, row)
  },
  read: (source, key) => ({ ...slotFieldsKind.read(source, key), blockhash: readLastHash(source) }),
  weigh: () => 200
}

export const solPriceKind: RecordKind<SolPriceRow> = {
  name: 'sol price',
  write(out, row) {
    out.count(row.minute)
    out.float(row.usd)
    out.optionalCount(row.sourceMinute)
  },
  read: (source) => ({ minute: source.count(), usd: source.float(), sourceMinute: source.optionalCount() }),
  weigh: () => 60
}
