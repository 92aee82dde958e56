import { ServiceError } from '../../src/kernel/errors.ts'
import type { Clock } from '../../src/ports.ts'
import type { DocumentHeader, HotValue } from '../document-store.ts'
import { blob } from './client.ts'
import type { CqlClient } from './client.ts'
import { ttlSecondsOf } from './document-rows.ts'
import { batchesOf } from './row-write.ts'
import type { RowWrite } from './row-write.ts'

const WHERE = 'kind = ? AND part = ? AND key = ? AND born = ?'
const PUT = `UPDATE document_hot USING TTL ? AND TIMESTAMP ? SET value = ? WHERE ${WHERE} AND fence = ?`
const FENCE =
  'INSERT INTO document_hot (kind, part, key, born, fence) VALUES (?, ?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?'
/** All rows of a document: they are deleted once a greater token has a value. */
const SELECT = `SELECT fence, value FROM document_hot WHERE ${WHERE}`
const DELETE = `DELETE FROM document_hot WHERE ${WHERE}`
const DELETE_OLDER = `${DELETE} AND fence < ?`
/** Maximum writes that wait or are in flight: five seconds of 2,000 a second. Further ones are refused. */
const WRITING_MAX = 10_000
/**
 * Milliseconds that a write waits for others of its partition. Of 20 tenants with 100 writes a second each, five share a
 * request.
 */
const GATHER_MS = 50
/** Maximum requests in flight: blocks need the server, too. With 5 ms each, 1,600 partitions a second. */
const REQUESTS_MAX = 8
/**
 * Carried to a token if no value was stored, so that no value of a lesser token is read. No document's hot value is empty.
 */
const NO_VALUE = ''
/** Bytes of a statement's values besides the hot value, estimated. */
const KEY_BYTES = 200

/** Writes of one partition that wait, and the callers that wait for them. */
interface Gathering {
  /** By document and token: a later value takes the place of an earlier one. */
  readonly rows: Map<string, RowWrite>
  readonly callers: PromiseWithResolvers<void>
  size: number
}

/** A write to the row of a document and a token. A later write with an equal `place` replaces it. */
interface GatheredWrite {
  readonly place: 'value' | 'fence' | 'carried'
  readonly writeAt: (ttlSeconds: number, writtenAt: bigint) => RowWrite
}

/**
 * Hot values of documents. Each fencing token has a row of its own, and the value of the greatest token that has one is
 * read. So a writer that has lost its lease writes a row that is never read. A fence is a row that the value is carried to.
 *
 * Under one token the timestamps of writes follow the order of the calls. Writes of one partition share a batch: those that
 * come while earlier ones are in flight follow together.
 */
export class HotValues {
  readonly #client: CqlClient
  readonly #clock: Clock
  #gathering = new Map<string, Gathering>()
  /** Gathered writes that wait for a request. */
  readonly #queue: Gathering[] = []
  readonly #inFlight = new Set<Promise<void>>()
  #timer: unknown = null
  /** Microseconds: the time of the newest write. */
  #writtenAt = 0
  #writing = 0

