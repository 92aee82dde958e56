import type { Client } from 'cassandra-driver'
import { openScyllaStorage, type ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { newKeyspaceName, type CqlServer } from '../servers/cql.ts'

/** Keyspace of the table that names keyspaces which no test has. It ends with its server. */
const POOL = 'test_pool'

/**
 * A keyspace with the store's empty tables. On a server that ends with the run it passes from test to test. Creating and
 * dropping the tables was half of such a server's work, because each dropped table flushes all tables of the system.
 */
export class LentKeyspace {
  readonly name: string
  readonly #client: Client
  /** The tables as the store has made them; null where the keyspace is dropped at its end. */
  readonly #shape: string | null

  private constructor(name: string, client: Client, shape: string | null) {
    this.name = name
    this.#client = client
    this.#shape = shape
  }

  /** Takes a keyspace that another test has left, or creates one. `isNew` requires a new one. */
  static async take(
    server: CqlServer,
    client: Client,
    options: Omit<ScyllaStorageOptions, 'keyspace' | 'ports'>,
    isNew = false
  ): Promise<LentKeyspace> {
    const isLent = server.endsWithRun === true
    if (isLent) await makePool(client)
    const left = isLent && !isNew ? await takeLeft(client) : null
    const name = left ?? newKeyspaceName()
    if (left === null) {
      // Rows that will soon be deleted need not be on disk.
      if (isLent) await client.execute(`CREATE KEYSPACE ${name} WITH ${replicationOn(server)}`)
      await (await openScyllaStorage({ ...options, keyspace: name })).close()
    }
    return new LentKeyspace(name, client, isLent ? await shapeOf(client, name) : null)
  }

  /** Empties it and leaves it to the next test, or drops it where a test has changed its tables. No store may be open. */
  async end(): Promise<void> {
    if (this.#shape === null || this.#shape !== (await shapeOf(this.#client, this.name))) {
      await this.#client.execute(`DROP KEYSPACE ${this.name}`)
      return
    }
    // Its rows would stay in memory.
    await empty(this.#client, this.name)
    await this.#client.execute(`INSERT INTO ${POOL}.left (name) VALUES ('${this.name}')`)
  }
}

/** Returns the names of the store's tables, without that of its schema's versions. */
export async function tablesOf(client: Client, keyspace: string): Promise<string[]> {
  const statement = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?'
  const { rows } = await client.execute(statement, [keyspace], { prepare: true })
  return rows.map((row) => row['table_name'] as string).filter((name) => name !== 'schema_versions')
}

/** Empties all tables: even a table without rows may have deletions that are later than the next test's writes. */
async function empty(client: Client, keyspace: string): Promise<void> {
  for (const table of await tablesOf(client, keyspace)) await client.execute(`TRUNCATE ${keyspace}.${table}`)
}

const replicationOn = ({ datacenter }: CqlServer): string =>
  `replication = {'class': 'NetworkTopologyStrategy', '${datacenter}': 1} AND durable_writes = false`

async function makePool(client: Client): Promise<void> {
  await client.execute(
    `CREATE KEYSPACE IF NOT EXISTS ${POOL} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`
  )
  await client.execute(`CREATE TABLE IF NOT EXISTS ${POOL}.left (name text PRIMARY KEY)`)
}

/** Takes and empties a keyspace that no other test gets; null if no keyspace is left. */
async function takeLeft(client: Client): Promise<string | null> {
  const { rows } = await client.execute(`SELECT name FROM ${POOL}.left`)
  for (const row of rows) {
    const name = row['name'] as string
    const taken = await client.execute(`DELETE FROM ${POOL}.left WHERE name = '${name}' IF EXISTS`)
    if (!taken.wasApplied()) continue
    // Again: a process that was killed may have had a write under way when its test ended.
    await empty(client, name)
    return name
  }
  return null
}

/** Returns the definitions of all tables and columns of a keyspace, and the applied versions of its schema. */
async function shapeOf(client: Client, keyspace: string): Promise<string> {
  const all = ['system_schema.tables', 'system_schema.columns'].map(async (table) => {
    const { rows } = await client.execute(`SELECT JSON * FROM ${table} WHERE keyspace_name = '${keyspace}'`)
    return rows.map((row) => row['[json]'] as string)
  })
  const versions = client.execute(`SELECT JSON * FROM ${keyspace}.schema_versions`)
  return JSON.stringify([await Promise.all(all), (await versions).rows.map((row) => row['[json]'] as string)])
}
