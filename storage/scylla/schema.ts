import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { sleep } from '../../src/ports.ts'
import type { Clock } from '../../src/ports.ts'
import type { Conditional, CqlClient } from './client.ts'
import { EARLIER_DOCUMENTS, makesEarlierDocuments } from './earlier-documents.ts'
import { isMissing, isOutage, isThere, NotYetOpen } from './errors.ts'
import { makeKeyspace, type Replication } from './keyspace.ts'
import { recordTableChanges } from './record-tables.ts'
import { retentionChanges } from './retention.ts'
import type { Expiring } from './retention.ts'
import type { StartWait } from './start-wait.ts'
import { speculationChanges, withSpeculation } from './speculation.ts'

/** The files of this version, `NNN-name.cql`, numbered from 1. Each is applied once, forwards only. */
const DIRECTORY = join(import.meta.dirname, 'schema')
/** The lock ends by itself after this time, so that a dead process does not keep it. Each statement has as long. */
const LOCK_SECONDS = 15
const LOCK_RETRY_PAUSE_MS = 200
/** A server that creates tables answers late: a step of the lock is retried until the lock would have ended by itself. */
const LOCK_STEP_WITHIN_MS = LOCK_SECONDS * 1_000

/** Milliseconds within which tables that another process makes exist. */
const EXISTS_WITHIN_MS = 5_000
const EXISTS_RETRY_PAUSE_MS = 100

export interface SchemaOptions {
  readonly keyspace: string
  readonly datacenter: string
  readonly replication: Replication
  readonly hasTablets?: boolean
  readonly expiring: readonly Expiring[]
  readonly clock: Clock
  /** Wait for another process that is changing the schema. */
  readonly lockWait: StartWait
  /** Runs in the middle of each file. */
  readonly applying: () => void
}

interface SchemaFile {
  readonly version: number
  readonly name: string
  readonly statements: readonly string[]
}

/**
 * Migrates the keyspace to the schema of this version, and returns the files that it applied. Other processes may do the
 * same at the same time. Every statement can be repeated: a file whose process died is applied again as a whole. A keyspace
 * with a newer schema is refused.
 */
export async function applySchema(client: CqlClient, options: SchemaOptions): Promise<string[]> {
  const files = await schemaFiles()
  await makeKeyspace(client, options)
  await onceThere(options.clock, () => makeVersionTable(client, options.keyspace))
  const { keyspace, clock } = options
  const version = await onceThere(clock, () => currentVersion(client, keyspace))
  refuseNewer(version, files, keyspace)
  if (version === files.at(-1)!.version && (await otherChanges(client, options)).length === 0) return []
  const lock = new SchemaLock(client, options)
  await lock.take()
  try {
    return await applyLocked(client, options, files, lock)
  } finally {
    await lock.release()
  }
}

async function applyLocked(
  client: CqlClient,
  options: SchemaOptions,
  files: readonly SchemaFile[],
  lock: SchemaLock
): Promise<string[]> {
  const { keyspace } = options
  // Most processes that waited for the lock find nothing left to do.
  const version = await currentVersion(client, keyspace)
  refuseNewer(version, files, keyspace)
  // Before the file that divides them, so that a start which dies in between leaves the mark.
  if (makesEarlierDocuments(version)) await lock.record(EARLIER_DOCUMENTS)
  const applied: string[] = []
  for (const file of files.filter((file) => file.version > version)) {
    const half = Math.ceil(file.statements.length / 2)
    for (const [i, statement] of file.statements.entries()) {
      await lock.renew()
      await define(client, withSpeculation(withKeyspace(statement, keyspace)))
      if (i + 1 === half) options.applying()
    }
    await lock.record(file)
    applied.push(file.name)
  }
  for (const statement of await otherChanges(client, options)) {
    await lock.renew()
    await define(client, statement)
  }
  return applied
}

/**
 * The statements that are in no file: they create the tables of records, and set the options of tables that this version and
 * its configuration need.
 */
async function otherChanges(client: CqlClient, options: SchemaOptions): Promise<string[]> {
  return [
    ...(await recordTableChanges(client, options)),
    ...(await retentionChanges(client, options)),
    ...(await speculationChanges(client, options))
  ]
}

/** Repeats a statement that may have taken effect: both servers have no common IF NOT EXISTS for adding a column. */
async function define(client: CqlClient, statement: string): Promise<void> {
  try {
    await client.define(statement)
  } catch (error) {
    if (!isThere(error)) throw error
  }
}

export async function schemaFiles(): Promise<SchemaFile[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.cql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(DIRECTORY, name), 'utf8')
      return { name, version: Number(name.slice(0, 3)), statements: statementsOf(text) }
    })
  )
}

/** Statements end with a semicolon at the end of a line; comments are lines of their own. */
function statementsOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('--'))
  return lines
    .join('\n')
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** The files contain only unqualified table names. */
const withKeyspace = (statement: string, keyspace: string): string =>
  statement.replace(/^(CREATE TABLE IF NOT EXISTS|ALTER TABLE) /, `$1 ${keyspace}.`)

/** Applied versions and the holder of the lock, in one partition, so that both are one conditional write. */
export const VERSION_TABLE =
  'schema_versions (name text, version int, file text, holder text static, PRIMARY KEY (name, version))'

