import type { Clock } from '../../src/ports.ts'
import type { DocumentHeader, HotValue } from '../document-store.ts'
import { blob } from './client.ts'
import type { CqlClient, CqlRow } from './client.ts'
import { NEW_LAYOUT, type DocumentLayout } from './divided-kinds.ts'
import { ttlSecondsOf } from './document-rows.ts'
import { GatheredRows } from './gathered-rows.ts'
import { earlierHotPlaceOf, HOT_STATEMENTS, hotPlaceOf, type HotPlace } from './hot-place.ts'
import type { RowWrite } from './row-write.ts'

/**
 * Carried to a token if no value was stored, so that no value of a lesser token is read. No document's hot value is empty.
 */
const NO_VALUE = ''
/** Bytes of a statement's values besides the hot value, estimated. */
const KEY_BYTES = 200

/** A write to the row of a document and a token. A later write with an equal `place` replaces it. */
interface GatheredWrite {
  readonly place: 'value' | 'fence' | 'carried'
  readonly writeAt: (at: HotPlace, ttlSeconds: number, writtenAt: bigint) => RowWrite
}

/**
 * Hot values of documents. Each fencing token has a row of its own, and the value of the greatest token that has one is
 * read. So a writer that has lost its lease writes a row that is never read. A fence is a row that the value is carried to.
 *
 * Under one token the timestamps of writes follow the order of the calls.
 */
export class HotValues {
  readonly #client: CqlClient
  readonly #layout: DocumentLayout
  readonly #writes: GatheredRows
  /** Microseconds: the time of the newest write. */
  #writtenAt = 0

  constructor(client: CqlClient, clock: Clock, layout: DocumentLayout = NEW_LAYOUT) {
    this.#client = client
    this.#layout = layout
    this.#writes = new GatheredRows(client, clock)
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
    const earlier = earlierHotPlaceOf(document, this.#layout)
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
    at: HotPlace = hotPlaceOf(document, this.#layout)
  ): Promise<void> {
    const ttl = ttlSecondsOf(document.expiresAtMs, this.#client.now())
    // A fence must not replace a value, nor the other way round.
    const name = `${place} ${token} ${document.born} ${blob(document.address.key).toString('latin1')}`
    return this.#writes.write(at.partition, name, writeAt(at, ttl, this.#nextTime()))
  }

  /** The values of documents, in their order. */
  async of(documents: readonly DocumentHeader[]): Promise<HotValue[]> {
    return (await this.#read(documents)).map(({ token, value }) => ({ token, value }))
  }

  /** Reads values, each with the token that it is stored under. Also deletes the rows of earlier tokens. */
  async #read(documents: readonly DocumentHeader[]): Promise<(HotValue & { readonly valueToken: number })[]> {
    const places = documents.map((document) => hotPlaceOf(document, this.#layout))
    const [answers, earlier] = await Promise.all([
      this.#rowsAt(places),
      this.#rowsAt(documents.map((document) => earlierHotPlaceOf(document, this.#layout)))
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
    for (const statements of HOT_STATEMENTS) {
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

  /** The timestamp of a write, in microseconds: later than every earlier one. */
  #nextTime(): bigint {
    this.#writtenAt = Math.max(this.#writtenAt + 1, this.#client.now() * 1_000)
    return BigInt(this.#writtenAt)
  }

  /** Deletes the values of a document that is gone. One that is written later is an orphan. */
  async delete(document: DocumentHeader): Promise<void> {
    for (const place of [hotPlaceOf(document, this.#layout), earlierHotPlaceOf(document, this.#layout)])
      if (place !== null) await this.#forget(place.statements.delete, place.key)
  }

  /** Sends the writes that wait, at once, and resolves after all have ended. */
  close(): Promise<void> {
    return this.#writes.close()
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

const byToken = (rows: readonly CqlRow[]): CqlRow[] =>
  rows.toSorted((a, b) => Number((b['fence'] as bigint) - (a['fence'] as bigint)))
