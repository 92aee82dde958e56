import { inspect } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import {
  CHAIN_POSITIONS,
  cursorAt,
  eventCursor,
  placeEvents,
  POSITIONS_PER_SLOT,
  readCursor,
  splitCursor
} from '../../src/market/cursor.ts'
import type { BlockEntry } from '../../src/market/block.ts'
import { ingestAll } from './memory-store.ts'
import {
  anyEvent,
  block,
  buy,
  curve,
  launch,
  liquidity,
  NOON,
  OPTIONS,
  OTHER,
  poolChange,
  TOKEN,
  trade
} from './world.ts'

t.test('each kind of event takes a position per channel copy', async (t) => {
  const events = [buy(1n, 1n), liquidity(), launch(), curve('create'), poolChange(), buy(1n, 1n)]
  t.same(
    placeEvents(7, events).map((cursor) => splitCursor(cursor)),
    [0, 4, 6, 8, 11, 14].map((position) => ({ slot: 7, position }))
  )
})

t.test('a trade without a cash side takes as many positions as one with', async (t) => {
  const swap = trade({ inMint: TOKEN, outMint: OTHER })
  t.same(placeEvents(7, [swap, swap]), [cursorAt(7, 0), cursorAt(7, 4)])
})

t.test(
  'the rows of a trade without a cash side carry their own positions and lead to its first',
  async (t) => {
    const { folds } = ingestAll(
      [block(7, NOON, [liquidity(), trade({ inMint: TOKEN, outMint: OTHER }), buy(1n, 1n)])],
      OPTIONS
    )
    const rows = folds[0]!.trades
    t.same(
      rows.map((row) => splitCursor(row.cursor).position),
      [2, 3, 6]
    )
    t.same(
      rows.map((row) => splitCursor(eventCursor(row)).position),
      [2, 2, 6]
    )
  }
)

t.test('a cursor at the largest slot of this century is still exact', async (t) => {
  const slot = 2 ** 33 - 1
  t.same(splitCursor(cursorAt(slot, POSITIONS_PER_SLOT - 1)), { slot, position: POSITIONS_PER_SLOT - 1 })
  t.ok(Number.isSafeInteger(cursorAt(slot, POSITIONS_PER_SLOT - 1)))
})

t.test(
  'events past the positions of a slot that are for them are left out, with all that follow',
  async (t) => {
    const trades = Array.from({ length: CHAIN_POSITIONS / 4 - 1 }, () => ({ kind: 'trade' as const }))
    const fits = placeEvents(7, [...trades, { kind: 'curve' }])
    t.equal(fits.length, CHAIN_POSITIONS / 4)
    t.equal(splitCursor(fits.at(-1)!).slot, 7)
    const overflows = placeEvents(7, [...trades, { kind: 'curve' }, { kind: 'launch' }, { kind: 'launch' }])
    t.equal(
      overflows.length,
      CHAIN_POSITIONS / 4,
      'a curve and a launch do not fit in the last four positions'
    )
  }
)

t.test('a block past its positions is folded without the rest, which is counted', async (t) => {
  const some = block(9, NOON, [liquidity()])
  const full = { ...some, entries: new Array<BlockEntry>(CHAIN_POSITIONS / 2 + 5).fill(some.entries[0]!) }
  const { folds } = ingestAll([full], OPTIONS)
  t.equal(folds[0]!.leftOut, 5)
  t.equal(folds[0]!.poolEvents.length, CHAIN_POSITIONS / 2)
  t.equal(folds[0]!.slot.events, CHAIN_POSITIONS / 2)
  t.same(splitCursor(folds[0]!.poolEvents.at(-1)!.cursor), { slot: 9, position: CHAIN_POSITIONS - 2 })
})

// INVARIANTS 3
t.test('positions rise strictly within a slot and into the next', async (t) => {
  fc.assert(
    fc.property(fc.array(anyEvent), fc.array(anyEvent, { minLength: 1 }), (first, second) => {
      const cursors = [...placeEvents(41, first), ...placeEvents(42, second)]
      return cursors.every((cursor, i) => i === 0 || cursor > cursors[i - 1]!)
    }),
    { seed: 1 }
  )
  t.pass()
})

t.test("a client's cursor is an integer or its decimal text, and nothing else", async (t) => {
  for (const good of [0, 12, Number.MAX_SAFE_INTEGER]) {
    t.equal(readCursor(good), good)
    t.equal(readCursor(String(good)), good)
  }
  const bad = [
    -1,
    1.5,
    NaN,
    Infinity,
    2 ** 53,
    '',
    ' 1',
    '1e3',
    '0x10',
    '-1',
    '9007199254740992',
    null,
    undefined,
    {},
    [1]
  ]
  for (const value of bad) t.equal(readCursor(value), null, inspect(value))
})
