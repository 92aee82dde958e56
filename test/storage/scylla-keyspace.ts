import type { Client, types } from 'cassandra-driver'
import type { Test } from 'tap'
import { systemPorts } from '../../src/ports.ts'
import type { Storage, StorageUsage } from '../../storage/port.ts'
import { ROW_KINDS } from '../../storage/row-kinds.ts'
import { CqlClient } from '../../storage/scylla/client.ts'
import { ConditionalWrites } from '../../storage/scylla/conditional-writes.ts'
import { DIVIDED_KINDS, type DividedKinds } from '../../storage/scylla/divided-kinds.ts'
import { documentStore } from '../../storage/scylla/documents.ts'
import { HotValues } from '../../storage/scylla/hot-values.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import type { ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { ShiftedClock } from '../../storage/test/shifted-clock.ts'
import type { LostAnswers, StorageUnderTest } from '../../storage/test/under-test.ts'
import type { CqlServer } from '../servers/cql.ts'
import { endClient, plainClient } from '../servers/plain-client.ts'
import { LentKeyspace, tablesOf } from './lent-keyspace.ts'
import { losingAnswers } from './losing-answers.ts'
import { until } from '../service/asking.ts'
import { START_WAIT } from './start-wait.ts'

/** Divisions of the service's kinds, and of the sample kind without a limit: small ones, so that few rows fill several. */
export const TEST_DIVIDED: DividedKinds = {
  ...DIVIDED_KINDS,
  letter: {
    shares: 4,
    lists: {
      keys: { owner: 0, width: 10 },
      byBox: { owner: 1, width: 100 },
      open: { owner: 0, width: null }
    }
  }
}

/** Milliseconds for which a test's store retries reads: a server without CPU time answers none. Only a fault takes as long. */
const READ_RETRY_MS = 120_000

/** Returns the options by which a test opens a store in its own keyspace, with the limits of the product. */
export function scyllaOptions(
  server: CqlServer,
  keyspace: string
): ScyllaStorageOptions & { readonly ports?: never } {
  return {
    contactPoints: server.contactPoints,
    port: server.port,
    datacenter: server.datacenter,
    keyspace,
    username: server.credentials?.username ?? null,
    password: server.credentials?.password ?? null,
    replication: 1,
    retentionSeconds: null,
    logSeconds: null,
    divided: TEST_DIVIDED,
    startWait: START_WAIT
  }
}

/** Returns the options of a store in a keyspace with empty tables, which goes to another test after this one. */
export async function lendKeyspace(t: Test, server: CqlServer): Promise<ScyllaStorageOptions> {
  const client = await rawClient(server)
  const { keyspace: _, ...options } = scyllaOptions(server, '')
  const lent = await LentKeyspace.take(server, client, options)
  t.teardown(async () => {
    await lent.end()
    await endClient(client)
  })
  return { ...options, keyspace: lent.name, readRetryMs: READ_RETRY_MS }
}

/** Opens a plain connection, to inspect and change a keyspace. */
export async function rawClient(server: CqlServer): Promise<Client> {
  const client = plainClient(server)
  await client.connect()
  return client
}

/**
 * Empty stores, one after another, in one keyspace. A server takes seconds to make its tables, and a fraction of one to
 * empty those that a test has filled.
 */
export class ScyllaUnderTest {
  readonly options: ScyllaStorageOptions
  readonly #client: Client
  readonly #keyspace: LentKeyspace
  readonly #tables: readonly string[]

  private constructor(
    options: ScyllaStorageOptions,
    client: Client,
    keyspace: LentKeyspace,
    tables: readonly string[]
  ) {
    this.options = options
    this.#client = client
    this.#keyspace = keyspace
    this.#tables = tables
  }

  /** `isNew` requires tables whose earlier rows are no longer counted by any estimate of the server. */
  static async make(
    server: CqlServer,
    {
      isNew = false,
      ...more
    }: Pick<ScyllaStorageOptions, 'flushBlocks' | 'isArchive'> & { readonly isNew?: boolean } = {}
  ): Promise<ScyllaUnderTest> {
    const client = await rawClient(server)
    const { keyspace: _, ...own } = { ...scyllaOptions(server, ''), readRetryMs: READ_RETRY_MS }
    const lent = await LentKeyspace.take(server, client, own, isNew)
    const options = { ...own, keyspace: lent.name, ...more }
    return new ScyllaUnderTest(options, client, lent, await tablesOf(client, lent.name))
  }

