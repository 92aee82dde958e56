import type { DocumentHeader } from '../document-store.ts'
import { ServiceError } from '../../src/errors.ts'
import { blob } from './client.ts'
import type { CqlClient } from './client.ts'
import { ttlSecondsOf } from './document-rows.ts'

const WHERE = 'kind = ? AND part = ? AND key = ? AND born = ?'
const PUT = `UPDATE document_hot USING TTL ? AND TIMESTAMP ? SET value = ? WHERE ${WHERE} AND fence = ?`
const SELECT = `SELECT fence, value FROM document_hot WHERE ${WHERE} LIMIT 2`
const DELETE = `DELETE FROM document_hot WHERE ${WHERE}`
const DELETE_OLDER = `${DELETE} AND fence < ?`
/** Writes under way at most; further ones are refused. Chosen: five seconds of 2,000 a second. */
const WRITING_MAX = 10_000
/** Bytes of a statement's values besides the hot value, estimated. */
const KEY_BYTES = 200

/**
 * Hot values of documents. Each fencing token has a row of its own, and the one of the greatest token is read: a writer that
 * has lost its lease writes a row that nobody reads. Under one token the times of writes follow the order of the calls.
 */
export class HotValues {
  readonly #client: CqlClient
  /** Microseconds: the time of the newest write. */
  #writtenAt = 0
  #writing = 0

  constructor(client: CqlClient) {
    this.#client = client
  }

  /** Stores a value under a token. */
  async put(document: DocumentHeader, token: number, value: string): Promise<void> {
    this.#client.assertOpen()
    if (this.#writing >= WRITING_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', `${WRITING_MAX} writes of hot values are under way`)
    this.#writtenAt = Math.max(this.#writtenAt + 1, this.#client.now() * 1_000)
    const ttl = ttlSecondsOf(document.expiresAtMs, this.#client.now())
    const params = [ttl, BigInt(this.#writtenAt), value, ...keyOf(document), BigInt(token)]
    this.#writing++
    try {
      await this.#client.write([{ statement: PUT, params, bytes: KEY_BYTES + value.length }])
    } finally {
      this.#writing--
    }
  }

  /** The values of documents, in their order; null where there is none. Rows of older tokens are deleted by the way. */
  async of(documents: readonly DocumentHeader[]): Promise<(string | null)[]> {
    const answers = await this.#client.readEach(SELECT, documents.map(keyOf))
    const outdated = documents.flatMap((document, i) => (answers[i]!.length > 1 ? [{ document, i }] : []))
    for (const { document, i } of outdated)
      await this.#forget(DELETE_OLDER, [...keyOf(document), answers[i]![0]!['fence']])
    return answers.map(([row]) => (row?.['value'] as string | null | undefined) ?? null)
  }

  /** Deletes the values of a document that is gone. One that is written later is an orphan. */
  delete(document: DocumentHeader): Promise<void> {
    return this.#forget(DELETE, keyOf(document))
  }

  /** Nobody reads what is deleted here, so that it may fail. */
  async #forget(statement: string, params: readonly unknown[]): Promise<void> {
    await this.#client.write([{ statement, params, bytes: KEY_BYTES }]).catch(() => undefined)
  }
}

const keyOf = ({ address, born }: DocumentHeader): unknown[] => [
  address.kind,
  address.partition,
  blob(address.key),
  born
]
