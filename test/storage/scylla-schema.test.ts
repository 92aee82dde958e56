import t from 'tap'
import type { Test } from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { CqlClient } from '../../storage/scylla/client.ts'
import type { Retention } from '../../storage/scylla/retention.ts'
import { EXPIRING_TABLES, LOG_TABLES } from '../../storage/scylla/row-lists.ts'
import { applySchema, schemaFiles } from '../../storage/scylla/schema.ts'
import type { SchemaOptions } from '../../storage/scylla/schema.ts'
import { newKeyspaceName, testWithCql } from '../servers/cql.ts'
import type { CqlServer } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { rawClient, scyllaOptions } from './scylla-keyspace.ts'

const DAY = 86_400

t.test(
  'the files of the schema are numbered in their order, and each statement can be repeated',
  async (t) => {
    const files = await schemaFiles()
    const versions = files.map(({ version }) => version)
    t.strictSame(
      versions,
      files.map((_, index) => index + 1),
      'without a gap'
    )
    for (const { statements } of files) {
      t.ok(statements.length > 0)
      for (const statement of statements)
        t.match(statement, /^(CREATE TABLE IF NOT EXISTS \w+ \(|ALTER TABLE \w+ (ADD \w+ |WITH ))/)
    }
  }
)

const expiring = (rows: Retention, log: Retention) => [
  { tables: EXPIRING_TABLES, seconds: rows },
  { tables: LOG_TABLES, seconds: log }
]

/** Returns a keyspace that does not exist yet, and is dropped with the test. */
async function keyspaceOf(t: Test, server: CqlServer) {
  const { keyspace, ...driver } = scyllaOptions(server, newKeyspaceName())
  const raw = await rawClient(server)
  t.teardown(async () => {
    await raw.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`)
    await endClient(raw)
  })
  const options: SchemaOptions = {
    keyspace,
    datacenter: server.datacenter,
    replication: 1,
    expiring: expiring(null, null),
    clock: systemPorts.clock,
    lockWait: { ms: 120_000, waiting: () => undefined, end: new AbortController().signal },
    applying: () => undefined
  }
  const connect = async (): Promise<CqlClient> => {
    const client = await CqlClient.connect(driver, null, systemPorts)
    t.teardown(() => client.close())
    return client
  }
  return { keyspace, raw, options, connect }
}

testWithCql(t, 'the schema of a keyspace', async (t, server) => {
  const all = await schemaFiles()
  const files = all.map(({ name }) => name)
  const newest = all.at(-1)!.version

  t.test(
    'of ten processes that start at once one applies each file, and the others wait for it',
    async (t) => {
      const { keyspace, raw, options, connect } = await keyspaceOf(t, server)
      const clients = await Promise.all(Array.from({ length: 10 }, connect))
      const applied = await Promise.all(clients.map((client) => applySchema(client, options)))
      t.strictSame(applied.flat(), files, 'each file once, in order')
      const { rows } = await raw.execute(`SELECT version, file, holder FROM ${keyspace}.schema_versions`)
      t.strictSame(
        rows.map((row): unknown[] => [row['version'], row['file'], row['holder']]),
        all.map(({ version, name }) => [version, name, null]),
        'and nobody has the lock'
      )
    }
  )

  t.test('a file that a start stopped in the middle of is applied as a whole by the next', async (t) => {
    const { options, connect } = await keyspaceOf(t, server)
    const client = await connect()
    let middles = 0
    const applying = (): void => {
      if (middles++ % 2 === 0) throw new Error('stopped on purpose')
    }
    for (const file of files)
      await t.rejects(applySchema(client, { ...options, applying }), { message: 'stopped on purpose' }, file)
    t.equal(middles, 2 * files.length - 1, 'each was stopped, and the one before it was not')
    t.strictSame(await applySchema(client, options), files.slice(-1))
    t.strictSame(await applySchema(client, options), [], 'and then nothing')
  })

  t.test('a keyspace of the schema before is migrated, and its rows stay', async (t) => {
    const { keyspace, raw, options, connect } = await keyspaceOf(t, server)
    const client = await connect()
    await applySchema(client, options)
    const rows = async (): Promise<unknown> =>
      (await raw.execute(`SELECT owner, bucket, cursor, row FROM ${keyspace}.trades_by_mint`)).rows
    await raw.execute(
      `INSERT INTO ${keyspace}.trades_by_mint (owner, bucket, cursor, epoch, commit, row) VALUES (0x01, 2, 3, 4, 5, 0x06)`
    )
    const before = JSON.stringify(await rows())
    // Its newest file changed such options alone.
    const grace = async (): Promise<unknown> =>
      (
        await raw.execute(
          `SELECT gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = '${keyspace}' AND table_name = 'program_accounts'`
        )
      ).first()['gc_grace_seconds']
    await raw.execute(`ALTER TABLE ${keyspace}.program_accounts WITH gc_grace_seconds = 86400`)
    await raw.execute(
      `DELETE FROM ${keyspace}.schema_versions WHERE name = 'millrace' AND version = ${newest}`
    )
    t.strictSame(await applySchema(client, options), files.slice(-1))
    t.equal(await grace(), 1_800)
    t.equal(JSON.stringify(await rows()), before)
    t.match(before, '"data":[6]')
  })

  t.test('the lock of a process that died ends by itself', async (t) => {
    const { keyspace, raw, options, connect } = await keyspaceOf(t, server)
    const client = await connect()
    await t.rejects(
      applySchema(client, {
        ...options,
        applying() {
          throw new Error('stopped on purpose')
        }
      })
    )
    await raw.execute(
      `UPDATE ${keyspace}.schema_versions USING TTL 600 SET holder = 'who died' WHERE name = 'millrace'`
    )
    let waits = 0
    const waiting = (): void => {
      // Its lease is about to end, once something waits for it.
      if (waits++ === 0)
        void raw.execute(
          `UPDATE ${keyspace}.schema_versions USING TTL 1 SET holder = 'who died' WHERE name = 'millrace'`
        )
    }
    const lockWait = { ...options.lockWait, waiting }
    t.strictSame(await applySchema(client, { ...options, lockWait }), files)
    t.ok(waits > 0, 'it waited')
  })

  t.test('a lock that ended while a statement took long is taken again by its holder', async (t) => {
    const { keyspace, raw, options, connect } = await keyspaceOf(t, server)
    const client = await connect()
    let ended = 0
    const define = client.define.bind(client)
    client.define = async (statement) => {
      await define(statement)
      if (!statement.includes('CREATE TABLE') || statement.includes('schema_versions') || ended > 0) return
      await raw.execute(`DELETE holder FROM ${keyspace}.schema_versions WHERE name = 'millrace'`)
      ended++
    }
    t.strictSame(await applySchema(client, options), files)
    t.equal(ended, 1, 'it ended once')
  })

  t.test('a lock that another process has taken over is not taken back', async (t) => {
    const { keyspace, raw, options, connect } = await keyspaceOf(t, server)
    const client = await connect()
    const define = client.define.bind(client)
    let taken = 0
    client.define = async (statement) => {
      await define(statement)
      if (!statement.includes('CREATE TABLE') || statement.includes('schema_versions')) return
      if (taken++ > 0) return
      await raw.execute(
        `UPDATE ${keyspace}.schema_versions USING TTL 600 SET holder = 'the other' WHERE name = 'millrace'`
      )
    }
    await t.rejects(applySchema(client, options), { message: /another process took over/ })
    t.equal(taken, 1)
  })

  t.test('every table asks one more replica soon, also one that an earlier version made', async (t) => {
    const { keyspace, raw, options, connect } = await keyspaceOf(t, server)
    const client = await connect()
    const stored = async (): Promise<unknown[]> => {
      const { rows } = await raw.execute(
        'SELECT speculative_retry FROM system_schema.tables WHERE keyspace_name = ?',
        [keyspace],
        { prepare: true }
      )
      t.ok(rows.length > 20)
      return [...new Set(rows.map((row) => Number.parseFloat(row['speculative_retry'] as string)))]
    }
    await applySchema(client, options)
    t.strictSame(await stored(), [50])
    await raw.execute(`ALTER TABLE ${keyspace}.trades_by_mint WITH speculative_retry = '99p'`)
    t.strictSame(await applySchema(client, options), [])
    t.strictSame(await stored(), [50])
  })

  t.test('tables that expire have windows by their retention, which follow when it changes', async (t) => {
    const { keyspace, raw, options, connect } = await keyspaceOf(t, server)
    const client = await connect()
    const stored = async (tables: readonly string[]): Promise<unknown[]> => {
      const { rows } = await raw.execute(
        'SELECT table_name, compaction, default_time_to_live FROM system_schema.tables WHERE keyspace_name = ?',
        [keyspace],
        { prepare: true }
      )
      const of = rows.filter((row) => tables.includes(row['table_name'] as string))
      t.equal(of.length, tables.length)
      return [
        ...new Set(
          of.map((row) => {
            const compaction = row['compaction'] as Record<string, string>
            const window = `${compaction['compaction_window_size']} ${compaction['compaction_window_unit']}`
            return `${compaction['class']?.split('.').at(-1)} ${window} ${row['default_time_to_live']}`
          })
        )
      ]
    }
    const become = async (rows: Retention, log: Retention): Promise<unknown[]> => {
      await applySchema(client, { ...options, expiring: expiring(rows, log) })
      return [...(await stored(EXPIRING_TABLES)), ...(await stored(LOG_TABLES))]
    }
    const windows = (window: string, seconds: number) => `TimeWindowCompactionStrategy ${window} ${seconds}`
    const ninety = windows('3 DAYS', 90 * DAY)
    t.strictSame(await become(90 * DAY, 3_600), [ninety, windows('2 MINUTES', 3_600)])
    t.strictSame(await become(90 * DAY, DAY), [ninety, windows('1 HOURS', DAY)], 'each has its own')
    const seven = [windows('6 HOURS', 7 * DAY), windows('1 HOURS', DAY)]
    t.strictSame(await become(7 * DAY, DAY), seven)
    t.strictSame(await become('as it is', 'as it is'), seven, 'a gateway has no say')
    const kept = 'SizeTieredCompactionStrategy undefined undefined 0'
    t.strictSame(await become(null, null), [kept, kept])
  })
})
