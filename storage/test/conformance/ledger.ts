import fc from 'fast-check'
import type { Test } from 'tap'
import type { LedgerStore } from '../../port.ts'
import { LEDGER_DAYS, LEDGER_SUM_SLOTS } from '../../port/ledger.ts'
import type { OpenForTest } from '../under-test.ts'

const [ALICE, BOB] = ['alice', 'bob'] as const

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values)

/** Reads all pages of an owner, as slot and bytes. */
async function pagesOf(store: LedgerStore, owner: string, order: 'asc' | 'desc' = 'asc', limit = 1_000) {
  const pages = await store.pages(owner, { from: 0, to: Infinity, order, limit })
  return pages.map(({ slot, value }) => [slot, ...value])
}

/** Slots in several partitions of a cluster. */
const slots = fc.tuple(fc.constantFrom(0, 8_190, 100_000, 2 ** 33), fc.nat(6)).map(([base, n]) => base + n)
const writes = fc.array(
  fc.record({
    kind: fc.constantFrom('put', 'put', 'put', 'drop'),
    owner: fc.constantFrom(ALICE, BOB),
    slot: slots,
    token: fc.integer({ min: 1, max: 4 }),
    value: fc.nat(255)
  }),
  { minLength: 1, maxLength: 30 }
)

/** Promises of the store of ledgers; `runs` is the number of random runs. */
export async function testLedger(t: Test, open: OpenForTest, runs: number): Promise<void> {
  t.test('rows are read as they were written, after a restart too', async (t) => {
    const under = await open(t)
    const { storage } = under
    const far = 2 ** 33
    await storage.ledger.put({
      token: 7,
      pages: [
        { owner: ALICE, slot: 5, value: bytes(1, 2) },
        { owner: ALICE, slot: far, value: bytes() },
        { owner: BOB, slot: 6, value: bytes(3) }
      ],
      sums: LEDGER_SUM_SLOTS.flatMap((_, level) =>
        [0, 127, 128, 300].map((number) => ({
          owner: ALICE,
          level,
          number,
          value: bytes(level, number % 256)
        }))
      ),
      marks: [{ owner: BOB, value: bytes(9) }]
    })
    for (const open of [async () => storage, async () => under.reopen()]) {
      const { ledger } = await open()
      t.strictSame(await pagesOf(ledger, ALICE), [[5, 1, 2], [far]])
      t.strictSame(await pagesOf(ledger, ALICE, 'desc'), [[far], [5, 1, 2]])
      t.strictSame(await pagesOf(ledger, BOB), [[6, 3]])
      t.strictSame(await pagesOf(ledger, 'carol'), [])
      for (const level of LEDGER_SUM_SLOTS.keys()) {
        const sums = await ledger.sums(ALICE, level, 0, 301)
        t.strictSame(
          sums.map((sum) => [sum.owner, sum.level, sum.number, ...sum.value]),
          [0, 127, 128, 300].map((number) => [ALICE, level, number, level, number % 256])
        )
        t.strictSame(
          (await ledger.sums(ALICE, level, 1, 128)).map(({ number }) => number),
          [127]
        )
        t.strictSame(
          (await ledger.sums(ALICE, level, 120, 135)).map(({ number }) => number),
          [127, 128]
        )
        t.strictSame(await ledger.sums(BOB, level, 0, 301), [])
      }
      const marks = await ledger.marks([ALICE, BOB, 'carol'])
      t.strictSame(
        marks.map((mark) => mark && [...mark]),
        [null, [9], null]
      )
    }
  })

  t.test('of the rows at a place that of the greatest token counts, whichever came last', async (t) => {
    const { ledger } = (await open(t)).storage
    const put = (token: number, value: number) =>
      ledger.put({
        token,
        pages: [{ owner: ALICE, slot: 10, value: bytes(value) }],
        sums: [{ owner: ALICE, level: 1, number: 4, value: bytes(value) }],
        marks: [{ owner: ALICE, value: bytes(value) }]
      })
    const seen = async () => [
      (await pagesOf(ledger, ALICE)).flat(),
      (await pagesOf(ledger, ALICE, 'desc', 1)).flat(),
      (await ledger.sums(ALICE, 1, 0, 100)).map(({ value }) => value[0]),
      (await ledger.marks([ALICE])).map((mark) => mark?.[0])
    ]
    await put(5, 50)
    await put(3, 30)
    t.strictSame(await seen(), [[10, 50], [10, 50], [50], [50]], 'a lesser token')
    await put(5, 51)
    t.strictSame(await seen(), [[10, 51], [10, 51], [51], [51]], 'the same token')
    await put(6, 60)
    t.strictSame(await seen(), [[10, 60], [10, 60], [60], [60]], 'a greater token')
    const rows = { owner: ALICE, slots: [10], sums: [{ level: 1, number: 4 }] }
    await ledger.drop({ token: 5, ...rows })
    t.strictSame(await seen(), [[10, 60], [10, 60], [60], [60]], 'deleted with a lesser token')
    await ledger.drop({ token: 6, ...rows })
    t.strictSame(await seen(), [[], [], [], [60]], 'deleted with its own')
  })

  t.test('random writes agree with a map', async (t) => {
    const { ledger } = (await open(t)).storage
    let run = 0
    await fc.assert(
      fc.asyncProperty(writes, fc.integer({ min: 1, max: 9 }), async (list, limit) => {
        run++
        const kept = new Map<string, { readonly token: number; readonly value: number }>()
        for (const { kind, owner, slot, token, value } of list) {
          const name = `${owner}-${run}`
          const place = `${name} ${slot}`
          const before = kept.get(place)
          if (kind === 'put') {
            await ledger.put({ token, pages: [{ owner: name, slot, value: bytes(value) }] })
            if (before === undefined || before.token <= token) kept.set(place, { token, value })
          } else {
            await ledger.drop({ token, owner: name, slots: [slot] })
            if (before !== undefined && before.token <= token) kept.delete(place)
          }
        }
        for (const owner of [`${ALICE}-${run}`, `${BOB}-${run}`]) {
          const expected = [...kept]
            .filter(([place]) => place.startsWith(`${owner} `))
            .map(([place, { value }]) => [Number(place.split(' ')[1]), value] as const)
            .sort(([a], [b]) => a - b)
          t.strictSame(await pagesOf(ledger, owner, 'asc', limit), expected.slice(0, limit))
          t.strictSame(await pagesOf(ledger, owner, 'desc', limit), expected.toReversed().slice(0, limit))
          const [from, to] = [8_192, 100_003]
          const within = await ledger.pages(owner, { from, to, order: 'asc', limit: 100 })
          t.strictSame(
            within.map(({ slot, value }) => [slot, value[0]]),
            expected.filter(([slot]) => slot >= from && slot <= to)
          )
        }
      }),
      { numRuns: runs, seed: 1 }
    )
  })
}

