import type { CqlRow } from './client.ts'

/** Rows of one answer of a merged scan: merging as many takes a millisecond at most. */
const ROWS_AT_ONCE = 500

/** A scan of a partition, of which the first answer is there. */
export interface BegunScan {
  readonly first: IteratorResult<CqlRow[], void>
  readonly rest: AsyncGenerator<CqlRow[], void>
}

/** Requests the first answers of scans together. */
export const beginScans = (scans: readonly AsyncGenerator<CqlRow[], void>[]): Promise<BegunScan[]> =>
  Promise.all(scans.map(async (rest) => ({ first: await rest.next(), rest })))

interface Source {
  rows: CqlRow[]
  at: number
  readonly rest: AsyncGenerator<CqlRow[], void>
}

/** Yields the rows of scans that ascend by a column of bytes, as one scan that ascends. No two scans have an equal value. */
export async function* mergedScans(
  scans: readonly BegunScan[],
  column: string
): AsyncGenerator<CqlRow[], void> {
  if (scans.length === 1) {
    yield* inOrder(scans[0]!)
    return
  }
  const sources = scans.flatMap(({ first, rest }): Source[] =>
    first.done === true ? [] : [{ rows: first.value, at: 0, rest }]
  )
  while (sources.length > 0) {
    for (const source of [...sources])
      if (source.at === source.rows.length && !(await hasNext(source)))
        sources.splice(sources.indexOf(source), 1)
    const merged: CqlRow[] = []
    // Up to the last row of one of them: a reader that has enough requests no more.
    while (sources.length > 0 && sources.every(hasRow) && merged.length < ROWS_AT_ONCE) {
      let least = sources[0]!
      for (const each of sources)
        if (Buffer.compare(valueOf(each, column), valueOf(least, column)) < 0) least = each
      merged.push(least.rows[least.at++]!)
    }
    yield merged
  }
}

const hasRow = ({ rows, at }: Source): boolean => at < rows.length

async function* inOrder({ first, rest }: BegunScan): AsyncGenerator<CqlRow[], void> {
  if (first.done === true) return
  yield first.value
  yield* rest
}

/** Reads the next rows of a source. Resolves with false at its end. */
async function hasNext(source: Source): Promise<boolean> {
  do {
    const next = await source.rest.next()
    if (next.done === true) return false
    source.rows = next.value
    source.at = 0
  } while (source.rows.length === 0)
  return true
}

const valueOf = ({ rows, at }: Source, column: string): Buffer => rows[at]![column] as Buffer
