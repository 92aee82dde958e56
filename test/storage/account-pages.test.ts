import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { AccountPageMemory } from '../../storage/embedded/account-page-memory.ts'
import { AccountPages, pagesOf } from '../../storage/embedded/account-pages.ts'
import { ProgramAccountDatabase } from '../../storage/embedded/program-accounts.ts'
import { PAGE_ACCOUNTS_MAX } from '../../storage/port/program-accounts.ts'
import type { AccountsQuery, AccountVersion, DataMatcher } from '../../storage/port.ts'
import { packAccount, versionKey } from '../../storage/codec/program-account.ts'
import { offsetAfter, slotAt, versionEnd } from '../../storage/codec/packed-versions.ts'
import { ownDirectory } from '../own-directory.ts'
import { randomRuns } from '../random-runs.ts'

const PROGRAM = new Uint8Array(32).fill(7)
const OTHER = new Uint8Array(32).fill(8)
/** Memory for no page, for some pages, and for all. */
const LIMITS = [0, 40_000, 2 ** 24]

/** Addresses whose order is not that of their numbers, and of which some differ only in the last byte. */
function addressOf(n: number): Uint8Array {
  const address = new Uint8Array(32).fill((n >> 1) * 37)
  address[31] = n % 2
  return address
}

/** Returns a version whose data has some bytes that filters compare, and a length that few others have. */
function version(n: number, slot: number, length: number | null): AccountVersion {
  const data = new Uint8Array(length ?? 0).fill(slot)
  if (data.length > 0) data[0] = n % 3
  if (data.length > 1) data[data.length - 1] = slot % 2
  const account = { lamports: BigInt(n), executable: n % 2 === 1, rentEpoch: 2n ** 64n - 1n, data }
  return { address: addressOf(n), slot, account: length === null ? null : account }
}

const length = fc.oneof(fc.constant(null), fc.nat(4), fc.integer({ min: 1_000, max: 9_000 }))
const written = fc.record({ n: fc.nat(60), slot: fc.integer({ min: 1, max: 9 }), length })
const filter = fc.oneof(
  fc.constant(null),
  fc.record({ at: fc.nat(3), byte: fc.nat(3) }),
  fc.record({ size: fc.nat(4) })
)
const asked = fc.record({
  slot: fc.nat(10),
  after: fc.option(fc.nat(60)),
  limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(Infinity)),
  examined: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(Infinity)),
  filter
})
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ put: fc.array(written, { maxLength: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ drop: fc.array(fc.nat(200), { maxLength: 30 }) }) },
  { weight: 4, arbitrary: fc.record({ scan: asked }) },
  { weight: 1, arbitrary: fc.constantFrom('reopen' as const, 'clear' as const) }
)

type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never

function matcherOf({ filter }: Pick<Asked, 'filter'>): DataMatcher | undefined {
  if (filter === null) return undefined
  if ('size' in filter) return (_, from, to) => to - from === filter.size
  return (bytes, from, to) => from + filter.at < to && bytes[from + filter.at] === filter.byte
}

/** Selects from a plain list of stored versions, ascending. */
function selected(versions: readonly AccountVersion[], query: AccountsQuery): AccountVersion[] {
  const upTo = versions.filter(({ slot }) => slot <= query.slot)
  return upTo.filter(
    ({ address, account }, i) =>
      (i === 0 || Buffer.compare(upTo[i - 1]!.address, address) !== 0) &&
      account !== null &&
      (query.after === undefined || Buffer.compare(address, query.after) > 0) &&
      query.matches?.(account.data, 0, account.data.length) !== false
  )
}

/** Copies accounts, which are views of pages. */
const copied = ({ address, slot, account }: AccountVersion): AccountVersion => ({
  address,
  slot,
  account: account && { ...account, data: new Uint8Array(account.data) }
})

