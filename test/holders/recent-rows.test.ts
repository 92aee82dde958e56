import fc from 'fast-check'
import t from 'tap'
import { RecentRows } from '../../actors/holders/recent-rows.ts'
import { BASE_SLOT } from '../../src/holders/row-bytes.ts'
import type { HolderRow, PresentRow } from '../../storage/port.ts'
import { openForTest } from '../storage/embedded-under-test.ts'
import { randomRuns } from '../random-runs.ts'

const LIST = { mint: new Uint8Array(32).fill(1), reading: 1 }
const KINDS = ['account', 'owner', 'sums'] as const
const keyOf = (kind: (typeof KINDS)[number], n: number): Uint8Array =>
  kind === 'sums' ? new Uint8Array(0) : new Uint8Array(32).fill(n)

/** A write, a read, or a deletion of the rows of the last write. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    rows: fc.uniqueArray(
      fc.record({ of: fc.constantFrom(...KINDS), n: fc.nat(3), value: fc.option(fc.nat(200)) }),
      {
        selector: ({ of, n }) => `${of} ${of === 'sums' ? 0 : n}`,
        maxLength: 4
      }
    )
  }),
  fc.record({ kind: fc.constant('read' as const), of: fc.constantFrom(...KINDS) }),
  fc.record({ kind: fc.constant('drop' as const) })
)

t.test('recent rows are those of the store', async (t) => {
  const { holders } = (await openForTest(t.testdir())(t)).storage
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await holders.clear(LIST)
      const recent = new RecentRows(holders)
      let written: readonly HolderRow[] = []
      for (const each of steps)
        if (each.kind === 'write') {
          written = each.rows.map(({ of, n, value }) => ({
            kind: of,
            key: keyOf(of, n),
            slot: BASE_SLOT,
            value: value === null ? null : Uint8Array.of(value)
          }))
          await recent.put(LIST, written)
        } else if (each.kind === 'drop') {
          await recent.drop(LIST, written)
          written = []
        } else {
          const keys = each.of === 'sums' ? [keyOf('sums', 0)] : [0, 1, 2, 3].map((n) => keyOf(each.of, n))
          const [ours, stored] = await Promise.all([
            recent.at(LIST, each.of, keys),
            holders.at(LIST, each.of, BASE_SLOT, keys)
          ])
          const shape = (rows: readonly (PresentRow | null)[]): string =>
            JSON.stringify(rows.map((row) => row && [row.slot, row.value[0]]))
          if (shape(ours) !== shape(stored)) return false
        }
      return true
    }),
    randomRuns(60)
  )
})
