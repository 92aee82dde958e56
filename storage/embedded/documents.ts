import type { Clock } from '../../src/ports.ts'
import { documentEntryKind, documentKind, fencedKind } from '../codec/document.ts'
import { documentRecordKey, bytesIn } from '../codec/document-record-keys.ts'
import type {
  DocumentAddress,
  DocumentRange,
  DocumentRow,
  DocumentRowPage,
  DocumentStore
} from '../document-store.ts'
import type { Database } from './database.ts'
import { HOT_GATHER_MS, SOON_GATHER_MS, type DocumentGroups } from './document-group.ts'
import { hotValueOf, isExpired, type DocumentStage } from './document-stage.ts'
import { histories } from './histories.ts'
import type { View } from './view.ts'

/** Documents, read through views and changed in groups. */
export function documentStore(database: Database, groups: DocumentGroups, clock: Clock): DocumentStore {
  const read = (view: View, address: DocumentAddress): DocumentRow | null => {
    const record = view.get(documentKind, documentRecordKey(address, 'document', address.key))
    return record === null || isExpired(record, clock.now()) ? null : { address, ...record }
  }
  const list: DocumentStore['list'] = (range) =>
    database.read((view) =>
      range.of === 'keys' ? listKeys(view, range, clock) : listEntries(view, range, read)
    )
  return {
    get: (address) => database.read((view) => read(view, address)),
    owner: (kind, partition, unique) =>
      database.read((view) => {
        const key = view.get(documentEntryKind, documentRecordKey({ kind, partition }, 'unique', unique))
        return key === null ? null : read(view, { kind, partition, key })
      }),
    list,
    put: (row, before, { isSoon = false } = {}) => {
      const put = (stage: DocumentStage) => stage.put(row, before)
      return isSoon ? groups.changeWithin(SOON_GATHER_MS, put) : groups.change(put, !row.isScratch)
    },
    delete: (before) => groups.change((stage) => stage.delete(before)),
    putFenced: (document, token, value) =>
      groups.changeWithin(HOT_GATHER_MS, (stage) => stage.putFenced(document, token, value)),
    fence: (document, token) => groups.changeWithin(HOT_GATHER_MS, (stage) => stage.fence(document, token)),
    fenced: (documents) =>
      database.read((view) =>
        documents.map(({ address, born }) => {
          const hot = view.get(fencedKind, documentRecordKey(address, 'hot', address.key))
          return hotValueOf(hot?.born === born ? hot : null)
        })
      ),
    ...histories({ list }, groups)
  }
}

async function listKeys(view: View, range: DocumentRange, clock: Clock): Promise<DocumentRowPage> {
  const rows: DocumentRow[] = []
  for await (const [key, record] of view.scan(documentKind, keysIn(range, 'document'), scanning(range))) {
    if (rows.length === range.limit) return { rows, last: rows.at(-1)!.address.key }
    const { kind, partition } = range
    // A copy: the key of a record is a piece of a chunk of many.
    const address = { kind, partition, key: bytesIn(range, key).slice() }
    if (!isExpired(record, clock.now())) rows.push({ address, ...record })
  }
  return { rows, last: null }
}

async function listEntries(
  view: View,
  range: DocumentRange,
  read: (view: View, address: DocumentAddress) => DocumentRow | null
): Promise<DocumentRowPage> {
  const rows: DocumentRow[] = []
  let last: Uint8Array | null = null
  for await (const [entry, key] of view.scan(documentEntryKind, keysIn(range, 'entry'), scanning(range))) {
    if (rows.length === range.limit) return { rows, last }
    const { kind, partition } = range
    const row = read(view, { kind, partition, key })
    if (row === null) continue
    rows.push(row)
    last = bytesIn(range, entry).slice()
  }
  return { rows, last: null }
}

const keysIn = (range: DocumentRange, section: 'document' | 'entry') => ({
  gte: documentRecordKey(range, section, range.gte),
  lt: documentRecordKey(range, section, range.lt)
})

const scanning = ({ order, limit }: DocumentRange) => ({ reverse: order === 'desc', expected: limit + 1 })