/** Reads an answer, and continues with another read where it ended, to the end of the program. */
async function scanned(
  t: Test,
  store: ProgramAccountDatabase,
  query: AccountsQuery,
  betweenPages = async (): Promise<void> => undefined
): Promise<AccountVersion[]> {
  const found: AccountVersion[] = []
  let { after } = query
  for (;;) {
    let count = 0
    let next: Uint8Array | null = null
    for await (const page of store.pages(PROGRAM, { ...query, after })) {
      if (page.accounts.length > PAGE_ACCOUNTS_MAX) t.fail('a page has too many accounts')
      if (after !== undefined && page.next !== null && Buffer.compare(page.next, after) < 0)
        t.fail('a page goes back')
      count += page.accounts.length
      found.push(...page.accounts.map(copied))
      next = page.next
      await betweenPages()
    }
    if (count > query.limit) t.fail('an answer has too many accounts')
    if (next === null) return found
    after = next
  }
}

function opener(t: Test) {
  const directory = join(ownDirectory(t), 'accounts')
  const open = (pageBytesMax: number) => new ProgramAccountDatabase(directory, { pageBytesMax })
  let store = open(0)
  t.teardown(() => store.close())
  return async (pageBytesMax: number): Promise<ProgramAccountDatabase> => {
    await store.close()
    return (store = open(pageBytesMax))
  }
}

t.test('a scan of pages equals one of the engine after any writes, at every slot and filter', async (t) => {
  const reopen = opener(t)
  const property = fc.asyncProperty(
    fc.constantFrom(...LIMITS),
    fc.array(step, { maxLength: 25 }),
    async (pageBytesMax, steps) => {
      let store = await reopen(pageBytesMax)
      await store.clear(PROGRAM)
      await store.put(OTHER, [version(1, 1, 3)], [])
      for (const each of steps) {
        const versions = (await Array.fromAsync(store.versions(PROGRAM))).flat()
        if (each === 'reopen') store = await reopen(pageBytesMax)
        else if (each === 'clear') await store.clear(PROGRAM)
        else if ('put' in each) {
          const made = each.put.map(({ n, slot, length }) => version(n, slot, length))
          await store.put(PROGRAM, made, [])
        } else if ('drop' in each) {
          const dropped = each.drop.flatMap((i) => versions[i] ?? [])
          await store.drop(PROGRAM, dropped, [])
        } else {
          const { slot, after, limit, examined } = each.scan
          const query = {
            slot,
            limit,
            examined,
            after: after === null ? undefined : addressOf(after),
            matches: matcherOf(each.scan)
          }
          t.strictSame(await scanned(t, store, query), selected(versions, query))
        }
        if (store.pageMemory.bytes > pageBytesMax) t.fail('the pages have more memory than they may')
      }
    }
  )
  await fc.assert(property, randomRuns(25))
})

t.test('pages of one answer show its slot while versions are written and dropped', async (t) => {
  const reopen = opener(t)
  const SLOT = 5
  const property = fc.asyncProperty(
    fc.constantFrom(...LIMITS),
    fc.array(written, { minLength: 30, maxLength: 80 }),
    fc.array(fc.tuple(fc.array(written, { maxLength: 20 }), fc.boolean()), { minLength: 1, maxLength: 20 }),
    fc.array(asked, { minLength: 1, maxLength: 3 }),
    async (pageBytesMax, first, later, queries) => {
      const store = await reopen(pageBytesMax)
      await store.clear(PROGRAM)
      const stable = first.map(({ n, slot, length }) => version(n, Math.min(slot, SLOT), length))
      await store.put(PROGRAM, stable, [])
      const versions = (await Array.fromAsync(store.versions(PROGRAM))).flat()
      const needed = versions.filter(
        (each, i) => i === 0 || Buffer.compare(versions[i - 1]!.address, each.address) !== 0
      )
      const superseded = versions.filter((each) => !needed.includes(each))
      const writes: Promise<void>[] = []
      const betweenPages = async (): Promise<void> => {
        const [made, isAwaited] = later[writes.length % later.length]!
        const newer = made.map(({ n, slot, length }) => version(n, SLOT + slot, length))
        writes.push(store.put(PROGRAM, newer, []))
        const dropped = superseded.pop()
        if (dropped !== undefined) writes.push(store.drop(PROGRAM, [dropped], []))
        if (isAwaited) await Promise.all(writes)
      }
      // Concurrently: they read and cache equal pages.
      await Promise.all(
        queries.map(async (each) => {
          const after = each.after === null ? undefined : addressOf(each.after)
          const { limit, examined } = each
          const query = { slot: SLOT, limit, examined, after, matches: matcherOf(each) }
          t.strictSame(await scanned(t, store, query, betweenPages), selected(versions, query))
        })
      )
      await Promise.all(writes)
      const all = (await Array.fromAsync(store.versions(PROGRAM))).flat()
      for (const slot of [SLOT, SLOT + 4, SLOT + 10]) {
        const query = { slot, limit: Infinity, examined: Infinity }
        t.strictSame(await scanned(t, store, query), selected(all, query), `slot ${slot}`)
      }
    }
  )
  await fc.assert(property, randomRuns(25))
})

