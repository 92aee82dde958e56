import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { Clock } from '../../src/ports.ts'
import type { DocumentHeader, HotValue } from '../document-store.ts'
import { blob } from './client.ts'
import type { CqlClient, CqlRow } from './client.ts'
import { NEW_LAYOUT, shareOf, type DocumentLayout } from './divided-kinds.ts'
import { ttlSecondsOf } from './document-rows.ts'
import { batchesOf } from './row-write.ts'
import type { RowWrite } from './row-write.ts'

/** The statements of one of the two tables of hot values. */
interface HotStatements {
  readonly put: string
  readonly fence: string
  readonly select: string
  readonly delete: string
  readonly deleteOlder: string
}

function statementsOf(table: string, partition: readonly string[]): HotStatements {
  const columns = [...partition, 'key', 'born']
  const where = columns.map((column) => `${column} = ?`).join(' AND ')
  const places = columns.map(() => '?').join(', ')
  const remove = `DELETE FROM ${table} WHERE ${where}`
  return {
    put: `UPDATE ${table} USING TTL ? AND TIMESTAMP ? SET value = ? WHERE ${where} AND fence = ?`,
    fence: `INSERT INTO ${table} (${columns.join(', ')}, fence) VALUES (${places}, ?) USING TTL ? AND TIMESTAMP ?`,
    // All rows of a document: they are deleted once a greater token has a value.
    select: `SELECT fence, value FROM ${table} WHERE ${where}`,
    delete: remove,
    deleteOlder: `${remove} AND fence < ?`
  }
}

const WHOLE = statementsOf('document_hot', ['kind', 'part'])
/** The statements of kinds that are divided. */
const SHARED = statementsOf('document_hot_shares', ['kind', 'part', 'share'])

