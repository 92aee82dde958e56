import { BYTES, each, fields, type Field } from './fields.ts'
import type { Key, KeyRange } from './keys.ts'
import type { RecordKind } from './record.ts'

const KEY: Field<Key> = { ...BYTES, read: (source) => Buffer.from(source.bytes()) }

/** Ranges of keys whose records a repair could not restore. */
export const lostRangesKind: RecordKind<readonly KeyRange[]> = {
  name: 'lost ranges',
  ...each(fields<KeyRange>({ gte: KEY, lt: KEY })),
  weigh: (ranges) => 200 * ranges.length
}