t.test('a second scan looks at twenty times as many versions at a time, from memory', async (t) => {
  const store = await opener(t)(2 ** 24)
  const versions = Array.from({ length: 3_000 }, (_, n) => {
    const address = new Uint8Array(32)
    new DataView(address.buffer).setUint32(0, Math.imul(n + 1, 2_654_435_761))
    return { ...version(1, 1, 3), address }
  })
  await store.put(PROGRAM, versions, [])
  const none = { slot: 1, limit: Infinity, examined: Infinity, matches: () => false }
  const countsOf = async (): Promise<number[]> =>
    (await Array.fromAsync(store.pages(PROGRAM, none))).map(({ examined }) => examined)
  const first = await countsOf()
  t.ok(first.length > 5)
  t.ok(Math.max(...first) <= 1_000)
  t.strictSame(await countsOf(), [3_000])
  await store.put(
    PROGRAM,
    versions.slice(0, 500).map((each) => ({ ...each, slot: 2 })),
    []
  )
  t.equal(
    (await countsOf()).reduce((sum, count) => sum + count),
    3_500
  )
  const sizes = (await Array.fromAsync(store.pages(PROGRAM, { ...none, matches: undefined }))).map(
    ({ accounts }) => accounts.length
  )
  t.equal(Math.max(...sizes), PAGE_ACCOUNTS_MAX)
})

t.test('pages that no scan uses are dropped once writes took longer than another scan would', async (t) => {
  const store = await opener(t)(2 ** 24)
  const all = { slot: 1, limit: Infinity, examined: Infinity }
  await store.put(PROGRAM, [version(1, 1, 3)], [])
  await scanned(t, store, all)
  t.ok(store.pageMemory.bytes > 0)
  for (let slot = 2; slot < 1_003; slot++) await store.put(PROGRAM, [version(2, slot, 3)], [])
  t.equal(store.pageMemory.bytes, 0)
})

t.test('a program that no scan uses gives its memory to others', async (t) => {
  const memory = new AccountPageMemory(1_000)
  const [idle, used] = [new AccountPages(memory), new AccountPages(memory)]
  const page = pagesOf([[versionKey(PROGRAM, addressOf(1), 1), packAccount(version(1, 1, 300).account)]], {
    after: null,
    upTo: null
  })
  const keep = (pages: AccountPages): void => {
    const read = pages.beginRead()
    pages.keep(page, read)
    read.end()
  }
  idle.use()
  keep(idle)
  used.use()
  keep(used)
  t.strictSame([idle.find(null) !== undefined, used.find(null)], [true, undefined], 'used lately')
  for (let scans = 0; scans < 200; scans++) used.use()
  keep(used)
  t.strictSame([idle.find(null), used.find(null) !== undefined], [undefined, true])
  t.equal(memory.bytes, used.bytes)
})

