import fc from 'fast-check'
import t from 'tap'
import type { AccountVersion, ProgramAccountStore } from '../../storage/port.ts'
import { allOf, FIRST, lookup, version } from '../../storage/test/conformance/program-account-index.ts'
import { randomRuns } from '../random-runs.ts'
import { openForTest } from './embedded-under-test.ts'

const PROGRAM = new Uint8Array(32).fill(7)
const RANGES = [FIRST]

const changes = fc.array(fc.record({ n: fc.nat(2), first: fc.option(fc.nat(1), { freq: 4 }) }), {
  minLength: 1,
  maxLength: 2
})
/** Writes of a slot, a complete or broken off scan, writes during a scan, or the drop of superseded versions. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), changes }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('scan' as const),
      isWhole: fc.integer({ min: 0, max: 3 }).map((n) => n > 0)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('write during a scan' as const),
      changes,
      begins: fc.constantFrom('before' as const, 'with' as const, 'amid' as const)
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) }
)

async function scan(store: ProgramAccountStore, isWhole: boolean): Promise<void> {
  for await (const group of store.versions(PROGRAM)) if (group.length > 0 && !isWhole) return
}

t.test('an index answers as a scan does, whatever is known of accounts with one version', async (t) => {
  const { programAccounts: store } = (await openForTest(t.testdir())(t)).storage
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 12 }), async (steps) => {
      await store.clear(PROGRAM)
      let stored: AccountVersion[] = []
      let slot = 1
      let oldest = 1
      const write = async (changed: readonly { n: number; first: number | null }[]): Promise<void> => {
        slot++
        const byNumber = new Map(changed.map((each) => [each.n, each]))
        const made = [...byNumber.values()].map(({ n, first }) =>
          version(n, slot, first === null ? null : [first])
        )
        stored.push(...made)
        await store.put(PROGRAM, made, RANGES)
      }
      for (const each of steps) {
        if (each.kind === 'write') await write(each.changes)
        else if (each.kind === 'scan') await scan(store, each.isWhole)
        else if (each.kind === 'write during a scan') {
          const versions = store.versions(PROGRAM)[Symbol.asyncIterator]()
          const before = each.begins === 'before' ? write(each.changes) : null
          const first = versions.next()
          if (each.begins === 'amid') await first
          await (before ?? write(each.changes))
          await first
          while ((await versions.next()).done !== true);
        } else if (each.kind === 'drop') {
          const isSuperseded = (of: AccountVersion): boolean =>
            stored.some((other) => other.slot > of.slot && Buffer.compare(other.address, of.address) === 0)
          await store.drop(PROGRAM, stored.filter(isSuperseded), RANGES)
          stored = stored.filter((of) => !isSuperseded(of))
          oldest = slot
        } else {
          await store.clear(PROGRAM)
          stored = []
        }
        for (let at = oldest; at <= slot; at++)
          for (const value of [0, 1]) {
            const paging = { slot: at, limit: 3, examined: 1_000 }
            const found = await allOf(store, [lookup(FIRST, value)], paging, true)
            t.strictSame(found, await allOf(store, [lookup(FIRST, value)], paging, false))
          }
      }
    }),
    randomRuns(60)
  )
})
