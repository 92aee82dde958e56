/**
 * Tests of a record that was added to a copy of the house (`record-recipe.test.ts`), which this runs in:
 *
 *   node added-record.ts NAME
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { argv } from 'node:process'
import t from 'tap'
import { addressedRecord, tableOf, type AddressedName } from '../../storage/codec/records.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { testAmendments } from '../../storage/test/conformance/amendments.ts'
import { testAgreement } from '../../storage/test/conformance/agreement.ts'
import { testWithCql } from '../servers/cql.ts'
import { amendmentOf, assertIs, fill, modelsOf, type AmendedSeries } from './amended-series.ts'
import { withRawStore } from './embedded-directory.ts'
import { openForTest } from './embedded-under-test.ts'
import type { AmendPlan } from './scylla-amend-child.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const name = argv[2] as AddressedName
const { column, letter } = addressedRecord(name)
const table = tableOf(name)
/** Some blocks come late, and the last two are lost. */
const SERIES: AmendedSeries = { seed: 2, blocks: 14, late: [3, 4, 9], lost: 2 }

/** The bytes of each row by its address, in hex. */
type Stored = ReadonlyMap<string, string>

async function embeddedBytes(directory: string): Promise<Stored> {
  const storage = await openEmbeddedStorage({ directory })
  await fill(storage, SERIES)
  await storage.history.amend(...amendmentOf(SERIES))
  await storage.close()
  return withRawStore(directory, async (raw) => {
    const stored = new Map<string, string>()
    for await (const [key, value] of raw.iterator())
      if (key[0] === letter.charCodeAt(0)) stored.set(key.toString('hex', 1), value.toString('hex'))
    return stored
  })
}

t.test('the embedded store', async (t) => {
  const open = openForTest(t.testdir())
  t.test('random blocks', (t) => testAgreement(t, open))
  t.test('amendments', (t) => testAmendments(t, open))
})

testWithCql(t, 'the store on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  const open = under.open.bind(under)
  t.test('random blocks', (t) => testAgreement(t, open))
  t.test('amendments', (t) => testAmendments(t, open))

  t.test('a row has the same bytes as in the embedded store', async (t) => {
    const { storage } = await under.open(t)
    await fill(storage, SERIES)
    await storage.history.amend(...amendmentOf(SERIES))
    const rows = await under.rows(`SELECT ${column}, value FROM ${table}`)
    const hex = (row: (typeof rows)[number], of: string): string => (row[of] as Buffer).toString('hex')
    const there = rows.filter((row) => hex(row, 'value') !== '')
    const stored = new Map(there.map((row) => [hex(row, column), hex(row, 'value')]))
    assert.deepStrictEqual(stored, await embeddedBytes(t.testdir()))
    t.equal(stored.size, modelsOf(SERIES).after.rows.all(name).length)
  })

  for (const at of [
    'flush.writing',
    'flush.written',
    'amend.writing',
    'amend.written',
    'amend.visible'
  ] as const)
    t.test(`a writer that is killed at ${at}, and the next one`, async (t) => {
      await under.clear()
      const live = (plan: Pick<AmendPlan, 'at' | 'fills'>) => {
        const store = { ...under.options, flushBlocks: 4 }
        const whole: AmendPlan = { store, series: SERIES, forgets: null, afterMs: 0, ...plan }
        const child = join(import.meta.dirname, 'scylla-amend-child.ts')
        return spawnSync(process.execPath, [child, JSON.stringify(whole)], { encoding: 'utf8' })
      }
      const { stdout, signal } = live({ at, fills: true })
      t.strictSame([stdout, signal], [`killed at ${at}\n`, 'SIGKILL'])
      t.equal(live({ at: null, fills: at.startsWith('flush') }).stdout, 'amended\ndone\n')
      const storage = await openScyllaStorage(under.options)
      t.teardown(() => storage.close())
      await assertIs(storage, SERIES, 'after')
    })
})
