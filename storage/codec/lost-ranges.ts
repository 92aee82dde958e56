import type { KeyRange } from './keys.ts'
import type { RecordKind } from './record.ts'

/** Ranges of keys whose records a repair could not restore. */
export const lostRangesKind: RecordKind<readonly KeyRange[]> = {
  name: 'lost ranges',
  write(out, ranges) {
    out.count(ranges.length)
    for (const { gte, lt } of ranges) {
      out.bytes(gte)
      out.bytes(lt)
    }
  },
  read(source) {
    const key = (): Buffer => Buffer.from(source.bytes())
    return Array.from({ length: source.count() }, () => ({ gte: key(), lt: key() }))
  },
  weigh: (ranges) => 200 * ranges.length
}
