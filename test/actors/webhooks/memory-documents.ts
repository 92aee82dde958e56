import type {
  DocumentAddress,
  DocumentRange,
  DocumentRow,
  DocumentRowPage,
  DocumentStore,
  NewDocumentRow,
  Refusal
} from '../../../storage/document-store.ts'
import { ServiceError } from '../../../src/errors.ts'

const nameOf = ({ kind, partition, key }: DocumentAddress): string =>
  `${kind} ${partition} ${Buffer.from(key).toString('hex')}`

/** Documents in memory, as the port says, without expiry. It can be unavailable. */
export class MemoryDocuments implements DocumentStore {
  isAway = false
  /** Writes of hot values so far. */
  hotWrites = 0
  readonly #rows = new Map<string, DocumentRow>()
  readonly #hot = new Map<string, { readonly token: number; readonly value: string }>()

  async get(address: DocumentAddress): Promise<DocumentRow | null> {
    this.#answer()
    return this.#rows.get(nameOf(address)) ?? null
  }

  async owner(kind: string, partition: string, unique: Uint8Array): Promise<DocumentRow | null> {
    this.#answer()
    const owns = ({ address, unique: own }: DocumentRow): boolean =>
      address.kind === kind &&
      address.partition === partition &&
      own.some((each) => Buffer.compare(each, unique) === 0)
    return [...this.#rows.values()].find(owns) ?? null
  }

  async list({ kind, partition, of, gte, lt, order, limit }: DocumentRange): Promise<DocumentRowPage> {
    this.#answer()
    const rows = [...this.#rows.values()]
      .filter(({ address }) => address.kind === kind && address.partition === partition)
      .flatMap((row) => (of === 'keys' ? [row.address.key] : row.entries).map((at) => ({ at, row })))
      .filter(({ at }) => Buffer.compare(at, gte) >= 0 && Buffer.compare(at, lt) < 0)
      .sort((a, b) => Buffer.compare(a.at, b.at) * (order === 'asc' ? 1 : -1))
    const page = rows.slice(0, limit)
    return { rows: page.map(({ row }) => row), last: rows.length > limit ? page.at(-1)!.at : null }
  }

  async put({ ttlMs, ...row }: NewDocumentRow, before: DocumentRow | null): Promise<DocumentRow | Refusal> {
    this.#answer()
    const stored = this.#rows.get(nameOf(row.address))
    if (before === null && stored !== undefined) return 'exists'
    if (before !== null && stored?.version !== before.version) return 'changed'
    const written = { ...row, expiresAtMs: ttlMs === null ? null : Infinity }
    this.#rows.set(nameOf(row.address), written)
    return written
  }

  async delete({ address, version }: DocumentRow): Promise<boolean> {
    this.#answer()
    if (this.#rows.get(nameOf(address))?.version !== version) return false
    this.#hot.delete(nameOf(address))
    return this.#rows.delete(nameOf(address))
  }

  async putFenced({ address }: DocumentRow, token: number, value: string): Promise<void> {
    this.#answer()
    this.hotWrites++
    if ((this.#hot.get(nameOf(address))?.token ?? 0) <= token)
      this.#hot.set(nameOf(address), { token, value })
  }

  async fenced(documents: readonly DocumentRow[]): Promise<(string | null)[]> {
    this.#answer()
    return documents.map(({ address }) => this.#hot.get(nameOf(address))?.value ?? null)
  }

  #answer(): void {
    if (this.isAway) throw new ServiceError('STORAGE_UNAVAILABLE', 'the store is away')
  }
}
