import type { SlotRow, SolPriceRow } from '../../src/market/rows.ts'
import type { RecordKind } from './record.ts'

export const formatKind: RecordKind<number> = {
  name: 'format version',
  write: (out, version) => out.count(version),
  read: (source) => source.count(),
  weigh: () => 8
}

export const genesisKind: RecordKind<string> = {
  name: 'genesis hash',
  write: (out, hash) => out.text(hash),
  read: (source) => source.text(),
  weigh: () => 100
}

export const slotKind: RecordKind<SlotRow> = {
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
    transactions: source.count(),
    trades: source.count(),
    events: source.count(),
    receivedAtMs: source.float()
  }),
  weigh: () => 100
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
