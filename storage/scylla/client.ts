import type { QueryOptions, types } from 'cassandra-driver'
import { sleep } from '../../src/ports.ts'
import type { Ports } from '../../src/ports.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { currentTenant } from '../../src/kernel/work/current-tenant.ts'
import { FairReads } from '../../src/kernel/work/fair-reads.ts'
import { pauseAfter } from './back-off.ts'
import type { RowWrite } from './row-write.ts'
import { BATCH, CONDITIONAL, CONDITIONAL_BATCH, DEFINITION, PATIENT, QUORUM, SERIAL } from './driver.ts'
import type { DriverOptions } from './driver.ts'
import { closed, isOutage, refused, unanswered } from './errors.ts'
import { OutageWatch } from './outage.ts'
import { Session } from './session.ts'

/** A row of an answer: columns by name; bigint columns are bigint, blobs are buffers that share their frame's memory. */
export type CqlRow = Readonly<Record<string, unknown>>

/** A statement and its values. */
export interface CqlStatement {
  readonly statement: string
  readonly params: readonly unknown[]
}

/** Maximum tries of a read, and the time after which it is not retried: twice if no node answers in time. */
const READ_TRIES = 3
const READ_RETRY_WITHIN_MS = 3_500
/** Maximum reads in flight or waiting, each of which holds its answer in memory; further ones are refused. */
const READS_MAX = 2_000
/** Maximum reads that one call has in flight. */
const READS_OF_ONE = 32
/** Pauses between tries. The longest is well below the 5 s in which ingest resumes after an outage. */
const PAUSE_MS = { first: 50, most: 1_000 }

/** Maximum claims of a store, which are read once, at the start. Far more than an answer can hold. */
const SERIAL_READ: QueryOptions = { ...SERIAL, fetchSize: 100_000 }

/** Maximum rows that a node reports about itself: 40 tables of 256 ranges each, several times over. */
const OWN_ROWS_MAX = 100_000

/** The outcome of a conditional write, with the current row if the condition did not hold. */
export interface Conditional {
  readonly applied: boolean
  readonly row: CqlRow
}

/**
 * The connection to the cluster. Every statement is a prepared constant. Reads have a limit and reject with
 * STORAGE_UNAVAILABLE at it; writes of commits have none, and wait for the cluster.
 */
export class CqlClient {
  readonly #session: Session
  readonly #keyspace: string | null
  readonly #ports: Ports
  /** Null for the default: a number of tries, and their time. */
  readonly #readRetryMs: number | null
  readonly #closing = new AbortController()
  readonly #fairReads = new FairReads(() => performance.now())
  #reading = 0
  readonly outages: OutageWatch

  private constructor(session: Session, keyspace: string | null, ports: Ports, readRetryMs: number | null) {
    this.#session = session
    this.#keyspace = keyspace
    this.#ports = ports
    this.#readRetryMs = readRetryMs
    this.outages = new OutageWatch(ports.clock)
  }

  /** Connects within 10 s; rejects with the driver's own error. A keyspace of null is for statements that name theirs. */
  static async connect(options: DriverOptions, keyspace: string | null, ports: Ports): Promise<CqlClient> {
    const session = await Session.connect(options, keyspace, ports)
    return new CqlClient(session, keyspace, ports, options.readRetryMs ?? null)
  }

  /** Reads of tenants that wait for their turn. */
  get waitingReads(): number {
    return this.#fairReads.waiting
  }

  /** Unix milliseconds. */
  now(): number {
    return this.#ports.clock.now()
  }

  /**
   * Rows of an answer: all of them, page after page. Only for statements with a known bound. For callers of the store; reads
   * of a commit use `readThrough`.
   */
  async read(statement: string, params: readonly unknown[]): Promise<CqlRow[]> {
    const rows: CqlRow[] = []
    for await (const page of this.pages(statement, params, 1_000)) {
      if (rows.length === 0) rows.push(...page)
      else for (const row of page) rows.push(row)
    }
    return rows
  }

