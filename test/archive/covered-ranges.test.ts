import fc from 'fast-check'
import t from 'tap'
import { BlockRanges, composedRanges } from '../../src/archive/archived-ranges.ts'
import { coveredRanges, type CoveredRange, type Indexed } from '../../src/archive/covered-ranges.ts'
import { randomRuns } from '../random-runs.ts'

const slotRow = (slot: number) => ({ slot, blockTime: slot, blockhash: new Uint8Array(32) }) as never
const textOf = ({ state, from, to, reason }: CoveredRange): string =>
  `${state} ${from}-${to}${reason === null ? '' : ` ${reason}`}`
const all = (indexed: Indexed): string[] => [...coveredRanges(indexed, -1)].map(textOf)
const NO_PERIODS = { archive: [], live: [] }
const NOTHING: Indexed = {
  archived: null,
  archive: null,
  live: null,
  rowsFrom: null,
  gaps: [],
  periods: NO_PERIODS
}

t.test('covered ranges of an archive, gaps and a retention are all named', async (t) => {
  t.strictSame(all(NOTHING), [])
  const archive = { first: slotRow(10), last: slotRow(20) }
  t.strictSame(all({ ...NOTHING, archive }), ['archive 10-20'])
  const live = { first: 40, head: 90 }
  const gaps = [
    { from: 45, to: 49, reason: 'pruned' },
    { from: 70, to: 71, reason: 'missing' }
  ]
  t.strictSame(all({ ...NOTHING, archive, live, rowsFrom: 60, gaps }), [
    'archive 10-20',
    'missing 21-39 not_imported',
    'partial 40-44 past_retention',
    'missing 45-49 pruned',
    'partial 50-59 past_retention',
    'live 60-69',
    'missing 70-71 missing',
    'live 72-90'
  ])
  t.strictSame(
    all({ ...NOTHING, live, gaps: [{ from: 50, to: 60, reason: 'inner-instructions-absent' }] }),
    ['live 40-49', 'partial 50-60 inner-instructions-absent', 'live 61-90'],
    'blocks with unseen calls are stored'
  )
  t.strictSame(all({ ...NOTHING, live, gaps: [{ from: 50, to: 50, reason: 'vault-moved' }] }), [
    'live 40-49',
    'partial 50-50 vault-moved',
    'live 51-90'
  ])
  t.strictSame(all({ ...NOTHING, archive, live: { first: 21, head: 21 } }), ['archive 10-20', 'live 21-21'])
})

t.test('covered ranges of any index follow each other without holes, and go on after any slot', async () => {
  const spans = fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 6 })
  fc.assert(
    fc.property(
      spans,
      fc.nat(40),
      fc.option(fc.nat(60)),
      fc.boolean(),
      (gapSpans, size, rows, hasArchive) => {
        const first = 30
        let at = first
        const gaps = gapSpans.map(([space, length]) => {
          const from = at + space + 1
          at = from + length + 1
          return { from, to: from + length, reason: 'pruned' }
        })
        const indexed = {
          periods: NO_PERIODS,
          archived: null,
          archive: hasArchive ? { first: slotRow(3), last: slotRow(12) } : null,
          live: { first, head: Math.max(at, first + size) },
          rowsFrom: rows === null ? null : first + rows,
          gaps
        }
        const ranges = [...coveredRanges(indexed, -1)]
        const states = new Map<number, string>()
        for (const [index, range] of ranges.entries()) {
          if (index > 0 && range.from !== ranges[index - 1]!.to + 1) return false
          for (let slot = range.from; slot <= range.to; slot++) states.set(slot, range.state)
        }
        const isInGap = (slot: number): boolean => gaps.some(({ from, to }) => from <= slot && slot <= to)
        for (let slot = first; slot <= indexed.live.head; slot++) {
          const expected = isInGap(slot) ? 'missing' : slot < (indexed.rowsFrom ?? 0) ? 'partial' : 'live'
          if (states.get(slot) !== expected) return false
        }
        return ranges.every(({ to }, index) => {
          const rest = [...coveredRanges(indexed, to)]
          return JSON.stringify(rest) === JSON.stringify(ranges.slice(index + 1))
        })
      }
    ),
    randomRuns(300)
  )
})

