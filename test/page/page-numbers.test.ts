import fc from 'fast-check'
import t from 'tap'
import { intervalSeconds } from '../../src/market/buckets.ts'
import type { Candle, Trade } from '../../src/page/browser/answers.ts'
import { grown, INTERVALS, meets, withNewer } from '../../src/page/browser/candles.ts'
import { age, decimal, nameText, percent, usd } from '../../src/page/browser/format.ts'
import { csvOf, flowsByDay, type LedgerRow } from '../../src/page/browser/revenue-rows.ts'
import { joined, newestOf, NO_FILTER, passes, TRADES_MAX } from '../../src/page/browser/tape-rows.ts'
import { tilesOf } from '../../src/page/browser/treemap.ts'
import { randomRuns } from '../random-runs.ts'

const trade = (cursor: number, fields: Partial<Trade> = {}): Trade =>
  ({
    cursor,
    block_time: 1_800_000_000 + cursor,
    event: 'buy',
    venue: 'pumpswap',
    price: cursor,
    price_usd: cursor * 100,
    price_forming: true,
    amount_usd: 5,
    token_amount: 2,
    cash_amount: 1,
    ...fields
  }) as Trade

t.test('numbers are short, and unknown ones are a dash', async (t) => {
  t.same([0, 149.1, 0.031, 0.000_022_79, 1.2e-13, 1_234_567, null].map(decimal), [
    '0',
    '149.10',
    '0.031',
    '0.0₄2279',
    '0.0₁₂12',
    '1,234,567',
    '–'
  ])
  t.same([3_800_000_000, 5.5, -0.21, 0.0003, null].map(usd), ['$3.8B', '$5.50', '−$0.21', '$0.0003', '–'])
  t.same([-4.8197, 0.2, 1_240, null].map(percent), ['−4.82%', '+0.20%', '+1.24K%', '–'])
  t.same(
    [-3_600_000, 59_000, 3_600_000, 90_000_000].map((ms) => age(0, ms)),
    ['0s', '59s', '1h', '1d']
  )
})

t.test('a name is one short line without characters that change others', async (t) => {
  t.equal(nameText('\u202eevil\u0000\n\u200b🦦'), 'evil🦦')
  t.equal(nameText('\u200b \u2066'), null, 'nothing is left of it')
  t.equal(nameText('x'.repeat(10_000))!.length, 41)
  t.equal(nameText(`z${'\u0351'.repeat(500)}algo`), 'z\u0351\u0351algo', 'marks are not piled up')
  t.equal(nameText('e\u0301\u0323'), 'e\u0301\u0323')
  t.equal(nameText('<b>bold</b>'), '<b>bold</b>', 'markup is text')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
      const shown = nameText(name)
      return shown === null || (!/[\p{Cc}\p{Cf}]/u.test(shown) && [...shown].length <= 41)
    }),
    randomRuns(200)
  )
})

t.test('the intervals of candles are in the order of their lengths', async (t) => {
  t.same(
    INTERVALS.map(intervalSeconds),
    INTERVALS.map(intervalSeconds).toSorted((a, b) => a - b)
  )
  t.equal(INTERVALS.length, 11)
})

t.test('newer candles meet the known ones unless a bucket may be between them', async (t) => {
  const [first, second, third] = [60, 120, 180].map((at) => grown([], [trade(at)], '1m', 'native')[0]!)
  t.ok(meets([first!, second!], [second!, third!]))
  t.ok(meets([first!, second!], []), 'no newer one')
  t.ok(meets([], [third!]), 'no known one')
  t.notOk(meets([first!], [third!]))
})

t.test('candles grow by trades: prices by price-forming ones, volumes by all', async (t) => {
  const start = [trade(1), trade(2, { price_forming: false, event: 'sell' }), trade(3)]
  const [first, ...none] = grown([], start, '1m', 'native')
  t.same(none, [])
  t.match(first, {
    open: 1,
    high: 3,
    low: 1,
    close: 3,
    trades: 3,
    buys: 2,
    sells: 1,
    volume_usd: 15,
    volume_token: 6
  })
  t.match(grown([], start, '1m', 'usd')[0], { open: 100, close: 300 })
  const [again, next] = grown([first!], [trade(70)], '1m', 'native')
  t.equal(again, first, 'an earlier bucket stays')
  t.match(next, { open: 70, trades: 1, closed: false })
  t.same(
    grown([next!], [trade(4)], '1m', 'native'),
    [next],
    'a trade of an earlier bucket waits for the check'
  )
  t.same(grown([], [trade(5, { price_forming: false })], '1m', 'native'), [], 'no price, no candle')
  const corrected: Candle = { ...next!, close: 71 }
  t.same(withNewer([first!, next!], [corrected]), [first, corrected])
})