  /** Answers to one statement with different values, in their order, a bounded number under way. */
  async readEach(statement: string, each: readonly (readonly unknown[])[]): Promise<CqlRow[][]> {
    return mapBounded(each, READS_OF_ONE, (params) => this.read(statement, params))
  }

  /** Answers of each node that is up to a statement about itself, in one page. */
  async readOnEachNode(statement: string, params: readonly unknown[]): Promise<CqlRow[]> {
    const options: QueryOptions = { ...QUORUM, fetchSize: OWN_ROWS_MAX }
    const nodes = this.#session.nodesUp
    // If no node is up, the statement fails with that error.
    const each = nodes.length === 0 ? [options] : nodes.map((host) => ({ ...options, host }))
    const answers = await Promise.all(each.map((options) => this.#read({ statement, params }, options)))
    return answers.flatMap(({ rows }) => rows)
  }

  /**
   * A read for an accepted commit, of at most 5,000 rows. It waits while the cluster does not answer, and runs also during a
   * close.
   */
  async readThrough(statement: string, params: readonly unknown[]): Promise<CqlRow[]> {
    const answer = await this.persist(() => this.#session.execute(statement, params, PATIENT))
    return answer.rows
  }

  async readEachThrough(statement: string, each: readonly (readonly unknown[])[]): Promise<CqlRow[][]> {
    return mapBounded(each, READS_OF_ONE, (params) => this.readThrough(statement, params))
  }

  /** Rows in pages of a number of rows; each page is requested when it is needed. */
  async *pages(
    statement: string,
    params: readonly unknown[],
    fetchSize: number
  ): AsyncGenerator<CqlRow[], void, undefined> {
    for (let pageState: string | undefined; ;) {
      const options: QueryOptions =
        pageState === undefined ? { ...QUORUM, fetchSize } : { ...QUORUM, fetchSize, pageState }
      const answer = await this.#read({ statement, params }, options)
      yield answer.rows
      // Null after the last page, whatever the type says.
      pageState = answer.pageState ?? undefined
      if (pageState === undefined) return
    }
  }

  /** Reads as conditional writes do, finishing any that are under way; an answer of one page. */
  async readSerial(statement: CqlStatement): Promise<CqlRow[]> {
    const answer = await this.#read(statement, SERIAL_READ)
    return answer.rows
  }

  /** Reads as `readSerial` does, in one try; rejects with the driver's error. */
  async trySerial({ statement, params }: CqlStatement): Promise<CqlRow[]> {
    const answer = await this.#session.execute(statement, params, SERIAL_READ)
    return answer.rows
  }

  /**
   * Writes rows of one partition, and keeps trying while the cluster does not answer, until the client is closed. Reports
   * that in `outages`.
   */
  async writeThrough(rows: readonly RowWrite[]): Promise<void> {
    await this.persist(() => this.#write(rows))
  }

  /** Writes rows of one partition; rejects with STORAGE_UNAVAILABLE after as many tries as a read. */
  async write(rows: readonly RowWrite[]): Promise<void> {
    await this.#withTries(() => this.#write(rows))
  }

  /**
   * A conditional write of one partition, of several statements as one. If it rejects with the driver's error, the outcome
   * is unknown: after `isOutage` errors the caller must do a serial read. It is not refused while closing, for the sake of
   * accepted commits; other callers use `assertOpen` first.
   */
  async conditional(statements: readonly CqlStatement[]): Promise<Conditional> {
    const [first] = statements
    const answer =
      statements.length === 1
        ? await this.#session.execute(first!.statement, first!.params, CONDITIONAL)
        : await this.#session.batch(statements.map(asQuery), CONDITIONAL_BATCH)
    return { applied: answer.wasApplied(), row: answer.rows?.[0] ?? {} }
  }

  /**
   * Tries until the cluster answers or the client is closed; the operation must be safe to repeat. Rejects after a refusal,
   * and after a try that fails while closing.
   */
  async persist<T>(attempt: () => Promise<T>): Promise<T> {
    const trouble = this.outages.trouble()
    try {
      for (let tries = 1; ; tries++) {
        try {
          return await attempt()
        } catch (error) {
          if (error instanceof ServiceError) throw error
          if (!isOutage(error)) throw refused(error, this.#keyspace)
          if (this.#closing.signal.aborted) throw unanswered(error)
          trouble.failed(error)
          await this.#pause(tries)
        }
      }
    } finally {
      trouble.over()
    }
  }

  /**
   * Changes the schema by one statement that may be repeated. Every process sends it to the same node, which applies one at
   * a time. Resolves once the nodes that are up agree.
   */
  async define(statement: string): Promise<void> {
    const [first] = this.#session.nodesUp
    const options = first === undefined ? DEFINITION : { ...DEFINITION, host: first }
    await this.#session.execute(statement, [], options)
  }

  /**
   * Returns the token of a partition key of one column, by which the cluster orders partitions. Throws STORAGE_UNAVAILABLE
   * while no node is connected.
   */
  partitionToken(key: Buffer): bigint {
    try {
      return this.#session.partitionToken(key)
    } catch (error) {
      throw unanswered(error)
    }
  }

  /** Throws once the client is closing. */
  assertOpen(): void {
    if (this.#closing.signal.aborted) throw closed()
  }

  /** Accepts no new reads and no further tries from here on. Requests in flight are awaited by their callers. */
  beginClose(): void {
    this.#closing.abort()
  }

  async close(): Promise<void> {
    this.beginClose()
    await this.#session.close()
  }

  async #read({ statement, params }: CqlStatement, options: QueryOptions): Promise<types.ResultSet> {
    if (this.#closing.signal.aborted) throw closed()
    if (this.#reading >= READS_MAX)
      throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `${READS_MAX} reads of the store are under way`)
    this.#reading++
    const read = () => this.#withTries(() => this.#session.execute(statement, params, options))
    const tenant = currentTenant()
    try {
      const answer = tenant === null ? await read() : await this.#fairReads.run(tenant, read)
      this.outages.readAnswered()
      return answer
    } catch (error) {
      if (error instanceof ServiceError && isOutage(error.cause)) this.outages.readFailed(error.cause)
      throw error
    } finally {
      this.#reading--
    }
  }

  async #withTries<T>(attempt: () => Promise<T>): Promise<T> {
    const began = performance.now()
    for (let tries = 1; ; tries++) {
      if (this.#closing.signal.aborted) throw closed()
      try {
        return await attempt()
      } catch (error) {
        if (!isOutage(error)) throw refused(error, this.#keyspace)
        if (this.#isOver(tries, performance.now() - began)) throw unanswered(error)
      }
      await this.#pause(tries)
    }
  }

  /** Whether a read is not retried after a number of failed tries, and the time that they took. */
  #isOver(tries: number, ms: number): boolean {
    return this.#readRetryMs === null
      ? tries === READ_TRIES || ms > READ_RETRY_WITHIN_MS
      : ms > this.#readRetryMs
  }

  async #write(rows: readonly RowWrite[]): Promise<void> {
    const [first] = rows
    if (rows.length === 1) await this.#session.execute(first!.statement, first!.params, PATIENT)
    else if (rows.length > 1) await this.#session.batch(rows.map(asQuery), BATCH)
  }

  #pause(tries: number): Promise<void> {
    const { clock, random } = this.#ports
    return sleep(clock, pauseAfter(tries, PAUSE_MS, random), this.#closing.signal)
  }
}

/** An address, or other bytes, as the driver takes them; not copied. */
export const blob = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Results in the order of the items, at most a number of them under way at once; the first failure ends it. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  most: number,
  run: (item: Item) => Promise<Result>
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      try {
        results[at] = await run(items[at]!)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  return results
}

const asQuery = ({ statement, params }: CqlStatement): { query: string; params: unknown[] } => ({
  query: statement,
  params: params as unknown[]
})
