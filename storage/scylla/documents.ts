import { rowOf } from '../codec/document-record-keys.ts'
import type {
  DocumentAddress,
  DocumentHeader,
  DocumentRange,
  DocumentRow,
  DocumentStore,
  NewDocumentRow,
  Refusal
} from '../document-store.ts'
import { blob } from './client.ts'
import type { CqlClient, CqlRow } from './client.ts'
import type { ConditionalWrites } from './conditional-writes.ts'
import { DividedDocuments, mergedPage, type ListedDocument, type ListedPage } from './divided-documents.ts'
import { NEW_LAYOUT, type DocumentLayout } from './divided-kinds.ts'
import { DocumentChange } from './document-change.ts'
import { wholePlace } from './document-place.ts'
import { documentIn, ownerIn, selectRow } from './document-rows.ts'
import { histories } from './histories.ts'
import type { HotValues } from './hot-values.ts'

const SELECT_RANGE = `SELECT row, document, owner FROM documents WHERE kind = ? AND part = ? AND row >= ? AND row < ?`
const SELECT_ASC = `${SELECT_RANGE} LIMIT ?`
const SELECT_DESC = `${SELECT_RANGE} ORDER BY row DESC LIMIT ?`

/**
 * Documents in one table, each with its entries in its partition; those of kinds without a limit are divided. A document of
 * such a kind that an earlier version has stored stays where it is, and is changed there.
 */
export function documentStore(
  client: CqlClient,
  writes: ConditionalWrites,
  hot: HotValues,
  { divided: kinds, hasEarlier }: DocumentLayout = NEW_LAYOUT
): DocumentStore {
  const isServed = ({ expiresAtMs }: DocumentHeader): boolean =>
    expiresAtMs === null || client.now() < expiresAtMs
  const divided = new DividedDocuments(client, writes, isServed)
  /** A document with its entries in its partition. */
  const whole = {
    async get(address: DocumentAddress): Promise<DocumentRow | null> {
      const { statement, params } = selectRow(wholePlace(address), 'document', address.key)
      const [row] = await client.read(statement, params)
      const document = documentIn(address, row)
      return document !== null && isServed(document) ? document : null
    },
    put: (row: NewDocumentRow, before: DocumentHeader | null): Promise<DocumentRow | Refusal> =>
      writes.run(wholePlace(row.address).queue, () =>
        new DocumentChange(client, row.address, isServed).put(row, before)
      ),
    delete: (before: DocumentHeader): Promise<boolean> =>
      writes.run(wholePlace(before.address).queue, () =>
        new DocumentChange(client, before.address, isServed).delete(before)
      )
  }
  const isEarlier = async (address: DocumentAddress): Promise<boolean> =>
    hasEarlier && (await whole.get(address)) !== null
  const get = async (address: DocumentAddress): Promise<DocumentRow | null> => {
    const division = kinds[address.kind]
    if (division === undefined) return whole.get(address)
    const found = await divided.get(address, division)
    return found === null && hasEarlier ? whole.get(address) : found
  }
  return {
    get,
    async owner(kind, partition, unique) {
      const { statement, params } = selectRow(wholePlace({ kind, partition }), 'unique', unique)
      const [row] = await client.read(statement, params)
      const key = ownerIn(row)
      const document = key === null ? null : await get({ kind, partition, key })
      // The entry may have been given to another document between the two reads.
      return document?.unique.some((entry) => isSame(entry, unique)) ? document : null
    },
    async list(range) {
      const division = kinds[range.kind]
      if (division === undefined) return mergedPage([await list(client, range, isServed)], range)
      const earlier = hasEarlier ? [list(client, range, isServed)] : []
      return mergedPage(await Promise.all([divided.list(range, division), ...earlier]), range)
    },
    async put(row, before) {
      const division = kinds[row.address.kind]
      if (division === undefined || (await isEarlier(row.address))) return whole.put(row, before)
      return divided.put(row, before, division)
    },
    async delete(before) {
      const division = kinds[before.address.kind]
      const isDeleted =
        division === undefined || (await isEarlier(before.address))
          ? await whole.delete(before)
          : await divided.delete(before, division)
      if (isDeleted) await hot.delete(before)
      return isDeleted
    },
    putFenced: (document, token, value) => hot.put(document, token, value),
    fence: (document, token) => hot.fence(document, token),
    fenced: (documents) => hot.of(documents),
    ...histories(client)
  }
}

/** Reads until the page is full: expired entries and documents take no place in it. */
async function list(
  client: CqlClient,
  range: DocumentRange,
  isServed: (row: DocumentRow) => boolean
): Promise<ListedPage> {
  const { kind, partition, order, limit } = range
  const section = range.of === 'keys' ? 'document' : 'entry'
  const found: ListedDocument[] = []
  let [gte, lt] = [rowOf(section, range.gte), rowOf(section, range.lt)]
  while (Buffer.compare(gte, lt) < 0) {
    // One more than the page has shows whether there is a next one.
    const count = limit + 1 - found.length
    const statement = order === 'asc' ? SELECT_ASC : SELECT_DESC
    const rows = await client.read(statement, [kind, partition, gte, lt, count])
    for (const each of await documentsOf(client, range, rows)) if (isServed(each.row)) found.push(each)
    if (found.length > limit) return { listed: found.slice(0, limit), hasMore: true }
    if (rows.length < count) break
    const last = rows.at(-1)!['row'] as Buffer
    if (order === 'asc') gte = Buffer.concat([last, Buffer.of(0)])
    else lt = last
  }
  return { listed: found, hasMore: false }
}

/** The documents of rows, with the key or entry that each was found at; without those that are gone meanwhile. */
async function documentsOf(
  client: CqlClient,
  range: DocumentRange,
  rows: readonly CqlRow[]
): Promise<ListedDocument[]> {
  const { kind, partition } = range
  const at = (row: CqlRow): Uint8Array => new Uint8Array((row['row'] as Buffer).subarray(1))
  if (range.of === 'keys')
    return rows.flatMap((row) => {
      const document = documentIn({ kind, partition, key: at(row) }, row)
      return document === null ? [] : [{ row: document, at: document.address.key }]
    })
  const entries = rows.map((row) => ({ at: at(row), key: ownerIn(row) }))
  const owned = entries.flatMap(({ at, key }) => (key === null ? [] : [{ at, key }]))
  const params = owned.map(({ key }) => [kind, partition, rowOf('document', key)])
  const answers = await client.readEach(wholePlace(range).statements.select, params)
  return owned.flatMap(({ at, key }, i) => {
    const document = documentIn({ kind, partition, key }, answers[i]![0])
    const isListed = document?.entries.some((entry) => isSame(entry, at)) ?? false
    return isListed ? [{ row: document!, at }] : []
  })
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(blob(a), blob(b)) === 0
