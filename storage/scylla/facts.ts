import { systemPorts, type Ports } from '../../src/ports.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { formatRefusal } from '../../src/kernel/format-refusal.ts'
import {
  FACT_LISTS,
  FACTS_FORMAT,
  OLDEST_FACTS_FORMAT,
  type Fact,
  type FactList,
  type FactStore
} from '../port/facts.ts'
import { blob, CqlClient, mapBounded, type CqlRow } from './client.ts'
import type { DriverOptions } from './driver.ts'
import { startProblem } from './errors.ts'
import { batchesOf } from './row-write.ts'
import { makeKeyspace, type Replication } from './keyspace.ts'
import { withSpeculation } from './speculation.ts'

/** Positions of a partition: the trades of 256 slots of a busy hour take 10 MB. */
const BUCKET_POSITIONS = 256
const BATCHES_AT_ONCE = 8
/** Bytes of a fact's key on the wire, estimated. */
const KEY_BYTES = 60
/** Rows of a page: at most 100 values of usual size, 1 MB. */
const ROWS_AT_ONCE = 100
/** Buckets whose entry in the index is known to be there. */
const KNOWN_BUCKETS_MAX = 100_000

const INSERT = 'INSERT INTO facts (list, bucket, position, key, value) VALUES (?, ?, ?, ?, ?)'
const INSERT_BUCKET = 'INSERT INTO fact_buckets (list, bucket) VALUES (?, ?)'
const SELECT = 'SELECT position, key, value FROM facts WHERE list = ? AND bucket = ? AND position >= ?'
const SELECT_AT = 'SELECT position, key, value FROM facts WHERE list = ? AND bucket = ? AND position = ?'
const SELECT_BUCKETS = 'SELECT bucket FROM fact_buckets WHERE list = ? AND bucket >= ?'

/** The table of facts, and the index of its partitions. */
export const FACT_TABLES = [
  `facts (
    list tinyint, bucket bigint, position bigint, key blob, value blob,
    PRIMARY KEY ((list, bucket), position, key)
  ) WITH compaction = {'class': 'LeveledCompactionStrategy'}`,
  'fact_buckets (list tinyint, bucket bigint, PRIMARY KEY (list, bucket))'
]

export interface CqlFactsOptions extends DriverOptions {
  readonly keyspace: string
  readonly replication: Replication
  readonly hasTablets?: boolean
}

/** Opens the facts in a keyspace of their own, which is created if it is missing. Rejects with STORAGE_UNAVAILABLE. */
export async function openCqlFacts(options: CqlFactsOptions, ports: Ports = systemPorts): Promise<FactStore> {
  const { keyspace } = options
  try {
    const admin = await CqlClient.connect(options, null, ports)
    try {
      await makeKeyspace(admin, options)
      for (const table of FACT_TABLES)
        await admin.define(withSpeculation(`CREATE TABLE IF NOT EXISTS ${keyspace}.${table}`))
    } finally {
      await admin.close()
    }
    const client = await CqlClient.connect(options, keyspace, ports)
    try {
      await checkFormat(client, keyspace)
    } catch (error) {
      await client.close()
      throw error
    }
    return new CqlFacts(client)
  } catch (error) {
    throw startProblem(error, options)
  }
}

/** The place of the format: a list that no fact has. Facts of the first version have none, and format 1. */
const FORMAT_PLACE = [-1, 0n, 0n] as const

async function checkFormat(client: CqlClient, keyspace: string): Promise<void> {
  const [row] = await client.read(SELECT_AT, FORMAT_PLACE)
  const format = (row?.['value'] as Buffer | undefined)?.[0] ?? 0
  if (format < FACTS_FORMAT) {
    const params = [...FORMAT_PLACE, Buffer.from('format'), Buffer.of(FACTS_FORMAT)]
    return client.write([{ statement: INSERT, params, bytes: KEY_BYTES }])
  }
  if (format === FACTS_FORMAT) return
  const what = `the store of the archive's facts in the keyspace ${keyspace}`
  throw new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    formatRefusal(what, format, FACTS_FORMAT, OLDEST_FACTS_FORMAT)
  )
}

class CqlFacts implements FactStore {
  readonly #client: CqlClient
  readonly #known = new Set<string>()

  constructor(client: CqlClient) {
    this.#client = client
  }

  async put(list: FactList, facts: readonly Fact[]): Promise<void> {
    const code = FACT_LISTS[list]
    const byBucket = Map.groupBy(facts, ({ position }) => bucketOf(position))
    // A fact whose bucket is not in the index would never be read.
    await this.#index(code, [...byBucket.keys()])
    const batches = [...byBucket].flatMap(([bucket, each]) =>
      batchesOf(
        each.map(({ position, key, value }) => ({
          statement: INSERT,
          params: [code, BigInt(bucket), BigInt(position), blob(key), blob(value)],
          bytes: KEY_BYTES + value.length
        }))
      )
    )
    await mapBounded(batches, BATCHES_AT_ONCE, async (batch) => this.#client.write(batch))
  }

  async at(list: FactList, position: number): Promise<readonly Fact[]> {
    const params = [FACT_LISTS[list], BigInt(bucketOf(position)), BigInt(position)]
    return (await this.#client.read(SELECT_AT, params)).map(factOf)
  }

  async *from(list: FactList, position: number): AsyncGenerator<readonly Fact[], void> {
    const code = FACT_LISTS[list]
    const first = BigInt(bucketOf(position))
    for await (const buckets of this.#client.pages(SELECT_BUCKETS, [code, first], ROWS_AT_ONCE))
      for (const { bucket } of buckets) {
        const pages = this.#client.pages(SELECT, [code, bucket, BigInt(position)], ROWS_AT_ONCE)
        for await (const rows of pages) if (rows.length > 0) yield rows.map(factOf)
      }
  }

  /** A server estimates only whole tables that it has flushed, so nothing is known. */
  async bytes(): Promise<number> {
    return 0
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #index(list: number, buckets: readonly number[]): Promise<void> {
    const missing = buckets.filter((bucket) => !this.#known.has(`${list} ${bucket}`))
    if (missing.length === 0) return
    const writes = missing.map((bucket) => ({
      statement: INSERT_BUCKET,
      params: [list, BigInt(bucket)],
      bytes: KEY_BYTES
    }))
    for (const batch of batchesOf(writes)) await this.#client.write(batch)
    if (this.#known.size > KNOWN_BUCKETS_MAX) this.#known.clear()
    for (const bucket of missing) this.#known.add(`${list} ${bucket}`)
  }
}

const bucketOf = (position: number): number => Math.floor(position / BUCKET_POSITIONS)

/** A driver's buffers share the memory of their frame, so key and value are copied. */
const factOf = (row: CqlRow): Fact => ({
  position: Number(row['position']),
  key: new Uint8Array(row['key'] as Buffer),
  value: new Uint8Array(row['value'] as Buffer)
})
