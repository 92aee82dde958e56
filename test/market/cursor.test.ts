import { inspect } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import {
  SIDE_BY_SIDE_POSITIONS,
  cursorAt,
  beforeWalletCopies,
  endOfChainEvents,
  eventCursor,
  placeEvents,
  positionsOf,
  POSITIONS_PER_SLOT,
  readCursor,
  splitCursor,
  walletCursor,
  walletPositions
} from '../../src/market/cursor.ts'
import type { BlockEntry } from '../../src/market/block.ts'
import { randomRuns } from '../random-runs.ts'
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
    const trades = Array.from({ length: SIDE_BY_SIDE_POSITIONS / 4 - 1 }, () => ({ kind: 'trade' as const }))
    const fits = placeEvents(7, [...trades, { kind: 'curve' }])
    t.equal(fits.length, SIDE_BY_SIDE_POSITIONS / 4)
    t.equal(splitCursor(fits.at(-1)!).slot, 7)
    const overflows = placeEvents(7, [...trades, { kind: 'curve' }, { kind: 'launch' }, { kind: 'launch' }])
    t.equal(
      overflows.length,
      SIDE_BY_SIDE_POSITIONS / 4,
      'a curve and a launch do not fit in the last four positions'
    )
  }
)

t.test('a block past its positions is folded without the rest, which is counted', async (t) => {
  const some = block(9, NOON, [liquidity()])
  const full = {
    ...some,
    entries: new Array<BlockEntry>(SIDE_BY_SIDE_POSITIONS / 2 + 5).fill(some.entries[0]!)
  }
  const { folds } = ingestAll([full], OPTIONS)
  t.equal(folds[0]!.leftOut, 5)
  t.equal(folds[0]!.poolEvents.length, SIDE_BY_SIDE_POSITIONS / 2)
  t.equal(folds[0]!.slot.events, SIDE_BY_SIDE_POSITIONS / 2)
  t.same(splitCursor(folds[0]!.poolEvents.at(-1)!.cursor), { slot: 9, position: SIDE_BY_SIDE_POSITIONS - 2 })
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

t.test(
  'copies of trades on wallet: are behind all other copies of their slot, in order and each at its own',
  async (t) => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 30 }), (events) => {
        const placed = placeEvents(41, events)
        const firsts = placed.filter((_, i) => events[i]!.kind === 'trade')
        const copies = firsts.map(walletCursor)
        const sideBySide = positionsOf(events)
        const inOrder = [cursorAt(41, sideBySide - 1), ...copies, endOfChainEvents(41)]
        t.ok(inOrder.every((cursor, i) => i === 0 || cursor > inOrder[i - 1]!))
        const last = cursorAt(41, SIDE_BY_SIDE_POSITIONS + walletPositions(sideBySide)) - 1
        t.ok(
          copies.every((cursor) => cursor <= last),
          'within the positions that they can take'
        )
        const anywhere = copies.flatMap((cursor) => [cursor - 1, cursor, cursor + 1])
        for (const after of [-1, cursorAt(40, 7), cursorAt(41, 0), cursorAt(41, 2 ** 20 - 1), ...anywhere])
          t.strictSame(
            firsts.filter((cursor) => cursor > beforeWalletCopies(after)),
            firsts.filter((cursor) => walletCursor(cursor) > after),
            `after ${after}`
          )
      }),
      randomRuns(100)
    )
  }
)

t.test('the last trade that has room has room for its copy on wallet: too', async (t) => {
  const trades = Array.from({ length: SIDE_BY_SIDE_POSITIONS / 4 + 1 }, () => ({ kind: 'trade' as const }))
  const last = placeEvents(7, trades).at(-1)!
  t.equal(walletCursor(last), cursorAt(7, SIDE_BY_SIDE_POSITIONS + SIDE_BY_SIDE_POSITIONS / 4 - 1))
  t.ok(walletCursor(last) <= endOfChainEvents(7))
  t.equal(beforeWalletCopies(walletCursor(last)), cursorAt(7, SIDE_BY_SIDE_POSITIONS) - 1)
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
