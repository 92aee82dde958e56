import t from 'tap'
import { Snapshot } from '../../storage/scylla/visibility.ts'
import { readConsistently } from '../../storage/scylla/read-consistently.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

/** A store in which flushes overtake the reads of a query with the given numbers. */
function overtaken(reads: ReadonlySet<number>) {
  let flushes = 0
  let asked = 0
  const base = {
    visibility: {
      get snapshot() {
        return new Snapshot({ epoch: 1, number: flushes }, null, new Map())
      }
    }
  }
  /** A query of two reads: the halves of one answer, each at the flush that it saw. */
  const query = async (): Promise<readonly [number, number]> => {
    const first = flushes
    asked++
    if (reads.has(asked)) flushes++
    return [first, flushes]
  }
  return { base, query, asked: () => asked }
}

t.test('a query that a flush overtakes is asked again until both reads saw the same blocks', async (t) => {
  const { base, query, asked } = overtaken(new Set([1, 2, 3, 4]))
  t.same(await readConsistently(base, query), [4, 4])
  t.equal(asked(), 5)
})

t.test(
  'a query that flushes overtake every time rejects instead of answering with half of a block',
  async (t) => {
    const { base, query, asked } = overtaken(new Set([1, 2, 3, 4, 5]))
    await t.rejects(readConsistently(base, query), { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE })
    t.equal(asked(), 5)
  }
)