async function makeVersionTable(client: CqlClient, keyspace: string): Promise<void> {
  const statement =
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'schema_versions'"
  if ((await client.read(statement, [keyspace])).length > 0) return
  await client.define(withSpeculation(`CREATE TABLE IF NOT EXISTS ${keyspace}.${VERSION_TABLE}`))
}

/**
 * Runs a statement that needs a keyspace or a table which another process may be creating. A keyspace or table is listed a
 * moment before it can be used.
 */
async function onceThere<T>(clock: Clock, run: () => Promise<T>): Promise<T> {
  const deadline = clock.now() + EXISTS_WITHIN_MS
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!isMissing(error) || clock.now() > deadline) throw error
      await sleep(clock, EXISTS_RETRY_PAUSE_MS, NEVER)
    }
  }
}

async function currentVersion(client: CqlClient, keyspace: string): Promise<number> {
  const rows = await client.read(`SELECT version FROM ${keyspace}.schema_versions WHERE name = ?`, [NAME])
  return Math.max(0, ...rows.map((row) => row['version'] as number))
}

function refuseNewer(version: number, files: readonly SchemaFile[], keyspace: string): void {
  const newest = files.at(-1)!.version
  if (version <= newest) return
  throw new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `the keyspace ${keyspace} has schema ${version}, newer than ${newest}, the newest this version knows: start the version that wrote it or a later one, or restore snapshots from before the upgrade (src/docs/upgrade.md)`
  )
}

const NAME = 'millrace'

/** A lock with a lease. The work under it can be repeated, so a holder that has lost it does no harm. */
class SchemaLock {
  readonly #client: CqlClient
  readonly #table: string
  readonly #options: Pick<SchemaOptions, 'clock' | 'lockWait'>
  readonly #holder = randomUUID()

  constructor(client: CqlClient, options: SchemaOptions) {
    this.#client = client
    this.#table = `${options.keyspace}.schema_versions`
    this.#options = options
  }

  async take(): Promise<void> {
    const { clock, lockWait } = this.#options
    const deadline = clock.now() + lockWait.ms
    while (!(await this.#takeIfFree())) {
      if (clock.now() > deadline || lockWait.end.aborted)
        throw new NotYetOpen(
          ERRORS.STORAGE_UNAVAILABLE,
          `another process has been changing the schema for ${lockWait.ms / 1_000} s: check that process, and restart`
        )
      lockWait.waiting('another process is changing the schema of the keyspace')
      await sleep(clock, LOCK_RETRY_PAUSE_MS, lockWait.end)
    }
  }

  /** A lease that ended during a long statement is acquired again, unless another process has it by now. */
  async renew(): Promise<void> {
    if ((await this.#hold('holder = ?')) || (await this.#hold('holder = null'))) return
    throw lostLock()
  }

  /** Records that a file is applied, which only the holder may do. */
  async record({ version, name }: Pick<SchemaFile, 'version' | 'name'>): Promise<void> {
    await this.renew()
    const file = `UPDATE ${this.#table} SET file = ? WHERE name = ? AND version = ? IF holder = ?`
    const { applied } = await this.#conditional(file, [name, NAME, version, this.#holder])
    if (!applied) throw lostLock()
  }

  /** If that fails, the lease ends the lock. */
  async release(): Promise<void> {
    const statement = `DELETE holder FROM ${this.#table} WHERE name = ? IF holder = ?`
    const params = [NAME, this.#holder]
    await this.#client.conditional([{ statement, params }]).catch(() => undefined)
  }

  /** Reads first: conditional writes of waiting processes would conflict with the holder's. */
  async #takeIfFree(): Promise<boolean> {
    const holder = `SELECT holder FROM ${this.#table} WHERE name = ? LIMIT 1`
    const [row] = await this.#client.read(holder, [NAME])
    if (typeof row?.['holder'] === 'string' && row['holder'] !== this.#holder) return false
    return this.#hold('holder = null')
  }

  async #hold(condition: 'holder = null' | 'holder = ?'): Promise<boolean> {
    const statement = `UPDATE ${this.#table} USING TTL ${LOCK_SECONDS} SET holder = ? WHERE name = ? IF ${condition}`
    const params = [this.#holder, NAME, ...(condition === 'holder = ?' ? [this.#holder] : [])]
    const { applied, row } = await this.#conditional(statement, params)
    // A try without an answer may have taken effect.
    return applied || row['holder'] === this.#holder
  }

  /** A conditional write that is repeated while it has no answer. Each of ours is idempotent. */
  async #conditional(statement: string, params: readonly unknown[]): Promise<Conditional> {
    const { clock } = this.#options
    const deadline = clock.now() + LOCK_STEP_WITHIN_MS
    for (;;) {
      try {
        return await this.#client.conditional([{ statement, params }])
      } catch (error) {
        if (!isOutage(error) || clock.now() > deadline) throw error
        await sleep(clock, LOCK_RETRY_PAUSE_MS, NEVER)
      }
    }
  }
}

/** The wait for the lock has a limit of its own. */
const NEVER = new AbortController().signal

const lostLock = (): NotYetOpen =>
  new NotYetOpen(
    ERRORS.STORAGE_UNAVAILABLE,
    'another process took over the change of the schema, which took longer than its lock: restart'
  )
