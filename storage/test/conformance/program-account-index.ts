import fc from 'fast-check'
import type { Test } from 'tap'
import type {
  AccountsQuery,
  AccountVersion,
  DataMatcher,
  IndexedRange,
  IndexLookup,
  ProgramAccountStore
} from '../../port.ts'
import type { OpenForTest } from '../under-test.ts'
import { abandonedAt } from '../../port/abandoned-slots.ts'
import { wholePage } from '../whole-page.ts'
import { abandonedSlots } from './program-accounts.ts'

const PROGRAM = new Uint8Array(32).fill(7)
const OTHER = new Uint8Array(32).fill(8)
export const FIRST: IndexedRange = { offset: 0, length: 1 }
export const NEXT: IndexedRange = { offset: 1, length: 2 }

/** Addresses in all buckets of a cluster. */
const addressOf = (n: number): Uint8Array => new Uint8Array(32).fill((n * 37) % 256)

/** Returns a version of the account with a number. */
export const version = (n: number, slot: number, data: readonly number[] | null): AccountVersion => ({
  address: addressOf(n),
  slot,
  account:
    data === null ? null : { lamports: 1n, executable: false, rentEpoch: 0n, data: Uint8Array.from(data) }
})

export const lookup = (range: IndexedRange, ...value: readonly number[]): IndexLookup => ({
  ...range,
  value: Uint8Array.from(value)
})

const matcherOf =
  (lookups: readonly IndexLookup[]): DataMatcher =>
  (bytes, from, to) =>
    lookups.every(
      ({ offset, value }) =>
        from + offset + value.length <= to && value.every((byte, i) => bytes[from + offset + i] === byte)
    )

type Paging = Pick<AccountsQuery, 'slot' | 'limit' | 'examined' | 'abandoned'>

/** All accounts that have the values, by pages of an index or of a scan. */
export async function allOf(
  store: ProgramAccountStore,
  lookups: readonly IndexLookup[],
  paging: Paging,
  isIndexed: boolean,
  program = PROGRAM
): Promise<AccountVersion[]> {
  const found: AccountVersion[] = []
  const query = { ...paging, matches: matcherOf(lookups), lookups: isIndexed ? lookups : [] }
  for (let after: Uint8Array | undefined; ;) {
    const { accounts, next, index } = await wholePage(store, program, { ...query, after })
    if ((index !== null) !== isIndexed) throw new Error('another way of reading than asked for')
    if (accounts.length > paging.limit) throw new Error('more accounts than the limit')
    found.push(...accounts)
    if (next === null) return found
    after = next
  }
}

async function build(store: ProgramAccountStore, range: IndexedRange, examined = 1_000): Promise<void> {
  for (let after: Uint8Array | null = null; ;) {
    const { next } = await store.index(PROGRAM, range, { after, examined })
    if (next === null) return
    after = next
  }
}

const byte = fc.nat(1)
const change = fc.record({
  n: fc.nat(6),
  slot: fc.integer({ min: 1, max: 8 }),
  data: fc.option(fc.array(byte, { maxLength: 4 }), { freq: 4 })
})
const changes = fc.array(change, { maxLength: 20 })