/** Promises of a store whose rows expire by the clock of the process. */
export async function testLedgerExpiry(t: Test, open: OpenForTest): Promise<void> {
  const under = await open(t)
  const { clock } = under
  let { ledger } = under.storage
  const put = (slot: number) =>
    ledger.put({
      token: 1,
      pages: [{ owner: ALICE, slot, value: bytes(1) }],
      sums: [{ owner: ALICE, level: 0, number: slot / 16, value: bytes(1) }]
    })
  const seen = async () => [
    (await pagesOf(ledger, ALICE)).map(([slot]) => slot),
    (await ledger.sums(ALICE, 0, 0, 100_000)).map(({ number }) => number * 16)
  ]
  const day = 86_400_000
  for (const slot of [0, 160, 65_520]) await put(slot)
  clock.advance(day)
  await put(65_536)
  clock.advance((LEDGER_DAYS - 1) * day)
  ledger = (await under.reopen()).ledger
  t.strictSame(
    await seen(),
    [
      [0, 160, 65_520, 65_536],
      [0, 160, 65_520, 65_536]
    ],
    'before they expire'
  )
  clock.advance(day / 2)
  await put(65_552)
  t.strictSame(
    await seen(),
    [
      [65_536, 65_552],
      [65_536, 65_552]
    ],
    'those of one stretch expire together'
  )
}
