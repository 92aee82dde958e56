import { rowOf } from '../codec/document-record-keys.ts'
import type {
  DocumentAddress,
  DocumentHeader,
  DocumentRange,
  DocumentRow,
  DocumentRowPage,
  DocumentStore
} from '../document-store.ts'
import { blob } from './client.ts'
import type { CqlClient, CqlRow } from './client.ts'
import type { ConditionalWrites } from './conditional-writes.ts'
import { DocumentChange } from './document-change.ts'
import { documentIn, ownerIn, SELECT_ROW, selectRow } from './document-rows.ts'
import type { HotValues } from './hot-values.ts'

const SELECT_RANGE = `SELECT row, document, owner FROM documents WHERE kind = ? AND part = ? AND row >= ? AND row < ?`
const SELECT_ASC = `${SELECT_RANGE} LIMIT ?`
const SELECT_DESC = `${SELECT_RANGE} ORDER BY row DESC LIMIT ?`

type Partition = Pick<DocumentAddress, 'kind' | 'partition'>

/** Documents in one table, each with its entries in its partition. */
export function documentStore(client: CqlClient, writes: ConditionalWrites, hot: HotValues): DocumentStore {
  const isServed = ({ expiresAtMs }: DocumentHeader): boolean =>
    expiresAtMs === null || client.now() < expiresAtMs
  const served = (row: DocumentRow | null): DocumentRow | null => (row !== null && isServed(row) ? row : null)
  const get = async (address: DocumentAddress): Promise<DocumentRow | null> => {
    const { statement, params } = selectRow(address, 'document', address.key)
    const [row] = await client.read(statement, params)
    return served(documentIn(address, row))
  }
  return {
    get,
    async owner(kind, partition, unique) {
      const { statement, params } = selectRow({ kind, partition }, 'unique', unique)
      const [row] = await client.read(statement, params)
      const key = ownerIn(row)
      const document = key === null ? null : await get({ kind, partition, key })
      // The entry may have been given to another document between the two reads.
      return document?.unique.some((entry) => isSame(entry, unique)) ? document : null
    },
    list: (range) => list(client, range, isServed),
    put: (row, before) =>
      writes.run(queueOf(row.address), () =>
        new DocumentChange(client, row.address, isServed).put(row, before)
      ),
    async delete(before) {
      const isDeleted = await writes.run(queueOf(before.address), () =>
        new DocumentChange(client, before.address, isServed).delete(before)
      )
      if (isDeleted) await hot.delete(before)
      return isDeleted
    },
    putFenced: (document, token, value) => hot.put(document, token, value),
    fence: (document, token) => hot.fence(document, token),
    fenced: (documents) => hot.of(documents)
  }
}

/** Reads until the page is full: expired entries and documents take no place in it. */
async function list(
  client: CqlClient,
  range: DocumentRange,
  isServed: (row: DocumentRow) => boolean
): Promise<DocumentRowPage> {
  const { kind, partition, order, limit } = range
  const section = range.of === 'keys' ? 'document' : 'entry'
  const found: { readonly row: DocumentRow; readonly at: Uint8Array }[] = []
  let [gte, lt] = [rowOf(section, range.gte), rowOf(section, range.lt)]
  while (Buffer.compare(gte, lt) < 0) {
    // One more than the page has shows whether there is a next one.
    const count = limit + 1 - found.length
    const statement = order === 'asc' ? SELECT_ASC : SELECT_DESC
    const rows = await client.read(statement, [kind, partition, gte, lt, count])
    for (const each of await documentsOf(client, range, rows)) if (isServed(each.row)) found.push(each)
    if (found.length > limit) {
      const page = found.slice(0, limit)
      return { rows: page.map(({ row }) => row), last: page.at(-1)!.at }
    }
    if (rows.length < count) break
    const last = rows.at(-1)!['row'] as Buffer
    if (order === 'asc') gte = Buffer.concat([last, Buffer.of(0)])
    else lt = last
  }
  return { rows: found.map(({ row }) => row), last: null }
}

/** The documents of rows, with the key or entry that each was found at; without those that are gone meanwhile. */
async function documentsOf(
  client: CqlClient,
  range: DocumentRange,
  rows: readonly CqlRow[]
): Promise<{ row: DocumentRow; at: Uint8Array }[]> {
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
  const answers = await client.readEach(SELECT_ROW, params)
  return owned.flatMap(({ at, key }, i) => {
    const document = documentIn({ kind, partition, key }, answers[i]![0])
    const isListed = document?.entries.some((entry) => isSame(entry, at)) ?? false
    return isListed ? [{ row: document!, at }] : []
  })
}

const queueOf = ({ kind, partition }: Partition): string => JSON.stringify([kind, partition])

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(blob(a), blob(b)) === 0
