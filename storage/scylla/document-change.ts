import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { documentKind } from '../codec/document.ts'
import { documentRecordKey, rowOf } from '../codec/document-record-keys.ts'
import type { Section } from '../codec/document-record-keys.ts'
import { packRecord } from '../codec/record.ts'
import { TRAIL_MAX } from '../document-store.ts'
import type {
  DocumentAddress,
  DocumentHeader,
  DocumentRow,
  NewDocumentRow,
  Refusal
} from '../document-store.ts'
import { blob } from './client.ts'
import type { CqlClient, CqlStatement } from './client.ts'
import { readSettled } from './conditional-writes.ts'
import { wholePlace, type DocumentPlace } from './document-place.ts'
import { documentIn, ownerIn, selectRow, ttlSecondsOf } from './document-rows.ts'
import { isOutage, lostAnswer, refused } from './errors.ts'

/** Maximum attempts of a change that another process's change overtook, or that had no answer. */
const TRIES = 10

/** Another document that has a unique entry; null if it is gone and the entry was left. */
interface Owner {
  readonly entry: string
  readonly key: Uint8Array
  readonly document: DocumentRow | null
}

/**
 * A change of one document: one conditional batch of its partition, with its entries if they are rows of it. If the answer is lost, the stored
 * document tells whether the change was done: each write has a unique version, and leaves it in the trail.
 */
export class DocumentChange {
  readonly #client: CqlClient
  readonly #address: DocumentAddress
  readonly #isServed: (row: DocumentHeader) => boolean
  readonly #place: DocumentPlace
  /** The error of a try whose outcome is unknown. */
  #lost: unknown = null

  constructor(
    client: CqlClient,
    address: DocumentAddress,
    isServed: (row: DocumentHeader) => boolean,
    place: DocumentPlace = wholePlace(address)
  ) {
    this.#client = client
    this.#address = address
    this.#isServed = isServed
    this.#place = place
  }

  /** Implements DocumentStore.put. Rejects with UnknownOutcome if it may have been done. */
  put(row: NewDocumentRow, before: DocumentHeader | null): Promise<DocumentRow | Refusal> {
    return this.#known(() => this.#put(row, before))
  }

  /**
   * Implements DocumentStore.delete. Rejects with UnknownOutcome if it may have been done. A document that is gone after a
   * lost answer counts as deleted here.
   */
  delete(before: DocumentHeader): Promise<boolean> {
    return this.#known(() => this.#delete(before))
  }