  async open(t: Test): Promise<StorageUnderTest> {
    await this.clear()
    const clock = new ShiftedClock()
    const ports = { ...systemPorts, clock }
    let storage: Storage = await openScyllaStorage({ ...this.options, ports })
    t.teardown(() => storage.close())
    const reopen = async (retentionSeconds = this.options.retentionSeconds): Promise<Storage> => {
      await storage.close()
      return (storage = await openScyllaStorage({ ...this.options, ports, retentionSeconds }))
    }
    const join = async (): Promise<Storage> => {
      const other = await openScyllaStorage({ ...this.options, ports })
      t.teardown(() => other.close())
      return other
    }
    const losing = async (lost: LostAnswers) => {
      const connected = await CqlClient.connect(this.options, this.options.keyspace, ports)
      t.teardown(() => connected.close())
      const { client, tried } = losingAnswers(connected, lost)
      const layout = { divided: TEST_DIVIDED, hasEarlier: false }
      const hot = new HotValues(client, clock, layout)
      return { documents: documentStore(client, new ConditionalWrites(client), hot, layout), tried }
    }
    return { storage, clock, reopen, counted: (kinds) => this.#counted(storage, kinds), join, losing }
  }

  /** Makes the server write the rows of some kinds to disk, and waits until its estimates count them. */
  async #counted(storage: Storage, kinds: readonly string[]): Promise<StorageUsage> {
    const tables = ROW_KINDS.filter(({ name }) => kinds.includes(name)).flatMap(({ tables }) => tables)
    const flushEvery = async (ms: number): Promise<void> => {
      for (const table of tables)
        await this.#client.execute(
          `ALTER TABLE ${this.options.keyspace}.${table} WITH memtable_flush_period_in_ms = ${ms}`
        )
    }
    await flushEvery(1_000)
    const usage = await until(async () => {
      const usage = await storage.usage()
      const counted = usage.kinds.filter(({ kind, bytes }) => kinds.includes(kind) && bytes > 0)
      return counted.length === kinds.length && usage
    }, 'the server has counted its rows')
    await flushEvery(0)
    return usage
  }

  /** Returns stored rows by a statement that names tables without their keyspace. */
  async rows(statement: string): Promise<readonly types.Row[]> {
    const { rows } = await this.#client.execute(statement.replace('FROM ', `FROM ${this.options.keyspace}.`))
    return rows
  }

  /** Changes stored rows without the store's knowledge. */
  async change(statement: string): Promise<void> {
    await this.rows(statement)
  }

  /** Empties a table, as if its rows had not been on disk when its node died. */
  async forget(table: string): Promise<void> {
    await this.#client.execute(`TRUNCATE ${this.options.keyspace}.${table}`)
  }

  /** Returns the newest epoch's commits, and how many of them are flushed to the tables. */
  async watermark(): Promise<types.Row> {
    const rows = await this.rows('SELECT epoch, last_commit, flushed, head FROM writers')
    return rows.at(-1)!
  }

  async setWatermark(row: Readonly<Record<string, unknown>>): Promise<void> {
    const statement = `UPDATE ${this.options.keyspace}.writers SET last_commit = ?, flushed = ?, head = ? WHERE chain = 'solana' AND epoch = ?`
    const params = ['last_commit', 'flushed', 'head', 'epoch'].map((column) => row[column])
    await this.#client.execute(statement, params, { prepare: true })
  }

  async end(): Promise<void> {
    await this.#keyspace.end()
    await endClient(this.#client)
  }

  /** The epoch of the newest claim of the stores so far; 0 before the first. */
  async epoch(): Promise<number> {
    const [row] = await this.rows('SELECT current_epoch FROM writers LIMIT 1')
    return (row?.['current_epoch'] as number | null | undefined) ?? 0
  }

  /**
   * Empties the tables that a test has filled. No store may have them open. The next store continues after the epochs of the
   * earlier ones. Deletions may have a late epoch, and so may a repeated write of the driver that arrives only now.
   */
  async clear(): Promise<void> {
    const epoch = await this.epoch()
    await Promise.all(
      this.#tables.map(async (table) => {
        const name = `${this.options.keyspace}.${table}`
        const { rows } = await this.#client.execute(`SELECT * FROM ${name} LIMIT 1`)
        if (rows.length > 0) await this.#client.execute(`TRUNCATE ${name}`)
      })
    )
    if (epoch > 0)
      await this.change(
        `UPDATE ${this.options.keyspace}.writers SET current_epoch = ${epoch} WHERE chain = 'solana' IF current_epoch = null`
      )
  }
}
