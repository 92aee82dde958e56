import { createHash } from 'node:crypto'
import type { SlotRow } from '../../src/market/rows.ts'
import { keysOf } from '../../storage/codec/keys.ts'
import { slotKind } from '../../storage/codec/kinds.ts'
import { unpackRecord } from '../../storage/codec/record.ts'
import { withRawStore } from '../storage/embedded-directory.ts'

/** The letter of documents: of API keys and tenants, which each store creates at its own time. */
const DOCUMENTS = 'D'.charCodeAt(0)

export interface StoredRows {
  /** Number of records of each kind, by the first letter of their keys. */
  readonly records: Readonly<Record<string, number>>
  /** Digest of every key and value. */
  readonly digest: string
}

/** Returns all content of a closed store except its API keys and tenants. */
export function storedRows(storeDirectory: string): Promise<StoredRows> {
  return withRawStore(storeDirectory, async (raw) => {
    const hash = createHash('sha256')
    const records: Record<string, number> = {}
    for await (const [key, value] of raw.iterator()) {
      if (key[0] === DOCUMENTS) continue
      hash.update(`${key.length} ${value.length} `).update(key).update(value)
      const kind = String.fromCharCode(key[0]!)
      records[kind] = (records[kind] ?? 0) + 1
    }
    return { records, digest: hash.digest('hex') }
  })
}

/** Returns the rows of all slots of a closed store, ascending. */
export function storedSlots(storeDirectory: string): Promise<SlotRow[]> {
  return withRawStore(storeDirectory, async (raw) => {
    const rows: SlotRow[] = []
    for await (const [key, value] of raw.iterator(keysOf('b'))) rows.push(unpackRecord(slotKind, key, value))
    return rows
  })
}
