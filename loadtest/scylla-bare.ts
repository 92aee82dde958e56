import { Client } from 'cassandra-driver'
import { BARE, withConcurrency } from './scylla-server.ts'

/** Rows of a single-partition batch. */
export const BATCH_ROWS = 30
const TABLE = 'bare_rows'
/** Bytes of a row besides its blob: its key and the numbers beside the blob. */
const KEY_BYTES = 52
const INSERT = `INSERT INTO ${TABLE} (owner, bucket, cursor, epoch, commit, row) VALUES (?, ?, ?, ?, ?, ?)`

/** The driver's methods that send statements, as an object whose methods can be replaced. */
interface Driver {
  execute: (query: string, params: unknown[], options: object) => unknown
  batch: (rows: Statement[], options: object) => unknown
}

interface Statement {
  readonly query: string
  readonly params: unknown[]
}

/** Counts the rows that this process writes, by table, with the bytes of their values. Deletions do not count. */
export class SentRows {
  readonly tables = new Map<string, { requests: number; rows: number; bytes: number }>()
  /** Bytes of each row, in the order in which rows were sent. */
  readonly sizes: number[] = []
  requests = 0
  /** Number of statements that read. */
  reads = 0
  readonly #without: readonly string[]

  /** `without` names tables whose rows are not counted. */
  constructor(without: readonly string[] = []) {
    this.#without = without
  }

  /** Counts the statements of every driver in this process while `run` runs. */
  async count(run: () => Promise<void>): Promise<void> {
    const driver = Client.prototype as unknown as Driver
    const { execute, batch } = driver
    const note = (rows: readonly Statement[]): void => {
      const { query } = rows[0]!
      if (query.startsWith('SELECT')) this.reads++
      if (!/^(INSERT|UPDATE)/.test(query) || this.#without.includes(tableOf(query))) return
      this.requests++
      for (const { query, params } of rows) this.#add(query, params, rows.length)
    }
    driver.execute = function (query, params, options) {
      note([{ query, params }])
      return execute.call(this, query, params, options)
    }
    driver.batch = function (rows, options) {
      note(rows)
      return batch.call(this, rows, options)
    }
    try {
      await run()
    } finally {
      Object.assign(driver, { execute, batch })
    }
  }

  #add(query: string, params: readonly unknown[], inBatch: number): void {
    const bytes = params.reduce<number>((sum, value) => sum + bytesOf(value), 0)
    const table = tableOf(query)
    const known = this.tables.get(table) ?? { requests: 0, rows: 0, bytes: 0 }
    known.requests += 1 / inBatch
    known.rows++
    known.bytes += bytes
    this.tables.set(table, known)
    this.sizes.push(bytes)
  }
}

const tableOf = (query: string): string => /^(?:INSERT INTO|UPDATE) (\w+)/.exec(query)![1]!

function bytesOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length
  if (typeof value === 'string') return value.length
  return typeof value === 'bigint' ? 8 : 4
}

/** Writes rows of given sizes in single-partition batches with the driver alone. */
export class BareWriter {
  readonly #client: Client
  #partition = 0

  constructor(client: Client) {
    this.#client = client
  }

  async prepare(): Promise<void> {
    await this.#client.execute(
      `CREATE TABLE ${TABLE} (owner blob, bucket int, cursor bigint, epoch int, commit int, row blob, ` +
        'PRIMARY KEY ((owner, bucket), cursor, epoch)) WITH CLUSTERING ORDER BY (cursor DESC, epoch DESC)'
    )
  }

  /** Prepares the batches, which is not measured, and returns the function that sends them. */
  batchesOf(sizes: readonly number[]): (concurrency: number) => Promise<void> {
    const batches: { query: string; params: unknown[] }[][] = []
    for (let from = 0; from < sizes.length; from += BATCH_ROWS) {
      const owner = Buffer.alloc(32)
      owner.writeUInt32BE(this.#partition++)
      batches.push(
        sizes.slice(from, from + BATCH_ROWS).map((bytes, i) => ({
          query: INSERT,
          params: [owner, 1, BigInt(from + i), 1, 1, Buffer.alloc(Math.max(1, bytes - KEY_BYTES), i + 1)]
        }))
      )
    }
    const options = { ...BARE, logged: false }
    return (concurrency) =>
      withConcurrency(concurrency, batches.length, (at) => this.#client.batch(batches[at]!, options))
  }
}
