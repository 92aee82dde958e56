import type { GapRow } from '../port.ts'
import { COUNT, fields, optional } from './fields.ts'
import { gapKind } from './gap.ts'
import type { RecordKind } from './record.ts'

/** An amendment's change of the gap that begins at a slot. */
export interface GapEdit {
  /** Time at which the changed gap was added, in microseconds of the cluster's clock; 0 if there was no gap. */
  readonly addedAt: number
  /** Null if the gap is closed. */
  readonly gap: GapRow | null
}

/** The stored form of a gap's change. */
export const gapEditKind: RecordKind<GapEdit> = {
  name: 'gap edit',
  ...fields<GapEdit>({ addedAt: COUNT, gap: optional(gapKind) }),
  weigh: () => 300
}