  constructor(client: CqlClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** Stores a value under a token. */
  async put(document: DocumentHeader, token: number, value: string): Promise<void> {
    return this.#gather(document, token, putOf(document, token, value))
  }

  /**
   * Stores a token, and then the current value under it. A write of an earlier token is either read here, or comes after the
   * token was stored.
   */
  async fence(document: DocumentHeader, token: number): Promise<HotValue> {
    // Older than any value stored under the token from now on, so that it replaces none.
    const carriedAt = this.#nextTime()
    await this.#gather(document, token, {
      place: 'fence',
      writeAt: (ttl, at) => ({
        statement: FENCE,
        params: [...keyOf(document), BigInt(token), ttl, at],
        bytes: KEY_BYTES
      })
    })
    const [hot] = await this.#read([document])
    const { token: greatest, value, valueToken } = hot!
    if (valueToken < token && greatest === token) {
      const { writeAt } = putOf(document, token, value ?? NO_VALUE)
      await this.#gather(document, token, { place: 'carried', writeAt: (ttl) => writeAt(ttl, carriedAt) })
    }
    return { token: greatest, value }
  }

  async #gather(document: DocumentHeader, token: number, { place, writeAt }: GatheredWrite): Promise<void> {
    this.#client.assertOpen()
    if (this.#writing >= WRITING_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', `${WRITING_MAX} writes of hot values are under way`)
    const ttl = ttlSecondsOf(document.expiresAtMs, this.#client.now())
    const { kind, partition, key } = document.address
    const gathering = this.#gatheringOf(JSON.stringify([kind, partition]))
    // A fence must not replace a value, nor the other way round.
    const row = `${place} ${token} ${document.born} ${blob(key).toString('latin1')}`
    gathering.rows.set(row, writeAt(ttl, this.#nextTime()))
    gathering.size++
    this.#writing++
    this.#gatherOn()
    return gathering.callers.promise
  }

  /** The values of documents, in their order. */
  async of(documents: readonly DocumentHeader[]): Promise<HotValue[]> {
    return (await this.#read(documents)).map(({ token, value }) => ({ token, value }))
  }

  /** Reads values, each with the token that it is stored under. Also deletes the rows of earlier tokens. */
  async #read(documents: readonly DocumentHeader[]): Promise<(HotValue & { readonly valueToken: number })[]> {
    const answers = await this.#client.readEach(SELECT, documents.map(keyOf))
    const values: (HotValue & { readonly valueToken: number })[] = []
    for (const [i, rows] of answers.entries()) {
      const counts = rows.findIndex(({ value }) => value !== null)
      const row = rows[counts]
      if (row !== undefined && counts < rows.length - 1)
        await this.#forget(DELETE_OLDER, [...keyOf(documents[i]!), row['fence']])
      const value = (row?.['value'] as string | undefined) ?? NO_VALUE
      values.push({
        token: Number(rows[0]?.['fence'] ?? 0),
        value: value === NO_VALUE ? null : value,
        valueToken: Number(row?.['fence'] ?? 0)
      })
    }
    return values
  }

  /** The timestamp of a write, in microseconds: later than every earlier one. */
  #nextTime(): bigint {
    this.#writtenAt = Math.max(this.#writtenAt + 1, this.#client.now() * 1_000)
    return BigInt(this.#writtenAt)
  }

  /** Deletes the values of a document that is gone. One that is written later is an orphan. */
  delete(document: DocumentHeader): Promise<void> {
    return this.#forget(DELETE, keyOf(document))
  }

  /** Sends the writes that wait, at once, and resolves after all have ended. */
  async close(): Promise<void> {
    this.#flush(Infinity)
    await Promise.all(this.#inFlight)
  }

  #gatheringOf(partition: string): Gathering {
    const known = this.#gathering.get(partition)
    if (known !== undefined) return known
    const gathering: Gathering = { rows: new Map(), callers: Promise.withResolvers(), size: 0 }
    this.#gathering.set(partition, gathering)
    return gathering
  }

  /** Schedules the gathered writes: in GATHER_MS, or after the requests in flight. */
  #gatherOn(): void {
    if (this.#gathering.size === 0 || this.#inFlight.size > 0) return
    this.#timer ??= this.#clock.setTimeout(() => this.#flush(REQUESTS_MAX), GATHER_MS)
  }

  #flush(requestsMax: number): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = null
    this.#queue.push(...this.#gathering.values())
    this.#gathering = new Map()
    this.#send(requestsMax)
  }

  #send(requestsMax: number): void {
    while (this.#inFlight.size < requestsMax && this.#queue.length > 0) {
      const written = this.#write(this.#queue.shift()!).finally(() => {
        this.#inFlight.delete(written)
        this.#send(REQUESTS_MAX)
        this.#gatherOn()
      })
      this.#inFlight.add(written)
    }
  }

  /** Never rejects: the callers get the error. */
  async #write({ rows, callers, size }: Gathering): Promise<void> {
    try {
      await Promise.all(batchesOf([...rows.values()]).map((batch) => this.#client.write(batch)))
      callers.resolve()
    } catch (error) {
      callers.reject(error)
    } finally {
      this.#writing -= size
    }
  }

  /** The deleted rows are never read, so the deletion may fail. */
  async #forget(statement: string, params: readonly unknown[]): Promise<void> {
    await this.#client.write([{ statement, params, bytes: KEY_BYTES }]).catch(() => undefined)
  }
}

const putOf = (document: DocumentHeader, token: number, value: string): GatheredWrite => ({
  place: 'value',
  writeAt: (ttl, at) => ({
    statement: PUT,
    params: [ttl, at, value, ...keyOf(document), BigInt(token)],
    bytes: KEY_BYTES + value.length
  })
})

const keyOf = ({ address, born }: DocumentHeader): unknown[] => [
  address.kind,
  address.partition,
  blob(address.key),
  born
]
