import type { SlotRow, SolPriceRow } from '../../src/market/rows.ts'
import type { RowHorizon } from '../port.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { COUNT, fields, FLOAT, OFFSET, OPTIONAL_COUNT, TEXT, type Field } from './fields.ts'
import type { RecordKind } from './record.ts'

/** The version of the store's format. */
export const formatKind: RecordKind<number> = {
  name: 'format version',
  ...COUNT,
  weigh: () => 8
}

/** The cursor and time before which rows are past the retention. */
export const horizonKind: RecordKind<RowHorizon> = {
  name: 'retention horizon',
  ...fields<RowHorizon>({ cursor: COUNT, time: COUNT }),
  weigh: () => 16
}

/** The hash of the genesis of the stored chain, in base58. */
export const genesisKind: RecordKind<string> = {
  name: 'genesis hash',
  ...TEXT,
  weigh: () => 100
}

const NOTHING: Field<null | string> = { write: () => undefined, read: () => null }

/** A slot without its block hash, which follows at the end of the record or of the whole block. Older records have none. */
export const slotFieldsKind: RecordKind<SlotRow> = {
  name: 'slot',
  ...fields<SlotRow>({
    slot: COUNT,
    blockTime: OFFSET,
    parentSlot: OPTIONAL_COUNT,
    blockhash: NOTHING,
    transactions: COUNT,
    trades: COUNT,
    events: COUNT,
    receivedAtMs: FLOAT
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
  ...fields<SolPriceRow>({ minute: COUNT, usd: FLOAT, sourceMinute: OPTIONAL_COUNT }),
  weigh: () => 60
}