  /**
   * Once an answer is lost, a later error leaves the outcome unknown, such as the error of the read that searches for it.
   */
  async #known<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change()
    } catch (error) {
      throw this.#lost === null ? error : lostAnswer(this.#lost)
    }
  }

  async #put(
    { ttlMs, isScratch: _, ...rest }: NewDocumentRow,
    before: DocumentHeader | null
  ): Promise<DocumentRow | Refusal> {
    if (before !== null && !this.#isServed(before)) return 'changed'
    const row = { ...rest, expiresAtMs: ttlMs === null ? null : this.#client.now() + ttlMs }
    let replaced = before
    let expired: readonly Owner[] = []
    for (let tries = 0; tries < TRIES; tries++) {
      if (await this.#isDone(this.#putting(row, replaced, expired))) return row
      const stored = await this.#stored(this.#address)
      if (stored?.version === row.version || stored?.trail.includes(row.version)) return row
      if (before !== null && stored?.version !== before.version)
        return this.#overtaken(stored, before.version)
      if (before === null && stored !== null && this.#isServed(stored)) return this.#overtaken(stored, null)
      if (before === null) replaced = stored
      expired = await this.#owners(row)
      if (expired.some(({ document }) => document !== null && this.#isServed(document))) return 'taken'
    }
    throw this.#abandoned()
  }

  async #delete(before: DocumentHeader): Promise<boolean> {
    if (!this.#isServed(before)) return false
    for (let tries = 0; tries < TRIES; tries++) {
      if (await this.#isDone(this.#deleting(before))) return true
      const stored = await this.#stored(this.#address)
      if (stored?.version === before.version) continue
      return this.#lost !== null && stored?.born !== before.born
    }
    throw this.#abandoned()
  }

  /** Returns false also if the outcome is unknown: the caller reads it. */
  async #isDone(statements: readonly CqlStatement[]): Promise<boolean> {
    try {
      return (await this.#client.conditional(statements)).applied
    } catch (error) {
      if (!isOutage(error)) throw refused(error)
      this.#lost = error
      return false
    }
  }

  /**
   * The refusal of a change that was overtaken. If answers were lost and the trail no longer reaches back to the version, it
   * is unknown whether this change was done.
   */
  #overtaken(stored: DocumentRow | null, version: string | null): Refusal {
    const isKnown =
      stored === null ||
      stored.trail.length < TRAIL_MAX ||
      (version !== null && stored.trail.includes(version))
    if (this.#lost !== null && !isKnown) throw lostAnswer(this.#lost)
    return version === null ? 'exists' : 'changed'
  }

  #abandoned(): ServiceError {
    return new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `other processes keep changing the ${this.#address.kind}`
    )
  }

  async #stored(address: DocumentAddress): Promise<DocumentRow | null> {
    const [row] = await readSettled(this.#client, selectRow(this.#place, 'document', address.key))
    return documentIn(address, row)
  }

  /** Other documents that have the unique entries of one. */
  async #owners({ unique }: DocumentRow): Promise<Owner[]> {
    const owners: Owner[] = []
    for (const entry of unique) {
      const [row] = await readSettled(this.#client, selectRow(this.#place, 'unique', entry))
      const key = ownerIn(row)
      if (key === null || Buffer.compare(key, this.#address.key) === 0) continue
      const document = await this.#stored({ ...this.#address, key })
      owners.push({ entry: textOf(rowOf('unique', entry)), key, document })
    }
    return owners
  }

  /** The batch that stores a row in place of one, and of others that have expired and own its unique entries. */
  #putting(row: DocumentRow, replaced: DocumentHeader | null, owners: readonly Owner[]): CqlStatement[] {
    const { address, version, entries, unique, expiresAtMs } = row
    const ttl = ttlSecondsOf(expiresAtMs, this.#client.now())
    const packed = packRecord(documentKind, documentRecordKey(address, 'document', address.key), row)
    // One may own several of the entries.
    const expired = [
      ...new Map(
        owners.flatMap(({ document }) => (document === null ? [] : [[document.version, document]]))
      ).values()
    ]
    const outdated = [...(replaced === null ? [] : [replaced]), ...expired].flatMap(rowsOf)
    const kept = new Set(rowsOf(row).map(textOf))
    const keys = new Map(owners.map(({ entry, key }) => [entry, blob(key)]))
    for (const entry of replaced?.unique ?? []) keys.set(textOf(rowOf('unique', entry)), blob(address.key))
    const at = this.#at('document', address.key)
    const { statements, hasEntries } = this.#place
    const put = {
      statement: statements.put,
      params: [ttl, version, Buffer.from(packed), ...at, replaced?.version ?? null]
    }
    if (!hasEntries) return [put]
    return [
      put,
      ...expired.map((other) => this.#deletingIf(other)),
      ...outdated
        .filter((entry) => !kept.has(textOf(entry)))
        .map((entry) => ({ statement: statements.deleteEntry, params: this.#atRow(entry) })),
      ...entries.map((entry) => ({
        statement: statements.putEntry,
        params: [ttl, blob(address.key), ...this.#at('entry', entry)]
      })),
      ...unique.map((entry) => {
        const owner = keys.get(textOf(rowOf('unique', entry))) ?? null
        return {
          statement: statements.takeEntry,
          params: [ttl, blob(address.key), ...this.#at('unique', entry), owner]
        }
      })
    ]
  }

  #deleting(before: DocumentHeader): CqlStatement[] {
    const { statements, hasEntries } = this.#place
    const entries = hasEntries ? rowsOf(before) : []
    return [
      this.#deletingIf(before),
      ...entries.map((entry) => ({ statement: statements.deleteEntry, params: this.#atRow(entry) }))
    ]
  }

  #deletingIf({ address, version }: DocumentHeader): CqlStatement {
    return {
      statement: this.#place.statements.delete,
      params: [...this.#at('document', address.key), version]
    }
  }

  #at(section: Section, bytes: Uint8Array): unknown[] {
    return this.#atRow(rowOf(section, bytes))
  }

  #atRow(row: Buffer): unknown[] {
    return [...this.#place.partition, row]
  }
}

/** The rows of a document's entries. */
const rowsOf = ({ entries, unique }: DocumentHeader): Buffer[] => [
  ...entries.map((entry) => rowOf('entry', entry)),
  ...unique.map((entry) => rowOf('unique', entry))
]

const textOf = (row: Buffer): string => row.toString('latin1')
