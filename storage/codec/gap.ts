import type { GapRow } from '../port.ts'
import { COUNT, fields, FLOAT, TEXT } from './fields.ts'
import type { RecordKind } from './record.ts'

/** A gap, both slots included, with its reason. */
export const gapKind: RecordKind<GapRow> = {
  name: 'gap',
  ...fields<GapRow>({ from: COUNT, to: COUNT, reason: TEXT, detail: TEXT, atMs: FLOAT }),
  weigh: () => 300
}
