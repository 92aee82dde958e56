import fc from 'fast-check'
import t from 'tap'
import { joinedLaunches } from '../../src/archive/launches.ts'
import type { ChainEvent } from '../../src/chain/events.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { LaunchPage, LaunchQuery } from '../../src/archive/market-stores.ts'
import type { LaunchRow } from '../../src/market/rows.ts'
import { block, curve, key, launch, NOON, trade } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { commitsOf, splitStores } from './split-chain.ts'
import { modelStorage } from './model-storage.ts'

const ORDERS = ['asc', 'desc'] as const

interface Course {
  readonly block: number
  readonly traded: number | null
  readonly graduated: number | null
}

/** One mint of a chain of launches: the number of blocks after its launch at which it trades and graduates; null for never. */
const anyCourse: fc.Arbitrary<Course> = fc.record({
  block: fc.integer({ min: 0, max: 9 }),
  traded: fc.option(fc.integer({ min: 0, max: 9 })),
  graduated: fc.option(fc.integer({ min: 0, max: 9 }))
})

t.test('launches of a status, pages and searches of every size, are those of one store', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCourse, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      fc.record({
        status: fc.option(fc.constantFrom('created', 'trading', 'graduated'), { nil: undefined }),
        order: fc.constantFrom(...ORDERS),
        offset: fc.integer({ min: 0, max: 45 }),
        limit: fc.integer({ min: 1, max: 12 }),
        launchesMax: fc.integer({ min: 1, max: 12 }),
        chunk: fc.integer({ min: 1, max: 5 })
      }),
      async (courses, archived, { status, order, offset, limit, ...search }) => {
        const chain = chainOfLaunches(courses)
        const { archive, live } = splitStores(chain, archived)
        const last = archive.model.head()!
        const joined = { storage: archive.storage, first: last, last, isAdjacent: true }
        const launches = joinedLaunches(live.storage, joined, search)
        const one = modelStorage(commitsOf(chain)).model
        const query = { order, ...(status !== undefined && { status }) }
        const expected = one.launches({ ...query, offset, limit: 1_000 })
        const rows: LaunchRow[] = []
        const start: Pick<LaunchQuery, 'from' | 'offset'> = { offset }
        for (let place: typeof start | null = start; place !== null;) {
          const page: LaunchPage = await launches.page({ ...query, ...place, limit })
          rows.push(...page.rows)
          const isFull = page.rows.length === limit
          place = isFull
            ? { from: page.rows.at(-1)!.cursor, offset: 0 }
            : page.stoppedAt === null
              ? null
              : { from: page.stoppedAt, offset: page.offsetLeft }
        }
        t.strictSame(rows, expected)
      }
    ),
    randomRuns(200)
  )
})

function chainOfLaunches(courses: readonly Course[]): DecodedBlock[] {
  const events: ChainEvent[][] = Array.from({ length: 30 }, () => [])
  for (const [at, { block: first, traded, graduated }] of courses.entries()) {
    const [baseMint, pool] = [key(1_000 + at), key(2_000 + at)]
    const about = { baseMint, curve: pool, pool, venue: 'pumpfun' } as const
    events[first]!.push(launch(about))
    if (traded !== null) events[first + traded]!.push(trade({ outMint: baseMint, pool, venue: 'pumpfun' }))
    if (graduated !== null) events[first + graduated]!.push(curve('migrate', about))
  }
  return events.map((each, at) => block(300_000_000 + at, NOON + 20 * at, each))
}
