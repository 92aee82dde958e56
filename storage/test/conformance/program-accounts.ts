import fc from 'fast-check'
import type { Test } from 'tap'
import type { AccountsQuery, AccountVersion, DataMatcher, ProgramAccountStore } from '../../port.ts'
import { abandonedAt } from '../../port/abandoned-slots.ts'
import type { OpenForTest } from '../under-test.ts'
import { wholePage } from '../whole-page.ts'

const PROGRAM = new Uint8Array(32).fill(7)
const OTHER = new Uint8Array(32).fill(8)

const addressOf = (n: number): Uint8Array => {
  const address = new Uint8Array(32).fill(n * 37)
  address[31] = n
  return address
}

const version = (n: number, slot: number, data: readonly number[] | null): AccountVersion => ({
  address: addressOf(n),
  slot,
  account:
    data === null
      ? null
      : {
          lamports: BigInt(n) + 2n ** 60n,
          executable: n % 2 === 1,
          rentEpoch: 2n ** 64n - 1n,
          data: Uint8Array.from(data)
        }
})

const inOrder = (versions: readonly AccountVersion[]): AccountVersion[] =>
  versions.toSorted((a, b) => Buffer.compare(a.address, b.address) || b.slot - a.slot)

/** All accounts at a slot, by pages. */
async function allAt(
  store: ProgramAccountStore,
  slot: number,
  paging: Pick<AccountsQuery, 'limit' | 'examined' | 'abandoned'>
): Promise<AccountVersion[]> {
  const found: AccountVersion[] = []
  for (let after: Uint8Array | undefined; ;) {
    const { accounts, next } = await wholePage(store, PROGRAM, { slot, after, ...paging })
    found.push(...accounts)
    if (next === null) return found
    after = next
  }
}

const newestOfEach = (versions: readonly AccountVersion[]): AccountVersion[] =>
  versions.filter((each, i) => i === 0 || Buffer.compare(versions[i - 1]!.address, each.address) !== 0)

const change = fc.record({
  n: fc.nat(6),
  slot: fc.integer({ min: 1, max: 8 }),
  data: fc.option(fc.array(fc.nat(255), { maxLength: 4 }), { freq: 3 })
})
/** No range, or up to two that may touch or overlap. */
export const abandonedSlots = fc.array(
  fc.tuple(fc.nat(8), fc.nat(3)).map(([from, more]) => ({ from, to: from + more })),
  { maxLength: 2 }
)

/** Promises of the store of mirrored accounts; `runs` is the number of random runs. */
export async function testProgramAccounts(t: Test, open: OpenForTest, runs: number): Promise<void> {
  t.test('a version is read as it was written, after a restart too', async (t) => {
    const under = await open(t)
    const { storage } = under
    const versions = [version(1, 5, [1, 2, 3]), version(2, 2 ** 33, []), version(3, 7, null)]
    await storage.programAccounts.put(PROGRAM, versions, [])
    await storage.programAccounts.put(OTHER, [version(1, 9, [9])], [])
    for (const open of [async () => storage, async () => under.reopen()]) {
      const { programAccounts } = await open()
      const addresses = [...versions.map(({ address }) => address), addressOf(4)]
      t.strictSame(await programAccounts.newest(PROGRAM, addresses), [...versions, null])
      t.strictSame(await programAccounts.at(PROGRAM, 6, addresses), [versions[0], null, null, null])
      t.strictSame((await Array.fromAsync(programAccounts.versions(PROGRAM))).flat(), inOrder(versions))
    }
  })

  t.test('a page examines no more than it is told, and the next goes on', async (t) => {
    const { programAccounts } = (await open(t)).storage
    const versions = Array.from({ length: 40 }, (_, n) => version(n, 1, [n]))
    await programAccounts.put(PROGRAM, versions, [])
    const matches: DataMatcher = (bytes, from) => bytes[from] === 39
    const first = await wholePage(programAccounts, PROGRAM, { slot: 1, limit: 10, examined: 10, matches })
    t.ok(first.next)
    t.ok(first.accounts.length <= 1)
    const all = await wholePage(programAccounts, PROGRAM, { slot: 1, limit: 10, examined: 100, matches })
    t.equal(all.next, null)
    t.equal(all.examined, 40)
    t.strictSame(await allAt(programAccounts, 1, { limit: 7, examined: 5 }), inOrder(versions))
  })

  t.test('a cleared program has nothing, and others have what they had', async (t) => {
    const { programAccounts } = (await open(t)).storage
    await programAccounts.put(PROGRAM, [version(1, 1, [1])], [])
    await programAccounts.put(OTHER, [version(1, 1, [1])], [])
    await programAccounts.clear(PROGRAM)
    t.strictSame(await Array.fromAsync(programAccounts.versions(PROGRAM)), [])
    t.strictSame(await programAccounts.newest(OTHER, [addressOf(1)]), [version(1, 1, [1])])
  })

  t.test(
    'random versions agree with a plain list at every slot, without those of abandoned slots',
    async (t) => {
      const { programAccounts } = (await open(t)).storage
      const property = fc.asyncProperty(
        fc.array(change, { maxLength: 30 }),
        fc.nat(9),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 6 }),
        abandonedSlots,
        async (changes, slot, limit, examined, abandoned) => {
          await programAccounts.clear(PROGRAM)
          const model = new Map<string, AccountVersion>()
          for (const { n, slot, data } of changes) model.set(`${n} ${slot}`, version(n, slot, data))
          const versions = inOrder([...model.values()])
          await programAccounts.put(PROGRAM, versions.toReversed(), [])
          t.strictSame((await Array.fromAsync(programAccounts.versions(PROGRAM))).flat(), versions)
          const counting = versions.filter((each) => abandonedAt(abandoned, each.slot) === undefined)
          const upTo = counting.filter((each) => each.slot <= slot)
          const newest = newestOfEach(upTo)
          const present = newest.filter(({ account }) => account !== null)
          t.strictSame(await allAt(programAccounts, slot, { limit, examined, abandoned }), present)
          const addresses = [0, 1, 2, 3, 4, 5, 6].map(addressOf)
          const ofEach = (list: readonly AccountVersion[]) =>
            addresses.map(
              (address) => list.find((each) => Buffer.compare(each.address, address) === 0) ?? null
            )
          t.strictSame(await programAccounts.at(PROGRAM, slot, addresses, abandoned), ofEach(newest))
          t.strictSame(
            await programAccounts.newest(PROGRAM, addresses, abandoned),
            ofEach(newestOfEach(counting))
          )
          // Versions superseded by the slot are not needed to read it.
          const superseded = upTo.filter((each) => !newest.includes(each))
          await programAccounts.drop(PROGRAM, superseded, [])
          t.strictSame(await allAt(programAccounts, slot, { limit, examined, abandoned }), present)
        }
      )
      await fc.assert(property, { numRuns: runs, seed: 1 })
    }
  )
}