/** Promises of the indexes of mirrored accounts; `runs` is the number of random runs. */
export async function testProgramAccountIndex(t: Test, open: OpenForTest, runs: number): Promise<void> {
  const ALL = { slot: 9, limit: 10, examined: 1_000 }

  t.test('an index of random versions answers as a scan does, at every slot that can be read', async (t) => {
    const { programAccounts: store } = (await open(t)).storage
    const property = fc.asyncProperty(
      changes,
      changes,
      fc.record({
        slot: fc.nat(9),
        limit: fc.integer({ min: 1, max: 4 }),
        examined: fc.integer({ min: 1, max: 60 }),
        abandoned: abandonedSlots
      }),
      fc.tuple(byte, byte, byte),
      async (before, later, paging, [a, b, c]) => {
        await store.clear(PROGRAM)
        const model = new Map<string, AccountVersion>()
        const put = async (
          { n, slot, data }: (typeof before)[number],
          ranges: readonly IndexedRange[]
        ): Promise<void> => {
          // A version is a fact: it never changes.
          if (model.has(`${n} ${slot}`)) return
          const made = version(n, slot, data)
          model.set(`${n} ${slot}`, made)
          await store.put(PROGRAM, [made], ranges)
        }
        for (const each of before) await put(each, [FIRST])
        // The second index is built while versions come.
        const waiting = [...later]
        for (let after: Uint8Array | null = null; ;) {
          const { next } = await store.index(PROGRAM, NEXT, { after, examined: 2 })
          const each = waiting.shift()
          if (each !== undefined) await put(each, [FIRST, NEXT])
          if (next === null) break
          after = next
        }
        for (const each of waiting) await put(each, [FIRST, NEXT])
        const asked = [[lookup(FIRST, a)], [lookup(NEXT, b, c)], [lookup(FIRST, a), lookup(NEXT, b, c)]]
        const check = async (): Promise<void> => {
          for (const lookups of asked)
            t.strictSame(
              await allOf(store, lookups, paging, true),
              await allOf(store, lookups, { ...paging, limit: 10, examined: 1_000 }, false)
            )
        }
        await check()
        const upTo = [...model.values()].filter(
          ({ slot }) => slot <= paging.slot && abandonedAt(paging.abandoned, slot) === undefined
        )
        const isSuperseded = ({ address, slot }: AccountVersion): boolean =>
          upTo.some((each) => each.slot > slot && Buffer.compare(each.address, address) === 0)
        await store.drop(PROGRAM, upTo.filter(isSuperseded), [FIRST, NEXT])
        await check()
      }
    )
    await fc.assert(property, { numRuns: runs, seed: 1 })
  })

  t.test('of several indexes the one with the fewest entries is read', async (t) => {
    const { programAccounts: store } = (await open(t)).storage
    const versions = Array.from({ length: 30 }, (_, n) => version(n, 1, [1, 0, n % 10]))
    await store.put(PROGRAM, versions, [FIRST, NEXT])
    const lookups = [lookup(FIRST, 1), lookup(NEXT, 0, 3)]
    for (const asked of [lookups, lookups.toReversed()]) {
      const page = await wholePage(store, PROGRAM, { ...ALL, matches: matcherOf(asked), lookups: asked })
      t.strictSame(page.index, NEXT)
      t.equal(page.accounts.length, 3)
    }
  })

  t.test('a version takes its entries along when it is dropped', async (t) => {
    const { programAccounts: store } = (await open(t)).storage
    const made = version(1, 1, [5])
    await store.put(PROGRAM, [made, version(2, 1, [5])], [FIRST])
    await store.drop(PROGRAM, [made], [FIRST])
    // Written without its entry, it is not found.
    await store.put(PROGRAM, [made], [])
    t.strictSame(await allOf(store, [lookup(FIRST, 5)], ALL, true), [version(2, 1, [5])])
  })

  t.test('a deleted index has no entries, and others stay', async (t) => {
    const under = await open(t)
    const { programAccounts: store } = under.storage
    const versions = [version(1, 1, [5, 6, 7]), version(2, 1, [5, 6, 7])]
    await store.put(PROGRAM, versions, [FIRST, NEXT])
    await store.put(OTHER, versions, [FIRST])
    await store.unindex(PROGRAM, FIRST)
    t.strictSame(await allOf(store, [lookup(FIRST, 5)], ALL, true), [])
    const found = await allOf(store, [lookup(NEXT, 6, 7)], ALL, true)
    t.equal(found.length, 2)
    await build(store, FIRST)
    const reopened = (await under.reopen()).programAccounts
    t.strictSame(await allOf(reopened, [lookup(FIRST, 5)], ALL, true), found)
    await reopened.clear(PROGRAM)
    await reopened.put(PROGRAM, versions, [])
    for (const each of [lookup(FIRST, 5), lookup(NEXT, 6, 7)])
      t.strictSame(await allOf(reopened, [each], ALL, true), [])
    const others = await wholePage(reopened, OTHER, { ...ALL, lookups: [lookup(FIRST, 5)] })
    t.equal(others.accounts.length, 2)
  })
}
