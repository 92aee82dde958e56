import type { GapRow } from '../port.ts'
import type { RecordKind } from './record.ts'

/** A gap, both slots included, with its reason. */
export const gapKind: RecordKind<GapRow> = {
  name: 'gap',
  write(out, row) {
    out.count(row.from)
    out.count(row.to)
    out.text(row.reason)
    out.text(row.detail)
    out.float(row.atMs)
  },
  read: (source) => ({
    from: source.count(),
    to: source.count(),
    reason: source.text(),
    detail: source.text(),
    atMs: source.float()
  }),
  weigh: () => 300
}
