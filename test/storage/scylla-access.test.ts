import t from 'tap'
import { ALL, apiKeysIn, tenantsIn } from '../../storage/access-documents.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { sampleKey, storedKeys, storedTenants } from '../../storage/test/sample-access.ts'
import { newKeyspaceName, testWithCql } from '../servers/cql.ts'
import { EARLIER, EARLIER_KEYS, EARLIER_TENANTS, earlierKey } from './earlier-access.ts'
import { rawClient, scyllaOptions } from './scylla-keyspace.ts'

testWithCql(t, 'tenants and API keys of a keyspace of an earlier version', async (t, server) => {
  const options = scyllaOptions(server, newKeyspaceName())
  const raw = await rawClient(server)
  const execute = (statement: string, params: readonly unknown[] = []) =>
    raw.execute(
      statement.replace(
        / (tenants|api_keys|documents|document_hot|schema_versions)\b/,
        ` ${options.keyspace}.$1`
      ),
      [...params],
      {
        prepare: params.length > 0
      }
    )
  await (await openScyllaStorage(options)).close()
  t.teardown(async () => {
    await raw.execute(`DROP KEYSPACE ${options.keyspace}`)
    await raw.shutdown()
  })
  // As the version before documents left it.
  for (const table of ['documents', 'document_hot']) await execute(`DROP TABLE ${table}`)
  await execute(`DELETE FROM schema_versions WHERE name = 'millrace' AND version >= 7`)
  await execute(
    'CREATE TABLE tenants (collection text, name text, tenant blob, writer blob, PRIMARY KEY (collection, name))'
  )
  await execute(
    'CREATE TABLE api_keys (collection text, changes int static, writer blob static, hash blob, id text, key blob, PRIMARY KEY (collection, hash))'
  )
  const putTenant = 'INSERT INTO tenants (collection, name, tenant) VALUES (?, ?, ?)'
  for (const { row, bytes } of EARLIER.tenants)
    await execute(putTenant, ['all', row.name, Buffer.from(bytes, 'hex')])
  const putKey = 'INSERT INTO api_keys (collection, hash, id, key) VALUES (?, ?, ?, ?)'
  for (const { row, bytes } of EARLIER.keys)
    await execute(putKey, ['all', Buffer.from(row.hash), row.id, Buffer.from(bytes, 'hex')])

  t.test('processes that start at once all serve them', async (t) => {
    const processes = await Promise.all([openScyllaStorage(options), openScyllaStorage(options)])
    for (const storage of processes) {
      t.strictSame(await storedTenants(storage), EARLIER_TENANTS)
      t.strictSame(await storedKeys(storage), EARLIER_KEYS)
      const found = await apiKeysIn(storage.documents).findBy('hash', ALL, [sampleKey(1).hash])
      t.strictSame(found?.value, earlierKey(1))
      await storage.close()
    }
  })

  t.test(
    'a later start takes back no change, and adds what an earlier version has written since',
    async (t) => {
      const storage = await openScyllaStorage(options)
      const keys = apiKeysIn(storage.documents)
      const [first] = await keys.all(ALL)
      await keys.update(first!, { ...first!.value, revokedAtMs: 7, successor: 'another' })
      await storage.close()
      const { row, bytes } = EARLIER.keys.at(-1)!
      await execute('DELETE FROM api_keys WHERE collection = ? AND hash = ?', ['all', Buffer.from(row.hash)])
      const again = await openScyllaStorage(options)
      t.strictSame(await storedKeys(again), [
        { ...EARLIER_KEYS[0]!, revokedAtMs: 7, successor: 'another' },
        ...EARLIER_KEYS.slice(1)
      ])
      const active = await apiKeysIn(again.documents).findBy('hash', ALL, [row.hash])
      await apiKeysIn(again.documents).update(active!, { ...row, revokedAtMs: null })
      await again.close()
      await execute(putKey, ['all', Buffer.from(row.hash), row.id, Buffer.from(bytes, 'hex')])
      const last = await openScyllaStorage(options)
      t.strictSame((await storedKeys(last)).at(-1), row, 'a process of the earlier version has revoked it')
      await last.close()
    }
  )

  t.test('a keyspace that is new has no tables of them', async (t) => {
    const fresh = scyllaOptions(server, newKeyspaceName())
    const storage = await openScyllaStorage(fresh)
    t.strictSame(await storedTenants(storage), [])
    t.ok((await tenantsIn(storage.documents).insert({ name: 'a', createdAtMs: 1 })).ok)
    await storage.close()
    const { rows } = await raw.execute(
      'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?',
      [fresh.keyspace]
    )
    t.notOk(rows.some((row) => ['tenants', 'api_keys'].includes(row['table_name'] as string)))
    await raw.execute(`DROP KEYSPACE ${fresh.keyspace}`)
  })
})
