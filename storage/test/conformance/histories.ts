import fc from 'fast-check'
import type { Test } from 'tap'
import { z } from 'zod'
import { defineHistory, History } from '../../histories.ts'
import type { OpenForTest } from '../under-test.ts'

const TTL_MS = 60_000

/** A history of several partitions of a cluster. */
const STAMP = defineHistory({
  kind: 'stamp',
  schema: z.object({ owner: z.string(), atMs: z.number(), id: z.string(), text: z.string() }),
  owner: ({ owner }) => owner,
  atMs: ({ atMs }) => atMs,
  id: ({ id }) => [id],
  ttlMs: TTL_MS,
  bucketMs: 1_000
})
type Stamp = z.infer<typeof STAMP.schema>

const stamps = fc.array(
  fc.record({
    owner: fc.constantFrom('ann', 'bob'),
    atMs: fc.constantFrom(0, 1, 999, 1_000, 1_000.5, 5_000, 86_400_000),
    id: fc.constantFrom('a', 'b')
  }),
  { maxLength: 12 }
)

/** Histories, which are appended to and end with their time or by a deletion. */
export async function testHistories(t: Test, open: OpenForTest, runs: number): Promise<void> {
  t.test('random rows agree with a plain list, and a deletion ends those up to its place', async (t) => {
    const { storage } = await open(t)
    let run = 0
    await fc.assert(
      fc.asyncProperty(stamps, fc.integer({ min: 1, max: 5 }), fc.nat(12), async (given, limit, kept) => {
        const prefix = `run${run++}`
        const history = new History(storage.documents, STAMP)
        const model = new Map<string, Stamp>()
        const rows = given.map((each, n) => ({ ...each, owner: `${prefix}${each.owner}`, text: `row ${n}` }))
        for (let from = 0; from < rows.length; from += 3) await history.append(rows.slice(from, from + 3))
        for (const row of rows) {
          const name = `${row.owner} ${row.atMs} ${row.id}`
          if (!model.has(name)) model.set(name, row)
        }
        const newestOf = (owner: string): Stamp[] =>
          [...model.values()]
            .filter((row) => row.owner === owner)
            .sort((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : -1))
        // The first of equal rows is the row; a repeat differs only in a test.
        const placesOf = (list: readonly Stamp[]): string[] => list.map(({ atMs, id }) => `${atMs} ${id}`)
        for (const owner of [`${prefix}ann`, `${prefix}bob`]) {
          const expected = newestOf(owner)
          const found = await history.newest(owner, limit)
          t.strictSame(placesOf(found.map(({ value }) => value)), placesOf(expected.slice(0, limit)))
          const all = await history.newest(owner, 100)
          const place = all[kept]?.place
          if (place === undefined) continue
          await history.deleteUpTo(owner, place)
          const left = await history.newest(owner, 100)
          t.strictSame(placesOf(left.map(({ value }) => value)), placesOf(expected.slice(0, kept)))
        }
        await history.deleteUpTo(`${prefix}ann`, null)
        t.strictSame(await history.newest(`${prefix}ann`, 9), [])
      }),
      { numRuns: runs, seed: 1 }
    )
  })

  t.test('a row is there after a restart, once however often it is appended', async (t) => {
    const under = await open(t)
    const row = { owner: 'ann', atMs: 5, id: 'a', text: 'x' }
    const other = { ...row, atMs: 6 }
    for (const rows of [[row], [row, other], [row]])
      await new History(under.storage.documents, STAMP).append(rows)
    const storage = await under.reopen()
    const found = await new History(storage.documents, STAMP).newest('ann', 9)
    t.strictSame(
      found.map(({ value }) => value),
      [other, row]
    )
  })
}