t.test(
  'covered ranges end where the decoding of their store changes, and earlier ones are unknown',
  async (t) => {
    const indexed: Indexed = {
      archived: null,
      archive: { first: slotRow(10), last: slotRow(20) },
      live: { first: 30, head: 60 },
      rowsFrom: 35,
      gaps: [{ from: 50, to: 51, reason: 'pruned' }],
      periods: {
        archive: [{ from: 0, venues: ['raydium-cpmm'], decoderVersion: 1 }],
        live: [
          { from: 40, venues: ['pumpswap'], decoderVersion: 2 },
          { from: 45, venues: ['pumpswap'], decoderVersion: 2 },
          { from: 51, venues: ['pumpswap'], decoderVersion: 3 }
        ]
      }
    }
    const decoded = ({ venues, decoderVersion }: CoveredRange) =>
      venues && `${venues.join()} v${decoderVersion}`
    t.strictSame(
      [...coveredRanges(indexed, -1)].map((range) => [textOf(range), decoded(range)]),
      [
        ['archive 10-20', 'raydium-cpmm v1'],
        ['missing 21-29 not_imported', null],
        ['partial 30-34 past_retention', null],
        ['live 35-39', null],
        ['live 40-49', 'pumpswap v2'],
        ['missing 50-51 pruned', null],
        ['live 52-60', 'pumpswap v3']
      ]
    )
  }
)

t.test('ranges of an archive say what is of blocks and of files, and blocks count first', async (t) => {
  const files = [
    {
      name: 'june',
      columns: ['dune'],
      slots: { pumpswap: { from: 10, to: 40 }, phoenix: { from: 30, to: 50 } }
    },
    { name: 'a.csv', columns: ['millrace'], slots: { pumpswap: { from: 35, to: 60 } } }
  ]
  const blocks = new BlockRanges()
  for (const slot of [20, 22, 25])
    blocks.add({ slot, parentSlot: slot === 22 ? 20 : slot - 1 }, { venues: ['pumpswap'], decoderVersion: 2 })
  const archived = composedRanges(blocks.ranges, files, ['pumpswap', 'phoenix'], { first: 10, last: 80 })
  const indexed: Indexed = { ...NOTHING, archived, archive: { first: slotRow(10), last: slotRow(80) } }
  const shown = ({ origin, venues, files }: CoveredRange) =>
    [origin, venues?.join('+'), files?.names.join('+')].filter((word) => word != null).join(' ')
  t.strictSame(
    [...coveredRanges(indexed, -1)].map((range) => [textOf(range), shown(range)]),
    [
      ['archive 10-19', 'file pumpswap june'],
      ['archive 20-22', 'blocks pumpswap'],
      ['archive 23-24', 'file pumpswap june'],
      ['archive 25-25', 'blocks pumpswap'],
      ['archive 26-29', 'file pumpswap june'],
      ['archive 30-34', 'file pumpswap+phoenix june'],
      ['archive 35-50', 'file pumpswap+phoenix a.csv+june'],
      ['archive 51-60', 'file pumpswap a.csv'],
      ['archive 61-80', '']
    ]
  )
})

t.test('blocks with holes make at most a thousand ranges, of which the nearest are joined', async (t) => {
  const blocks = new BlockRanges()
  for (let at = 0; at <= 1_000; at++) {
    const slot = at * 1_000 + (at === 500 ? -400 : 0)
    blocks.add({ slot, parentSlot: null }, { venues: null, decoderVersion: 2 })
  }
  t.equal(blocks.ranges.length, 1_000)
  t.ok(blocks.ranges.some(({ from, to }) => from === 499_000 && to === 499_600))
})
