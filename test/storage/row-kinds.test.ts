import t from 'tap'
import { schemaFiles } from '../../storage/scylla/schema.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { ROW_KINDS } from '../../storage/row-kinds.ts'
import { ADDRESSED, tableOf } from '../../storage/codec/records.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { withRawStore } from './embedded-directory.ts'

t.test('each kind of rows has a name, a letter and tables of its own', async (t) => {
  for (const values of [
    ROW_KINDS.map(({ name }) => name),
    ROW_KINDS.flatMap(({ letter }) => letter ?? []),
    ROW_KINDS.flatMap(({ tables }) => tables)
  ])
    t.equal(new Set(values).size, values.length)
})

t.test('every table of a cluster is of a kind, and each that a kind names is there', async (t) => {
  const statements = (await schemaFiles()).flatMap(({ statements }) => statements)
  const made = statements.flatMap((text) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(text)?.[1] ?? [])
  const counted = ROW_KINDS.flatMap(({ tables }) => tables)
  t.strictSame(
    new Set(counted),
    // The table of versions is created before the files are read, and tables of records by address wherever one is missing.
    new Set([
      ...made.map((table) => table.replace(/_buckets$/, '')),
      ...ADDRESSED.map(tableOf),
      'schema_versions'
    ])
  )
})

t.test('every key of an embedded store is of a kind', async (t) => {
  const directory = t.testdir()
  const storage = await openEmbeddedStorage({ directory })
  for (let index = 0; index < 60; index++) await storage.blocks.commit(sampleBlock(1, index))
  await storage.close()
  const letters = new Set(ROW_KINDS.flatMap(({ letter }) => letter ?? []))
  const found = await withRawStore(directory, async (raw) => {
    const found = new Set<string>()
    for await (const key of raw.keys()) found.add(String.fromCharCode(key[0]!))
    return found
  })
  t.ok(found.size > 15, [...found].join(''))
  t.strictSame(
    [...found].filter((letter) => !letters.has(letter)),
    []
  )
})
