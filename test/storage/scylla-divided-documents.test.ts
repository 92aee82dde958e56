import t from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { Documents } from '../../storage/documents.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { LETTER, valuesOf, type Letter } from '../../storage/test/sample-documents.ts'
import { stored } from '../../storage/test/conformance/documents.ts'
import { testWithCql } from '../servers/cql.ts'
import { ScyllaUnderTest, TEST_DIVIDED } from './scylla-keyspace.ts'

const letter = (number: number, changes: Partial<Letter> = {}): Letter => ({
  owner: 'ann',
  number,
  box: 'a',
  sentAtMs: number,
  isOpen: true,
  ...changes
})

testWithCql(t, 'documents of kinds without a limit on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  const rowsIn = async (table: string, column: string): Promise<number> =>
    (await under.rows(`SELECT ${column} FROM ${table}`)).length

  t.test('documents that an earlier version has stored are read and changed where they are', async (t) => {
    await under.clear()
    const mark = "INSERT INTO schema_versions (name, version, file) VALUES ('millrace', -14, 'earlier')"
    const unmark = "DELETE FROM schema_versions WHERE name = 'millrace' AND version = -14"
    const { keyspace } = under.options
    const { letter: _, ...others } = TEST_DIVIDED
    const before = await openScyllaStorage({ ...under.options, divided: others, ports: systemPorts })
    const earlier = new Documents(before.documents, LETTER)
    const old = stored(await earlier.insert(letter(1)))
    stored(await earlier.insert(letter(3)))
    stored(await earlier.insert(letter(5, { box: 'b' })))
    await earlier.putHot(old, 1, { position: 1 })
    await before.close()
    await under.change(mark.replace('INTO ', `INTO ${keyspace}.`))
    const storage = await openScyllaStorage(under.options)
    t.teardown(async () => {
      await storage.close()
      await under.change(unmark)
    })
    const letters = new Documents(storage.documents, LETTER)
    t.strictSame(await letters.insert(letter(3)), { ok: false, reason: 'exists' })
    for (const number of [2, 4]) stored(await letters.insert(letter(number)))
    const listed = async (limit: number): Promise<number[]> => {
      const found: number[] = []
      let after: string | null = null
      do {
        const page: Awaited<ReturnType<typeof letters.list>> = await letters.list('ann', { limit, after })
        found.push(...valuesOf(page.documents).map(({ number }) => number))
        after = page.next
      } while (after !== null)
      return found
    }
    for (const limit of [1, 2, 9]) t.strictSame(await listed(limit), [1, 2, 3, 4, 5])
    const inBox = async (box: string): Promise<number[]> =>
      valuesOf(
        (await letters.listBy('byBox', 'ann', { prefix: [box], order: 'desc', limit: 9 })).documents
      ).map(({ number }) => number)
    t.strictSame([await inBox('a'), await inBox('b')], [[4, 3, 2, 1], [5]])
    const read = (await letters.get('ann', [1]))!
    t.strictSame(await letters.fenceHot(read, 2), { token: 2, hot: { position: 1 } })
    await letters.putHot(read, 2, { position: 2 })
    t.strictSame(await letters.hot([read]), [{ position: 2 }])
    const moved = stored(await letters.update(read, letter(1, { box: 'b' })))
    t.strictSame(
      [await inBox('a'), await inBox('b')],
      [
        [4, 3, 2],
        [5, 1]
      ]
    )
    t.equal(await rowsIn('document_shares', 'row'), 2, 'none has moved')
    t.equal(await letters.delete(moved), true)
    t.equal(await letters.get('ann', [1]), null)
    stored(await letters.insert(letter(1)))
    t.equal(await rowsIn('document_shares', 'row'), 3, 'a new one of the key is divided')
    t.strictSame(await listed(2), [1, 2, 3, 4, 5])
  })

  t.test(
    'a document and its entries are in partitions of their own, and a change leaves no other entry',
    async (t) => {
      const { storage } = await under.open(t)
      const letters = new Documents(storage.documents, LETTER)
      const first = stored(await letters.insert(letter(1)))
      for (const number of [2, 12, 22]) stored(await letters.insert(letter(number)))
      await letters.update(first, letter(1, { sentAtMs: 500, isOpen: false }))
      t.equal(await rowsIn('documents', 'row'), 0)
      t.equal(await rowsIn('document_shares', 'row'), 4)
      const entries = await under.rows('SELECT list, bucket, entry, version, owner FROM document_entries')
      // By number and by box, and those that are open: no entry of the earlier version is left.
      t.equal(entries.length, 4 + 4 + 3)
      const buckets = await under.rows('SELECT list, bucket FROM document_entries_buckets')
      t.strictSame(
        buckets.map((row) => Number(row['bucket'])).toSorted((a, b) => a - b),
        [0, 0, 0, 1, 2, 5]
      )
    }
  )

  t.test('a list that does not state its owner is refused, instead of read in part', async (t) => {
    const { storage } = await under.open(t)
    const letters = new Documents(storage.documents, LETTER)
    await t.rejects(letters.listBy('byBox', 'ann', { limit: 9 }), RangeError)
  })
})
