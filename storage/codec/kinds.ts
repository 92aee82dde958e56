import type { SlotRow, SolPriceRow } from '../../src/market/rows.ts'
import type { RowHorizon } from '../port.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { RecordKind } from './record.ts'

/** The version of the store's format. */
export const formatKind: RecordKind<number> = {
  name: 'format version',
  write: (out, version) => out.count(version),
  read: (source) => source.count(),
  weigh: () => 8
}

/** The cursor and time before which rows are past the retention. */
export const horizonKind: RecordKind<RowHorizon> = {
  name: 'retention horizon',
  write(out, { cursor, time }) {
    out.count(cursor)
    out.count(time)
  },
  read: (source) => ({ cursor: source.count(), time: source.count() }),
  weigh: () => 16
}

/** The hash of the genesis of the stored chain, in base58. */
export const genesisKind: RecordKind<string> = {
  name: 'genesis hash',
  write: (out, hash) => out.text(hash),
  read: (source) => source.text(),
  weigh: () => 100
}

/** A slot without its block hash, which follows at the end of the record or of the whole block. Older records have none. */
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

/** Writes the hash at the end of a record; nothing if it is unknown. */
export function writeLastHash(out: ByteWriter, { blockhash }: SlotRow): void {
  if (blockhash !== null) out.text(blockhash)
}

/** Reads the hash at the end of a record; null if the record has none. */
export const readLastHash = (source: ByteReader): string | null => (source.atEnd ? null : source.text())

/** A slot with its block hash, if that is known. */
export const slotKind: RecordKind<SlotRow> = {
  name: 'slot',
  write(out, row) {
    slotFieldsKind.write(out, row)
    writeLastHash(out, row)
  },
  read: (source, key) => ({ ...slotFieldsKind.read(source, key), blockhash: readLastHash(source) }),
  weigh: () => 200
}

/** SOL's price in a minute. */
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
