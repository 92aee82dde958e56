import fc from 'fast-check'
import t from 'tap'
import type { AccountVersion, ProgramAccountStore } from '../../storage/port.ts'
import { allOf, FIRST, lookup, version } from '../../storage/test/conformance/program-account-index.ts'
import { randomRuns } from '../random-runs.ts'
import { openForTest } from './embedded-under-test.ts'

const PROGRAM = new Uint8Array(32).fill(7)
const RANGES = [FIRST]

const changes = fc.array(fc.record({ n: fc.nat(4), first: fc.option(fc.nat(1), { freq: 4 }) }), {
  minLength: 1,
  maxLength: 3
})
/** Writes of a slot, a scan to its end or broken off, writes during a scan, or the drop of what is superseded. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), changes }),
  fc.record({ kind: fc.constant('scan' as const), isWhole: fc.boolean() }),
  fc.record({ kind: fc.constant('write during a scan' as const), changes, isBefore: fc.boolean() }),
  fc.record({ kind: fc.constant('drop' as const) }),
  fc.record({ kind: fc.constant('clear' as const) })
)

async function scan(store: ProgramAccountStore, isWhole: boolean): Promise<void> {
  for await (const group of store.versions(PROGRAM)) if (group.length > 0 && !isWhole) return
}

t.test('an index answers as a scan does, whatever is known of accounts with one version', async (t) => {
  const { programAccounts: store } = (await openForTest(t.testdir())(t)).storage
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
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
          const works = [async () => write(each.changes), async () => scan(store, true)]
          await Promise.all((each.isBefore ? works : works.toReversed()).map(async (work) => work()))
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
