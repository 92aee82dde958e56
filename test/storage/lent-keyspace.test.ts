import t from 'tap'
import { samePubkey } from '../../src/chain/pubkey.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { testWithCql } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { LentKeyspace, tablesOf } from './lent-keyspace.ts'
import { rawClient, ScyllaUnderTest, scyllaOptions } from './scylla-keyspace.ts'

testWithCql(t, 'a keyspace that a test leaves', async (t, server) => {
  const client = await rawClient(server)
  t.teardown(() => endClient(client))
  const { keyspace: _, ...options } = scyllaOptions(server, '')
  const take = (isNew = false): Promise<LentKeyspace> => LentKeyspace.take(server, client, options, isNew)
  const rowsOf = async (keyspace: string): Promise<number> => {
    let count = 0
    for (const table of await tablesOf(client, keyspace))
      count += (await client.execute(`SELECT * FROM ${keyspace}.${table} LIMIT 1`)).rows.length
    return count
  }
  const isThere = async (keyspace: string): Promise<boolean> => {
    const statement = `SELECT * FROM system_schema.keyspaces WHERE keyspace_name = '${keyspace}'`
    return (await client.execute(statement)).rows.length > 0
  }
  const first = await take(true)
  const storage = await openScyllaStorage({ ...options, keyspace: first.name })
  await storage.blocks.claim(null)
  await storage.blocks.commit(sampleBlock(9, 0))
  await storage.close()
  t.ok((await rowsOf(first.name)) > 0)

  t.test('is empty for the next one, which no other gets', async (t) => {
    await first.end()
    t.equal(await isThere(first.name), server.endsWithRun === true, 'a server that stays has none left')
    const [one, other] = [await take(), await take()]
    t.not(one.name, other.name)
    for (const { name } of [one, other]) t.equal(await rowsOf(name), 0)
    await Promise.all([one.end(), other.end()])
  })

  t.test('is dropped where its tables are other ones', async (t) => {
    const changed = await take()
    await client.execute(`ALTER TABLE ${changed.name}.journal WITH default_time_to_live = 60`)
    await changed.end()
    t.equal(await isThere(changed.name), false)
  })
})

testWithCql(t, 'stores one after another in a keyspace', async (t, server) => {
  const under = await ScyllaUnderTest.make(server, { flushBlocks: 1 })
  t.teardown(() => under.end())
  const blocks = [0, 1, 2, 3, 4, 5].map((index) => sampleBlock(9, index))
  const [first] = blocks as [BlockCommit]
  const { mint } = first.pairs[0]!
  const pairRows = `FROM pairs WHERE mint = 0x${Buffer.from(mint).toString('hex')}`

  t.test('a row of an earlier store that arrives late does not stand for one of the next', async (t) => {
    const earlier = await under.open(t)
    for (const block of blocks) await earlier.storage.blocks.commit(block)
    await earlier.storage.close()
    const [row] = await under.rows(`SELECT JSON * ${pairRows}`)
    const [written] = await under.rows(`SELECT writetime(value) AS at ${pairRows}`)
    t.ok(Number(written!['at']) % 2 ** 31 > 1, 'the row is of a later commit than the first')
    const next = await under.open(t)
    await next.storage.blocks.commit(first)
    await under.change(
      `INSERT INTO ${under.options.keyspace}.pairs JSON '${row!['[json]']}' USING TIMESTAMP ${written!['at']}`
    )
    const pairs = first.pairs.filter((pair) => samePubkey(pair.mint, mint))
    t.strictSame(await (await next.reopen()).pairs.ofMint(mint), pairs)
  })
})
