import { SecondChanceCache } from '../../src/kernel/memory/second-chance-cache.ts'
import { decodeNumber, decodeText, partEnd } from '../codec/document-key.ts'
import { documentRecordKey } from '../codec/document-record-keys.ts'
import type { DocumentAddress, DocumentHeader, DocumentRange } from '../document-store.ts'
import { blob, mapBounded, type CqlClient, type CqlRow } from './client.ts'
import type { DividedList, Division } from './divided-kinds.ts'
import { ownerIn } from './document-rows.ts'
import type { RowWrite } from './row-write.ts'

const INSERT =
  'INSERT INTO document_entries (list, bucket, entry, version, owner) VALUES (?, ?, ?, ?, ?) USING TTL ?'
const DELETE = 'DELETE FROM document_entries WHERE list = ? AND bucket = ? AND entry = ? AND version = ?'
const INSERT_BUCKET = 'INSERT INTO document_entries_buckets (list, bucket) VALUES (?, ?) USING TTL ?'
const IN_BUCKET =
  'SELECT entry, owner FROM document_entries WHERE list = ? AND bucket = ? AND entry >= ? AND entry < ?'
const OF_LIST = 'SELECT bucket FROM document_entries_buckets WHERE list = ? AND bucket >= ? AND bucket <= ?'
const SELECT = {
  asc: { entries: IN_BUCKET, buckets: OF_LIST },
  desc: {
    entries: `${IN_BUCKET} ORDER BY entry DESC, version DESC`,
    buckets: `${OF_LIST} ORDER BY bucket DESC`
  }
} as const

/** The first and the last bucket that there can be: the numbers of a 64-bit column. */
const FIRST = -(2n ** 63n)
const LAST = 2n ** 63n - 1n
/** Buckets of an answer: four days of hours. */
const BUCKETS_PER_READ = 100
/** Buckets that are read at once. A busy list ends in its first; one with a few entries a day takes a round trip for eight. */
const BUCKETS_AT_ONCE = 8
const WRITES_AT_ONCE = 8
/** Estimated bytes of the buckets that are known to be in the index. */
const MARKED_BYTES_MAX = 4 * 2 ** 20
/** A bucket is marked again after this time, for as long as its newest entries live. */
const MARKED_MS = 3_600_000
/** Seconds that an entry outlives its document: its time begins before the document's. */
const OUTLIVES_SECONDS = 3_600
/** Bytes of an entry's version and columns on the wire, estimated. */
const ROW_BYTES = 60

/** An entry of a list, and the key of the document that it names. */
export interface FoundEntry {
  readonly at: Uint8Array
  readonly key: Uint8Array
}

/** The partition of an entry. */
interface EntryPlace {
  readonly list: Buffer
  readonly bucket: bigint
}

/**
 * Entries of the ordered lists of divided kinds.
 *
 * E1. Entries are written before their document, and deleted after it. So a list lacks no stored document.
 * E2. An entry counts only if the stored document has it. So entries that a crash has left do no harm; they expire with the
 *     time of their kind.
 * E3. An entry has the version of its document. So a late deletion deletes no entry of a later version.
 */
export class DocumentEntries {
  readonly #client: CqlClient
  /** Unix milliseconds at which buckets were marked. */
  readonly #marked = new SecondChanceCache<number>(MARKED_BYTES_MAX)

  constructor(client: CqlClient) {
    this.#client = client
  }