/** Where the values of a document are. */
interface HotPlace {
  readonly statements: HotStatements
  readonly key: readonly unknown[]
  /** Names the partition. */
  readonly partition: string
}

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
  readonly writeAt: (at: HotPlace, ttlSeconds: number, writtenAt: bigint) => RowWrite
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
  readonly #layout: DocumentLayout
  #gathering = new Map<string, Gathering>()
  /** Gathered writes that wait for a request. */
  readonly #queue: Gathering[] = []
  readonly #inFlight = new Set<Promise<void>>()
  #timer: unknown = null
  /** Microseconds: the time of the newest write. */
  #writtenAt = 0
  #writing = 0

  constructor(client: CqlClient, clock: Clock, layout: DocumentLayout = NEW_LAYOUT) {
    this.#client = client
    this.#clock = clock
    this.#layout = layout
  }

  /** Stores a value under a token. */
  async put(document: DocumentHeader, token: number, value: string): Promise<void> {
    return this.#gather(document, token, putOf(token, value))
  }

  /**
   * Stores a token, and then the current value under it. A write of an earlier token is either read here, or comes after the
   * token was stored.
   */
  async fence(document: DocumentHeader, token: number): Promise<HotValue> {
    // Older than any value stored under the token from now on, so that it replaces none.
    const carriedAt = this.#nextTime()
    const fence: GatheredWrite = {
      place: 'fence',
      writeAt: ({ statements, key }, ttl, at) => ({
        statement: statements.fence,
        params: [...key, BigInt(token), ttl, at],
        bytes: KEY_BYTES
      })
    }
    // A writer of an earlier version reads only the table of earlier values.
    const earlier = this.#earlierPlaceOf(document)
    await Promise.all([
      this.#gather(document, token, fence),
      ...(earlier === null ? [] : [this.#gather(document, token, fence, earlier)])
    ])
    const [hot] = await this.#read([document])
    const { token: greatest, value, valueToken } = hot!
    if (valueToken < token && greatest === token) {
      const { writeAt } = putOf(token, value ?? NO_VALUE)
      await this.#gather(document, token, {
        place: 'carried',
        writeAt: (at, ttl) => writeAt(at, ttl, carriedAt)
      })
    }
    return { token: greatest, value }
  }

  async #gather(
    document: DocumentHeader,
    token: number,
    { place, writeAt }: GatheredWrite,
    at: HotPlace = this.#placeOf(document)
  ): Promise<void> {
    this.#client.assertOpen()
    if (this.#writing >= WRITING_MAX)
      throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `${WRITING_MAX} writes of hot values are under way`)
    const ttl = ttlSecondsOf(document.expiresAtMs, this.#client.now())
    const gathering = this.#gatheringOf(at.partition)
    // A fence must not replace a value, nor the other way round.
    const row = `${place} ${token} ${document.born} ${blob(document.address.key).toString('latin1')}`
    gathering.rows.set(row, writeAt(at, ttl, this.#nextTime()))
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
    const places = documents.map((document) => this.#placeOf(document))
    const [answers, earlier] = await Promise.all([
      this.#rowsAt(places),
      this.#rowsAt(documents.map((document) => this.#earlierPlaceOf(document)))
    ])
    const values: (HotValue & { readonly valueToken: number })[] = []
    for (const [i, stored] of answers.entries()) {
      const rows = earlier[i]!.length === 0 ? stored : byToken([...stored, ...earlier[i]!])
      const row = rows.find(({ value }) => value !== null)
      const { statements, key } = places[i]!
      // Rows of the earlier table expire.
      if (row !== undefined && stored.at(-1) !== row && stored.includes(row))
        await this.#forget(statements.deleteOlder, [...key, row['fence']])
      const value = (row?.['value'] as string | undefined) ?? NO_VALUE
      values.push({
        token: Number(rows[0]?.['fence'] ?? 0),
        value: value === NO_VALUE ? null : value,
        valueToken: Number(row?.['fence'] ?? 0)
      })
    }
    return values
  }

  /** The rows of places in their order, the greatest token first; none where there is no place. */
  async #rowsAt(places: readonly (HotPlace | null)[]): Promise<CqlRow[][]> {
    const rows = places.map((): CqlRow[] => [])
    for (const statements of [WHOLE, SHARED]) {
      const of = places.flatMap((place, i) =>
        place?.statements === statements ? [{ key: place.key, i }] : []
      )
      if (of.length === 0) continue
      const answers = await this.#client.readEach(
        statements.select,
        of.map(({ key }) => key)
      )
      for (const [n, { i }] of of.entries()) rows[i] = answers[n]!
    }
    return rows
  }

  #placeOf({ address, born }: DocumentHeader): HotPlace {
    const { kind, partition, key } = address
    const division = this.#layout.divided[kind]
    if (division === undefined) return wholeHotPlace({ address, born })
    const share = shareOf(division, key)
    return {
      statements: SHARED,
      key: [kind, partition, share, blob(key), born],
      partition: JSON.stringify([kind, partition, share])
    }
  }

  /** Where an earlier version has the values of a kind that is divided now; null for other kinds and keyspaces. */
  #earlierPlaceOf(document: DocumentHeader): HotPlace | null {
    const { divided, hasEarlier } = this.#layout
    return hasEarlier && divided[document.address.kind] !== undefined ? wholeHotPlace(document) : null
  }

  /** The timestamp of a write, in microseconds: later than every earlier one. */
  #nextTime(): bigint {
    this.#writtenAt = Math.max(this.#writtenAt + 1, this.#client.now() * 1_000)
    return BigInt(this.#writtenAt)
  }

  /** Deletes the values of a document that is gone. One that is written later is an orphan. */
  async delete(document: DocumentHeader): Promise<void> {
    for (const place of [this.#placeOf(document), this.#earlierPlaceOf(document)])
      if (place !== null) await this.#forget(place.statements.delete, place.key)
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

const putOf = (token: number, value: string): GatheredWrite => ({
  place: 'value',
  writeAt: ({ statements, key }, ttl, at) => ({
    statement: statements.put,
    params: [ttl, at, value, ...key, BigInt(token)],
    bytes: KEY_BYTES + value.length
  })
})

const wholeHotPlace = ({ address, born }: Pick<DocumentHeader, 'address' | 'born'>): HotPlace => {
  const { kind, partition, key } = address
  return {
    statements: WHOLE,
    key: [kind, partition, blob(key), born],
    partition: JSON.stringify([kind, partition])
  }
}

const byToken = (rows: readonly CqlRow[]): CqlRow[] =>
  rows.toSorted((a, b) => Number((b['fence'] as bigint) - (a['fence'] as bigint)))
