import fc from 'fast-check'
import t from 'tap'
import type { CqlRow } from '../../storage/scylla/client.ts'
import { beginScans, mergedScans } from '../../storage/scylla/merged-scans.ts'
import { randomRuns } from '../random-runs.ts'

/** Rows of a scan, in pages. */
async function* scanOf(
  pages: readonly (readonly number[])[],
  read: () => void
): AsyncGenerator<CqlRow[], void> {
  for (const page of pages) {
    read()
    yield page.map((value) => ({ key: Buffer.of(value >> 8, value & 255) }))
  }
}

const valueOf = (row: CqlRow): number => (row['key'] as Buffer).readUInt16BE()

/** Divides a list into pages, some of which are empty. */
const pagesOf = (values: readonly number[], sizes: readonly number[]): number[][] => {
  const pages: number[][] = []
  let from = 0
  for (const size of sizes) {
    pages.push(values.slice(from, from + size))
    from += size
  }
  return [...pages, values.slice(from)]
}

t.test('scans that ascend are one scan that ascends, whatever their pages', async (t) => {
  const property = fc.asyncProperty(
    fc.uniqueArray(fc.nat(65_535), { maxLength: 60 }),
    fc.integer({ min: 1, max: 5 }),
    fc.array(fc.nat(4), { maxLength: 8 }),
    async (values, shares, sizes) => {
      const ascending = values.toSorted((a, b) => a - b)
      const scans = Array.from({ length: shares }, (_, share) =>
        scanOf(
          pagesOf(
            ascending.filter((value) => value % shares === share),
            sizes
          ),
          () => undefined
        )
      )
      const found: number[] = []
      for await (const rows of mergedScans(await beginScans(scans), 'key')) found.push(...rows.map(valueOf))
      t.strictSame(found, ascending)
    }
  )
  await fc.assert(property, randomRuns(100))
})

t.test('a reader that has enough requests no further pages', async (t) => {
  let reads = 0
  const count = (): void => void reads++
  const scans = [0, 1].map((share) =>
    scanOf(
      pagesOf(
        Array.from({ length: 40 }, (_, n) => n * 2 + share),
        [10, 10, 10]
      ),
      count
    )
  )
  for await (const rows of mergedScans(await beginScans(scans), 'key')) {
    t.ok(rows.length >= 19)
    break
  }
  t.equal(reads, 2, 'the first of each')
})
