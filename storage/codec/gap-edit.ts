import type { GapRow } from '../port.ts'
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
  write(out, { addedAt, gap }) {
    out.count(addedAt)
    out.byte(gap === null ? 0 : 1)
    if (gap !== null) gapKind.write(out, gap)
  },
  read(source, key) {
    const addedAt = source.count()
    return { addedAt, gap: source.byte() === 0 ? null : gapKind.read(source, key) }
  },
  weigh: () => 300
}
