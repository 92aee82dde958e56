import type { GapRow } from '../port.ts'
import { gapKind } from './gap.ts'
import type { RecordKind } from './record.ts'

/** What an amendment has made of the gap that begins at a slot. */
export interface GapEdit {
  /** When the gap was added that it changes, in microseconds of the cluster's clock; 0 where there was none. */
  readonly addedAt: number
  /** Null where it is closed. */
  readonly gap: GapRow | null
}

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
