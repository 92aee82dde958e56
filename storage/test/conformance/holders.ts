import fc from 'fast-check'
import type { Test } from 'tap'
import { HOLDER_ROW_KINDS, LARGE_READINGS } from '../../port.ts'
import type { HolderListId, HolderRow, HolderRowKind, HolderStore } from '../../port.ts'
import type { OpenForTest } from '../under-test.ts'

const SMALL: HolderListId = { mint: new Uint8Array(32).fill(7), reading: 1 }
const LARGE: HolderListId = { ...SMALL, reading: LARGE_READINGS + 1 }

/** Keys of a kind, ordered by `n`, in several partitions of a cluster. Three of them have one amount. */
function keyOf(kind: HolderRowKind, n: number): Uint8Array {
  const key = new Uint8Array(HOLDER_ROW_KINDS[kind])
  if (key.length === 0) return key
  if (key.length === 40) {
    new DataView(key.buffer).setBigUint64(0, ~(2n ** BigInt(60 - Math.floor(n / 3) * 7)) & (2n ** 64n - 1n))
    key.fill(n * 30, 8)
  } else key.fill(n * 30, key.length === 8 ? 7 : 0)
  return key
}

const row = (kind: HolderRowKind, n: number, slot: number, value: readonly number[] | null): HolderRow => ({
  kind,
  key: keyOf(kind, n),
  slot,
  value: value === null ? null : Uint8Array.from(value)
})

/** All rows of a kind at a slot, by pages. */
async function allAt(
  store: HolderStore,
  list: HolderListId,
  kind: HolderRowKind,
  slot: number,
  limit: number
): Promise<HolderRow[]> {
  const found: HolderRow[] = []
  for (let after: Uint8Array | undefined; ;) {
    const { rows, hasMore } = await store.page(list, kind, { slot, after, limit })
    found.push(...rows)
    if (!hasMore) return found
    after = rows.at(-1)!.key
  }
}

const KINDS = Object.keys(HOLDER_ROW_KINDS) as HolderRowKind[]
const change = fc.record({
  kind: fc.constantFrom(...KINDS.filter((kind) => kind !== 'sums')),
  n: fc.nat(7),
  slot: fc.integer({ min: 1, max: 8 }),
  value: fc.option(fc.array(fc.nat(255), { maxLength: 4 }), { freq: 3 })
})

/** Promises of the store of holder lists; `runs` is the number of random runs. */
export async function testHolders(t: Test, open: OpenForTest, runs: number): Promise<void> {
  for (const [name, list] of [
    ['a small list', SMALL],
    ['a large list', LARGE]
  ] as const)
    await t.test(name, async (t) => testList(t, open, list, runs))
}

async function testList(t: Test, open: OpenForTest, list: HolderListId, runs: number): Promise<void> {
  const later: HolderListId = { ...list, reading: list.reading + 1 }
  t.test('a row of each kind is read as it was written, after a restart too', async (t) => {
    const under = await open(t)
    const { storage } = under
    const rows = KINDS.map((kind, n) => row(kind, n, 2 ** 33 + n, [n, 255]))
    await storage.holders.put(list, [...rows, row('owner', 6, 3, null), row('owner', 7, 3, [])])
    await storage.holders.put(later, [row('account', 0, 9, [9])])
    for (const open of [async () => storage, async () => under.reopen()]) {
      const { holders } = await open()
      for (const each of rows) {
        const { kind, key, slot } = each
        t.strictSame(await holders.at(list, kind, slot, [key]), [each])
        t.strictSame(await holders.at(list, kind, slot - 1, [key]), [null])
        t.strictSame((await holders.page(list, kind, { slot: 2 ** 40, limit: 1 })).rows.length, 1)
      }
      t.strictSame(await holders.at(list, 'owner', 5, [keyOf('owner', 6), keyOf('owner', 7)]), [
        null,
        row('owner', 7, 3, [])
      ])
    }
  })

  t.test('a cleared list has nothing, and another reading has what it had', async (t) => {
    const { holders } = (await open(t)).storage
    await holders.put(
      list,
      KINDS.map((kind, n) => row(kind, n, 1, [1]))
    )
    await holders.put(later, [row('account', 1, 1, [1])])
    await holders.clear(list)
    for (const kind of KINDS)
      t.strictSame(await holders.page(list, kind, { slot: 9, limit: 5 }), { rows: [], hasMore: false })
    t.strictSame(await holders.at(later, 'account', 9, [keyOf('account', 1)]), [row('account', 1, 1, [1])])
  })

  t.test('many rows with one amount are read in pages, ascending by address', async (t) => {
    const { holders } = (await open(t)).storage
    const keys = Array.from({ length: 150 }, (_, n) => {
      const key = keyOf('owner-rank', 3)
      // The high bits of an address that ends differently: all shares of a cluster have some of them.
      new DataView(key.buffer).setUint16(8, (n * 40_503) % 65_536)
      return key
    })
    await holders.put(
      list,
      keys.map((key) => ({ kind: 'owner-rank', key, slot: 0, value: Uint8Array.of(key[9]!) }))
    )
    const ascending = keys.toSorted((a, b) => Buffer.compare(a, b))
    for (const limit of [7, 64, 150]) {
      const found = await allAt(holders, list, 'owner-rank', 0, limit)
      t.strictSame(
        found.map(({ key }) => key),
        ascending,
        `${limit} a page`
      )
    }
  })

  t.test('random versions agree with a plain list at every slot', async (t) => {
    const { holders } = (await open(t)).storage
    const property = fc.asyncProperty(
      fc.array(change, { maxLength: 30 }),
      fc.nat(9),
      fc.integer({ min: 1, max: 4 }),
      async (changes, slot, limit) => {
        await holders.clear(list)
        const model = new Map<string, HolderRow>()
        for (const { kind, n, slot, value } of changes)
          model.set(`${kind} ${n} ${slot}`, row(kind, n, slot, value))
        const rows = [...model.values()].sort((a, b) => Buffer.compare(a.key, b.key) || b.slot - a.slot)
        await holders.put(list, rows.toReversed())
        const superseded: HolderRow[] = []
        const check = async (): Promise<void> => {
          for (const kind of KINDS) {
            const upTo = rows.filter((each) => each.kind === kind && each.slot <= slot)
            const newest = upTo.filter(
              (each, i) => Buffer.compare(upTo[i - 1]?.key ?? Buffer.of(1, 2), each.key) !== 0
            )
            superseded.push(...upTo.filter((each) => !newest.includes(each)))
            const present = newest.filter(({ value }) => value !== null)
            t.strictSame(await allAt(holders, list, kind, slot, limit), present)
            const keys = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => keyOf(kind, n))
            t.strictSame(
              await holders.at(list, kind, slot, keys),
              keys.map((key) => present.find((each) => Buffer.compare(each.key, key) === 0) ?? null)
            )
          }
        }
        await check()
        // Versions superseded by the slot are not needed to read it.
        await holders.drop(list, superseded)
        await check()
      }
    )
    await fc.assert(property, { numRuns: runs, seed: 1 })
  })
}