t.test('a write for which the memory has no room drops its page', async (t) => {
  const memory = new AccountPageMemory(1_000)
  const pages = new AccountPages(memory)
  const entry = (n: number, length: number) =>
    [versionKey(PROGRAM, addressOf(n), 1), packAccount(version(n, 1, length).account)] as const
  const read = pages.beginRead()
  pages.keep(pagesOf([entry(1, 300)], { after: null, upTo: null }), read)
  read.end()
  for (const [length, isKept] of [
    [10, true],
    [400, false]
  ] as const) {
    const [key, value] = entry(2, length)
    await pages.write([{ key, value }], async () => undefined)
    t.equal(pages.find(null) !== undefined, isKept)
    t.equal(memory.bytes > 0, isKept)
    t.ok(memory.bytes <= 1_000)
  }
})

/** Pages of a program whose one page has versions of accounts 1 and 2 at slot 1. */
function keptPages() {
  const pages = new AccountPages(new AccountPageMemory(2 ** 20))
  const change = (n: number, slot: number, length: number | null) => ({
    key: versionKey(PROGRAM, addressOf(n), slot),
    value: length === null ? null : packAccount(version(n, slot, length).account)
  })
  const entries = [1, 2].map((n) => [change(n, 1, 1).key, change(n, 1, 1).value!] as const)
  const made = pagesOf(
    entries.sort(([a], [b]) => a.compare(b)),
    { after: null, upTo: null }
  )
  const keep = (read = pages.beginRead()): void => {
    pages.keep(made, read)
    read.end()
  }
  /** Returns the slots of the versions in the page; null if no page is cached. */
  const slots = (): number[] | null => {
    const page = pages.find(null)
    if (page === undefined) return null
    const found: number[] = []
    for (let at = 0; at < page.bytes.length; at = versionEnd(page.bytes, at))
      found.push(slotAt(page.bytes, at))
    return found
  }
  return { pages, change, keep, slots }
}

t.test('a write changes the page before it is acknowledged', async (t) => {
  const { pages, change, keep, slots } = keptPages()
  keep()
  await pages.write([change(1, 2, 1), change(3, 4, 1)], async () => void t.strictSame(slots(), [1, 1]))
  t.strictSame(slots()?.sort(), [1, 1, 2, 4])
  await pages.write([change(1, 1, null), change(9, 1, null)], async () => undefined)
  t.strictSame(slots()?.sort(), [1, 2, 4])
  t.equal(offsetAfter(pages.find(null)!.bytes, new Uint8Array(32).fill(255)), pages.find(null)!.bytes.length)
})

t.test('a write that fails, or overlaps with another, drops the pages of its accounts', async (t) => {
  const { pages, change, keep, slots } = keptPages()
  keep()
  await t.rejects(pages.write([change(1, 2, 1)], async () => Promise.reject(new Error('no room'))))
  t.equal(slots(), null)
  keep()
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writes = ends.map(async ({ promise }) => pages.write([change(1, 2, 1)], async () => promise))
  ends[1]!.resolve()
  await writes[1]
  t.equal(slots(), null, 'after the one')
  keep()
  ends[0]!.resolve()
  await writes[0]
  t.equal(slots(), null, 'and after the other')
})

t.test('a read keeps no page of accounts that were written since it began', async (t) => {
  const { pages, change, keep, slots } = keptPages()
  const early = pages.beginRead()
  await pages.write([change(1, 2, 1)], async () => undefined)
  t.equal(early.isCurrent, false)
  keep(early)
  t.equal(slots(), null)
  const before = pages.beginRead()
  pages.forget()
  keep(before)
  t.equal(slots(), null, 'nor after all pages were dropped')
  const many = pages.beginRead()
  await pages.write(
    Array.from({ length: 2_000 }, (_, slot) => change(200, slot + 1, 1)),
    async () => undefined
  )
  keep(many)
  t.equal(slots(), null, 'nor after more writes than it can compare')
  keep()
  t.strictSame(slots(), [1, 1])
})
