import type {
  DocumentAddress,
  DocumentRange,
  DocumentRow,
  DocumentRowPage,
  DocumentStore,
  HistoryKind,
  HistoryRow,
  HotValue,
  NewDocumentRow,
  NewHistoryRow,
  Refusal
} from '../../../storage/document-store.ts'
import { ERRORS, ServiceError } from '../../../src/kernel/errors.ts'

const nameOf = ({ kind, partition, key }: DocumentAddress): string =>
  `${kind} ${partition} ${Buffer.from(key).toString('hex')}`

/** The hot values of a document: one for each token, as on a cluster. */
class HotRows {
  #token = 0
  readonly #values = new Map<number, string>()

  fence(token: number): void {
    this.#token = Math.max(this.#token, token)
  }

  /** Puts a value under a token that has no value yet. */
  carry(token: number, value: string): void {
    if (!this.#values.has(token)) this.#values.set(token, value)
  }

  put(token: number, value: string): void {
    this.fence(token)
    this.#values.set(token, value)
  }

  get value(): HotValue {
    return { token: this.#token, value: this.#values.get(Math.max(...this.#values.keys())) ?? null }
  }
}

/** Documents in memory, as the port says, without expiry. It can be unavailable. */
export class MemoryDocuments implements DocumentStore {
  isAway = false
  /** Writes of hot values so far. */
  hotWrites = 0
  readonly #rows = new Map<string, DocumentRow>()
  /** Called with each call for hot values, which waits for it. */
  onHot: ((what: 'fence' | 'put' | 'read') => Promise<void>) | null = null
  readonly #hot = new Map<string, HotRows>()
  /** The newest row of an owner first. */
  readonly #histories = new Map<string, HistoryRow[]>()

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

  async put(
    { ttlMs, isScratch: _, ...row }: NewDocumentRow,
    before: DocumentRow | null
  ): Promise<DocumentRow | Refusal> {
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

  async fence(document: DocumentRow, token: number): Promise<HotValue> {
    this.#answer()
    const rows = this.#hotRows(document.address)
    rows.fence(token)
    await this.onHot?.('fence')
    const [hot] = await this.fenced([document])
    if (hot!.token === token && hot!.value !== null) {
      rows.carry(token, hot!.value)
      await this.onHot?.('fence')
    }
    return hot!
  }

  async putFenced({ address }: DocumentRow, token: number, value: string): Promise<void> {
    this.#answer()
    this.hotWrites++
    this.#hotRows(address).put(token, value)
    await this.onHot?.('put')
  }

  async fenced(documents: readonly DocumentRow[]): Promise<HotValue[]> {
    this.#answer()
    const values = documents.map(({ address }) => this.#hotRows(address).value)
    await this.onHot?.('read')
    return values
  }

  async append({ kind }: HistoryKind, rows: readonly NewHistoryRow[]): Promise<void> {
    this.#answer()
    for (const { owner, key, value } of rows) {
      const history = this.#historyOf(kind, owner)
      if (!history.some((row) => Buffer.compare(row.key, key) === 0)) history.push({ key, value })
      history.sort((a, b) => Buffer.compare(b.key, a.key))
    }
  }

  async newest({ kind }: HistoryKind, owner: string, limit: number): Promise<HistoryRow[]> {
    this.#answer()
    return this.#historyOf(kind, owner).slice(0, limit)
  }

  async deleteUpTo({ kind }: HistoryKind, owner: string, key: Uint8Array | null): Promise<void> {
    this.#answer()
    const left = this.#historyOf(kind, owner).filter(
      (row) => key !== null && Buffer.compare(row.key, key) > 0
    )
    this.#histories.set(`${kind} ${owner}`, left)
  }

  #historyOf(kind: string, owner: string): HistoryRow[] {
    const rows = this.#histories.get(`${kind} ${owner}`) ?? []
    this.#histories.set(`${kind} ${owner}`, rows)
    return rows
  }

  #hotRows(address: DocumentAddress): HotRows {
    const name = nameOf(address)
    const rows = this.#hot.get(name) ?? new HotRows()
    this.#hot.set(name, rows)
    return rows
  }

  #answer(): void {
    if (this.isAway) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store is away')
  }
}
