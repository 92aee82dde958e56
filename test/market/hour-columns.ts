import type { ActivityHour } from '../../src/market/activity-rows.ts'
import type { MinuteColumns } from '../../src/market/minute-columns.ts'
import { activityKind, readMinuteColumns } from '../../storage/codec/activity.ts'
import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'

/** Adds an hour to columns as it is read from its record. Returns false if one of its sums does not fit. */
export function addHour(columns: MinuteColumns, hour: ActivityHour): boolean {
  const out = new ByteWriter()
  activityKind.write(out, hour)
  const bytes = out.take()
  return readMinuteColumns(new ByteReader(bytes), bytes, hour.hour, columns)
}