  /** Writes the entries of a document that is about to be stored. `ttlSeconds` is that of the document; 0 for none. */
  async put(document: DocumentHeader, division: Division, ttlSeconds: number): Promise<void> {
    const ttl = ttlSeconds === 0 ? 0 : ttlSeconds + OUTLIVES_SECONDS
    const { address, version } = document
    const now = this.#client.now()
    const writes: RowWrite[] = []
    const marks = new Map<string, RowWrite>()
    for (const { place, entry } of entriesOf(document, division)) {
      const { list, bucket } = place
      const bytes = ROW_BYTES + list.length + entry.length
      writes.push({
        statement: INSERT,
        params: [list, bucket, blob(entry), version, blob(address.key), ttl],
        bytes: bytes + address.key.length
      })
      const name = nameOf(place)
      if (now - (this.#marked.get(name) ?? -Infinity) < MARKED_MS) continue
      const outlives = ttl === 0 ? 0 : ttl + (2 * MARKED_MS) / 1_000
      marks.set(name, { statement: INSERT_BUCKET, params: [list, bucket, outlives], bytes })
    }
    await this.#write([...writes, ...marks.values()])
    for (const name of marks.keys()) this.#marked.set(name, now, name.length)
  }

  /** Deletes the entries of a version that is no longer stored. They do no harm, so the deletion may fail. */
  async drop(document: DocumentHeader, division: Division): Promise<void> {
    const writes = entriesOf(document, division).map(({ place: { list, bucket }, entry }) => ({
      statement: DELETE,
      params: [list, bucket, blob(entry), document.version],
      bytes: ROW_BYTES + list.length + entry.length
    }))
    await this.#write(writes).catch(() => undefined)
  }

  /** Yields the entries of a range in its order. An entry may come twice, and its document may be gone or have changed. */
  async *in(range: DocumentRange, division: Division, size: number): AsyncGenerator<readonly FoundEntry[]> {
    const { list, low, high } = bucketsOf(range, division)
    const select = SELECT[range.order]
    const scan = (bucket: bigint): AsyncGenerator<CqlRow[], void> =>
      this.#client.pages(select.entries, [list, bucket, blob(range.gte), blob(range.lt)], size)
    if (low === high) {
      for await (const rows of scan(low)) yield found(rows)
      return
    }
    let atOnce = 1
    for await (const rows of this.#client.pages(select.buckets, [list, low, high], BUCKETS_PER_READ)) {
      const buckets = rows.map((row) => row['bucket'] as bigint)
      for (
        let from = 0;
        from < buckets.length;
        from += atOnce, atOnce = Math.min(atOnce * 2, BUCKETS_AT_ONCE)
      ) {
        const scans = buckets.slice(from, from + atOnce).map(scan)
        const firsts = await Promise.all(scans.map(async (each) => each.next()))
        for (const [i, first] of firsts.entries()) {
          if (first.done === true) continue
          yield found(first.value)
          for await (const more of scans[i]!) yield found(more)
        }
      }
    }
  }

  /** Each entry is of another partition, or nearly each. */
  async #write(writes: readonly RowWrite[]): Promise<void> {
    await mapBounded(writes, WRITES_AT_ONCE, async (write) => this.#client.write([write]))
  }
}

const found = (rows: readonly CqlRow[]): FoundEntry[] =>
  rows.flatMap((row) => {
    const key = ownerIn(row)
    return key === null ? [] : [{ at: new Uint8Array(row['entry'] as Buffer), key }]
  })

/** The entries of a document: those of its indexes, and its key if the kind is listed by key. */
function entriesOf(
  { address, entries }: DocumentHeader,
  division: Division
): { readonly place: EntryPlace; readonly entry: Uint8Array }[] {
  const all = entries.map((entry) => ({ place: placeOf(address, 'entries', entry, division), entry }))
  if (division.lists['keys'] === undefined) return all
  return [...all, { place: placeOf(address, 'keys', address.key, division), entry: address.key }]
}

/** Throws RangeError for an entry that is not of the form which the division states. */
function placeOf(
  address: Pick<DocumentAddress, 'kind' | 'partition'>,
  of: DocumentRange['of'],
  entry: Uint8Array,
  division: Division
): EntryPlace {
  const { list, layout, end } = listOf(address, of, entry, division)
  if (layout.width === null) return { list, bucket: 0n }
  const number = decodeNumber(entry, end)
  if (number === null) throw new RangeError(`an entry of a ${address.kind} has no number after its owner`)
  return { list, bucket: bucketAt(number, layout.width) }
}

/** The list of a range, and its first and last bucket. Throws RangeError for a query that does not state its owner. */
function bucketsOf(
  range: DocumentRange,
  division: Division
): { readonly list: Buffer; readonly low: bigint; readonly high: bigint } {
  const { list, layout, end } = listOf(range, range.of, range.gte, division)
  if (layout.width === null) return { list, low: 0n, high: 0n }
  const [from, to] = [decodeNumber(range.gte, end), decodeNumber(range.lt, end)]
  return {
    list,
    low: from === null ? FIRST : bucketAt(from, layout.width),
    high: to === null ? LAST : bucketAt(to, layout.width)
  }
}

function listOf(
  { kind, partition }: Pick<DocumentAddress, 'kind' | 'partition'>,
  of: DocumentRange['of'],
  bytes: Uint8Array,
  { lists }: Division
): { readonly list: Buffer; readonly layout: DividedList; readonly end: number } {
  const index = of === 'keys' ? { text: 'keys', end: 0 } : decodeText(bytes, 0)
  const layout = lists[index.text]
  if (layout === undefined) throw new RangeError(`a ${kind} has no list ${index.text}`)
  let { end } = index
  for (let parts = 0; parts < layout.owner; parts++) end = partEnd(bytes, end)
  const section = of === 'keys' ? 'document' : 'entry'
  return { list: documentRecordKey({ kind, partition }, section, bytes.subarray(0, end)), layout, end }
}

const bucketAt = (number: number, width: number): bigint => BigInt(Math.floor(number / width))

const nameOf = ({ list, bucket }: EntryPlace): string => `${bucket} ${list.toString('latin1')}`
