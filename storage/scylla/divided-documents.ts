import { rowOf } from '../codec/document-record-keys.ts'
import type {
  DocumentAddress,
  DocumentHeader,
  DocumentRange,
  DocumentRow,
  DocumentRowPage,
  NewDocumentRow,
  Refusal
} from '../document-store.ts'
import type { CqlClient } from './client.ts'
import type { ConditionalWrites } from './conditional-writes.ts'
import { shareOf, type Division } from './divided-kinds.ts'
import { DocumentChange } from './document-change.ts'
import { DocumentEntries, type FoundEntry } from './document-entries.ts'
import { sharedPlace } from './document-place.ts'
import { documentIn, selectRow, ttlSecondsOf } from './document-rows.ts'

/** Documents of kinds without a limit: each document in a share by its key, and its entries in lists of their own. */
export class DividedDocuments {
  readonly #client: CqlClient
  readonly #writes: ConditionalWrites
  readonly #entries: DocumentEntries
  readonly #isServed: (row: DocumentHeader) => boolean

  constructor(client: CqlClient, writes: ConditionalWrites, isServed: (row: DocumentHeader) => boolean) {
    this.#client = client
    this.#writes = writes
    this.#entries = new DocumentEntries(client)
    this.#isServed = isServed
  }

  async get(address: DocumentAddress, division: Division): Promise<DocumentRow | null> {
    const { statement, params } = selectRow(sharedPlace(address, division), 'document', address.key)
    const [row] = await this.#client.read(statement, params)
    const document = documentIn(address, row)
    return document !== null && this.#isServed(document) ? document : null
  }

  async put(
    row: NewDocumentRow,
    before: DocumentHeader | null,
    division: Division
  ): Promise<DocumentRow | Refusal> {
    const { address, ttlMs } = row
    if (row.unique.length > 0) throw new RangeError(`a ${address.kind} cannot have unique values`)
    const now = this.#client.now()
    const header: DocumentHeader = { ...row, expiresAtMs: ttlMs === null ? null : now + ttlMs }
    const place = sharedPlace(address, division)
    await this.#entries.put(header, division, ttlSecondsOf(header.expiresAtMs, now))
    const outcome = await this.#writes.run(place.queue, () =>
      new DocumentChange(this.#client, address, this.#isServed, place).put(row, before)
    )
    if (typeof outcome === 'string') await this.#entries.drop(header, division)
    else if (before !== null) await this.#entries.drop(before, division)
    return outcome
  }

  async delete(before: DocumentHeader, division: Division): Promise<boolean> {
    const place = sharedPlace(before.address, division)
    const isDeleted = await this.#writes.run(place.queue, () =>
      new DocumentChange(this.#client, before.address, this.#isServed, place).delete(before)
    )
    if (isDeleted) await this.#entries.drop(before, division)
    return isDeleted
  }

  /** Lists a page, with the entry that each document was found at. */
  async list(range: DocumentRange, division: Division): Promise<ListedPage> {
    const listed: ListedDocument[] = []
    for await (const entries of this.#entries.in(range, division, range.limit + 1))
      for (const each of await this.#documentsAt(entries, range, division)) {
        const last = listed.at(-1)
        // Two versions of a document may have the entry while one of them is deleted.
        if (last !== undefined && Buffer.compare(last.at, each.at) === 0) continue
        if (listed.length === range.limit) return { listed, hasMore: true }
        listed.push(each)
      }
    return { listed, hasMore: false }
  }

  /** The served documents that have entries, in the order of the entries. */
  async #documentsAt(
    entries: readonly FoundEntry[],
    { kind, partition, of }: DocumentRange,
    division: Division
  ): Promise<ListedDocument[]> {
    const [first] = entries
    if (first === undefined) return []
    const { statements } = sharedPlace({ kind, partition, key: first.key }, division)
    const params = entries.map(({ key }) => [kind, partition, shareOf(division, key), rowOf('document', key)])
    const answers = await this.#client.readEach(statements.select, params)
    return entries.flatMap(({ at, key }, i) => {
      const row = documentIn({ kind, partition, key }, answers[i]![0])
      if (row === null || !this.#isServed(row)) return []
      const isListed = of === 'keys' || row.entries.some((entry) => Buffer.compare(entry, at) === 0)
      return isListed ? [{ row, at }] : []
    })
  }
}

export interface ListedDocument {
  readonly row: DocumentRow
  readonly at: Uint8Array
}

export interface ListedPage {
  readonly listed: readonly ListedDocument[]
  readonly hasMore: boolean
}

/** Returns the page of a range of which documents are in several places, each of which has given a page of it. */
export function mergedPage(pages: readonly ListedPage[], { order, limit }: DocumentRange): DocumentRowPage {
  const sign = order === 'asc' ? 1 : -1
  const all = pages.flatMap(({ listed }) => listed).toSorted((a, b) => sign * Buffer.compare(a.at, b.at))
  const page = all.slice(0, limit)
  const hasMore = all.length > limit || pages.some((each) => each.hasMore)
  return { rows: page.map(({ row }) => row), last: hasMore ? (page.at(-1)?.at ?? null) : null }
}