t.test('a tape has each trade once, the newest first, whatever the order of its parts', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(500)), fc.uniqueArray(fc.nat(500)), (a, b) => {
      const part = (cursors: readonly number[]) =>
        cursors.toSorted((x, y) => y - x).map((cursor) => trade(cursor))
      const found = joined(part(a), part(b)).map(({ cursor }) => cursor)
      const expected = [...new Set([...a, ...b])].toSorted((x, y) => y - x)
      return JSON.stringify(found) === JSON.stringify(expected)
    }),
    randomRuns(100)
  )
  const filter = { side: 'sell', minUsd: 10, venue: 'pumpswap' } as const
  const sale = trade(1, { event: 'sell', amount_usd: 10 })
  t.ok(passes(sale, filter) && passes(trade(2, { amount_usd: null }), NO_FILTER))
  for (const other of [
    { event: 'buy' },
    { amount_usd: 9 },
    { amount_usd: null },
    { venue: 'pumpfun' }
  ] as const)
    t.notOk(passes({ ...sale, ...other }, filter), JSON.stringify(other))
})

t.test(
  'a full tape has no hole between the trades that came live and those that were read before',
  async (t) => {
    const older = [trade(3), trade(2), trade(1)]
    let live: readonly Trade[] = []
    for (let at = 4; at < TRADES_MAX + 500; at += 100) {
      const batch = Array.from({ length: 100 }, (_, n) => trade(at + 99 - n))
      live = newestOf(joined(batch, live))
    }
    const cursors = newestOf(joined(live, older)).map(({ cursor }) => cursor)
    t.equal(cursors.length, TRADES_MAX)
    t.ok(
      cursors.every((cursor, at) => at === 0 || cursor === cursors[at - 1]! - 1),
      'each after the one before'
    )
  }
)

t.test('tiles have the areas of their sizes, and fill the picture', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 60 }), (sizes) => {
      const total = sizes.reduce((sum, size) => sum + size, 0)
      const tiles = tilesOf(sizes, 600, 300)
      return tiles.every(
        ({ x, y, width, height }, at) =>
          Math.abs(width * height - (sizes[at]! / total) * 180_000) < 1e-3 &&
          Math.min(x, y) > -1e-6 &&
          x + width < 600.001 &&
          y + height < 300.001
      )
    }),
    randomRuns(100)
  )
  t.same(
    tilesOf([0, 0], 10, 10),
    [0, 0].map(() => ({ x: 0, y: 0, width: 0, height: 0 }))
  )
})

const row = (fields: Partial<LedgerRow>): LedgerRow =>
  ({
    ts: '2026-11-29 10:00:00',
    slot: 1,
    value_usd: 0,
    label: 'a',
    role: 'treasury',
    symbol: 'SOL',
    ...fields
  }) as LedgerRow

t.test('flows are added up by day and part; rows without a price are left out', async (t) => {
  const rows = [
    row({ value_usd: 5 }),
    row({ value_usd: -2, role: 'tip' }),
    row({ value_usd: null }),
    row({ value_usd: 1, ts: '2026-11-28 23:59:59' })
  ]
  t.same(
    flowsByDay(rows, ({ role }) => role),
    [
      { day: '2026-11-28', inflow: 1, outflow: 0, parts: [{ name: 'treasury', inflow: 1, outflow: 0 }] },
      {
        ...{ day: '2026-11-29', inflow: 5, outflow: 2 },
        parts: [
          { name: 'treasury', inflow: 5, outflow: 0 },
          { name: 'tip', inflow: 0, outflow: 2 }
        ]
      }
    ]
  )
})

t.test('a field of the file is quoted, and never a formula of a spreadsheet', async (t) => {
  const [head, line, ...rest] = csvOf([row({ label: '=1+1', symbol: 'a,"b"', delta_raw: '-12' })]).split(
    '\r\n'
  )
  t.same(rest, [''])
  t.match(head, /^ts,slot,signature,address,label,/)
  t.match(line, `'=1+1`)
  t.match(line, '"a,""b"""')
  t.match(line, ',-12,', 'a number stays a number')
})
