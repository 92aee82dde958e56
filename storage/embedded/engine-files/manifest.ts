import type { Key, KeyRange } from '../../codec/keys.ts'
import { keyAfter } from '../../codec/keys.ts'
import { FileReader } from './file-reader.ts'

/** An internal key ends in a sequence number and a type, which the order of the user's keys leaves out. */
const TAG_BYTES = 8

/** The key as it was put. */
export const userKey = (internal: Buffer): Key => internal.subarray(0, internal.length - TAG_BYTES)

/** A table that belongs to the store. */
export interface LiveTable {
  readonly number: number
  readonly level: number
  readonly sizeBytes: number
  readonly keys: KeyRange
}

/** The store's other files, by its manifest. */
export interface StoreFiles {
  /** Tables by number. */
  readonly tables: ReadonlyMap<number, LiveTable>
  /** Logs from this number on are not in tables yet. */
  readonly firstLog: number
}

/** Folds the records of a manifest. Throws a RangeError where a record does not follow the format. */
export function storeFiles(records: readonly Buffer[]): StoreFiles {
  const tables = new Map<number, LiveTable>()
  let firstLog = 0
  for (const record of records) {
    const source = new FileReader(record)
    while (!source.atEnd) {
      const tag = source.count()
      switch (tag) {
        case 1: // comparator
          source.counted()
          break
        case 2: // number of the oldest log in use
          firstLog = source.count()
          break
        case 3: // next file number
        case 4: // last sequence number
        case 9: // number of the log before, no longer written
          source.count()
          break
        case 5: // where the next compaction of a level begins
          source.count()
          source.counted()
          break
        case 6: // a table that is gone
          source.count()
          tables.delete(source.count())
          break
        case 7: {
          const [level, number, sizeBytes] = [source.count(), source.count(), source.count()]
          const [gte, last] = [userKey(source.counted()), userKey(source.counted())]
          tables.set(number, { number, level, sizeBytes, keys: { gte, lt: keyAfter(last) } })
          break
        }
        default:
          throw new RangeError(`a manifest has a field ${tag}, which is unknown`)
      }
    }
  }
  return { tables, firstLog }
}
