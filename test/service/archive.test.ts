import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { faultsOf, until } from './asking.ts'
import { FIRST_SLOT, recordedBlocks, writeLines } from './recorded-folder.ts'
import { csvText, PUMP_MINT } from '../archive/rows/sample-rows.ts'
import { tradeRows } from '../archive/rows/trade-rows.ts'
import { runMillrace, startProcess, type Body, type ServiceProcess } from './service-process.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const PATHS = [
  `/v1/tokens/${WSOL}/trades?limit=100`,
  `/v1/tokens/${WSOL}/candles?interval=1m`,
  '/v1/coverage'
]
const BLOCKS = 60
const ARCHIVED = 12
/** Slots of `recordedBlocks`. */
const slotOf = (at: number): number => FIRST_SLOT + 2 * at

type Row = Body['data'][number]

async function bodiesOf(service: ServiceProcess): Promise<readonly Body[]> {
  const answers = await Promise.all(PATHS.map((path) => service.get(path)))
  return answers.map(({ body }) => body)
}

interface DayFigures {
  readonly stats: number
  readonly activeTokens: number
  readonly trending: unknown
}

/** Reads figures of the last day: those of the market, and of the ranking. */
async function dayOf(service: ServiceProcess): Promise<DayFigures> {
  const stats = (await service.get('/v1/stats')).body as unknown as {
    readonly windows: { readonly '24h': { readonly trades: number; readonly active_tokens: number } }
  }
  const { trades, active_tokens } = stats.windows['24h']
  const ranked = (await service.get('/v1/trending?limit=100')).body.data
  return {
    stats: trades,
    activeTokens: active_tokens,
    trending: ranked.find(({ mint }) => mint === WSOL)?.['trades']
  }
}

const sourcesOf = (rows: readonly Row[]): Set<unknown> => new Set(rows.map(({ source }) => source))

function assertMarked(t: Test, rows: readonly Row[]): void {
  const end = slotOf(ARCHIVED - 1)
  const wrong = rows.filter(({ slot, source }) => source !== (Number(slot) <= end ? 'archive' : undefined))
  t.strictSame(wrong, [], 'rows of archived slots are marked, and no others')
  t.strictSame(sourcesOf(rows), new Set([undefined, 'archive']))
}

testWithFixtures(
  t,
  'blocks that are imported beside a running service are served by it, and marked',
  async (t) => {
    const directory = t.testdir({ early: {}, live: {}, both: {} })
    const pathOf = (name: string): string => join(directory, name)
    const [early, live, both, dataDir] = [pathOf('early'), pathOf('live'), pathOf('both'), pathOf('data')]
    const blocks = recordedBlocks(BLOCKS)
    writeLines(live, 'live.ndjson', blocks.slice(ARCHIVED))
    writeLines(both, 'both.ndjson', blocks)
    // The folder of the archive reaches into the live blocks.
    writeLines(early, 'early.ndjson', blocks.slice(0, ARCHIVED + 2))
    const service = await startProcess({ dataDir, recordedDir: live })
    await service.said(/the source has no more blocks/)
    const [trades, candles, coverage] = (await bodiesOf(service)) as [Body, Body, Body]
    const day = await dayOf(service)
    t.strictSame(sourcesOf(trades.data), new Set([undefined]))
    t.strictSame(sourcesOf(candles.data), new Set([undefined]))
    t.match(coverage, { archive: null, data: [{ state: 'live', from_slot: slotOf(ARCHIVED) }] })

    const imported = await runMillrace(['archive', 'import', early, '--data-dir', dataDir])
    t.match(imported, { code: 0, stdout: `${ARCHIVED} blocks with` }, imported.stderr)
    t.match(imported.stdout, '2 blocks are left out')
    const status = await runMillrace(['archive', 'status', '--json', '--data-dir', dataDir])
    t.match(JSON.parse(status.stdout), { served: true, last: { slot: slotOf(ARCHIVED - 1) } }, status.stderr)

    await service.said(/the archive is served/)
    // Each of these paths was answered before, and is cached.
    const joined = await until(async () => {
      const bodies = (await bodiesOf(service)) as [Body, Body, Body]
      return bodies[2]['archive'] !== null && bodies
    }, 'the archive is served')
    assertMarked(t, joined[0].data)
    t.ok(joined[0].data.length > trades.data.length)
    t.strictSame(
      joined[0].data.slice(0, trades.data.length).map(({ cursor }) => cursor),
      trades.data.map(({ cursor }) => cursor),
      'live rows come first, as before'
    )
    t.strictSame(sourcesOf(joined[1].data), new Set([undefined, 'archive']))
    t.match(joined[2], {
      archive: { served: true, first_slot: FIRST_SLOT, last_slot: slotOf(ARCHIVED - 1) },
      data: [
        { state: 'archive', from_slot: FIRST_SLOT, to_slot: slotOf(ARCHIVED - 1) },
        { state: 'missing', reason: 'not_imported' },
        { state: 'live', to_slot: slotOf(BLOCKS - 1) }
      ]
    })
    // The archive ends at the parent of the first live block, so windows go on into it.
    const whole = await startProcess({ dataDir: pathOf('whole'), recordedDir: both })
    await whole.said(/the source has no more blocks/)
    const expected = await dayOf(whole)
    t.ok(expected.stats > day.stats)
    await whole.end('SIGTERM')
    const joinedDay = await until(async () => {
      const found = await dayOf(service)
      return found.trending !== day.trending && found
    }, 'the ranking has the archive')
    t.strictSame(joinedDay, expected, 'figures of a service that has indexed all blocks')
    t.strictSame(faultsOf(service), [])
    t.match(await service.end('SIGTERM'), { code: 0 })
    const left = readdirSync(join(dataDir, 'archive')).filter((name) => name.includes('snapshot'))
    t.strictSame(left, [], 'no snapshot is left')
  }
)

t.test('rows of a CSV file that are imported beside a running service are served by it', async (t) => {
  const directory = t.testdir({ live: {} })
  const dataDir = join(directory, 'data')
  const rows = join(directory, 'trades.csv')
  writeFileSync(rows, csvText(tradeRows(120)))
  // The index begins after the rows.
  const block = { blockhash: '1', parentSlot: 300_000_000, blockTime: 1_720_000_000, transactions: [] }
  writeLines(join(directory, 'live'), 'live.ndjson', [{ slot: 300_000_001, block }] as never)
  const service = await startProcess({ dataDir, recordedDir: join(directory, 'live') })
  await service.said(/the source has no more blocks/)
  const imported = await runMillrace(['archive', 'import', rows, '--data-dir', dataDir])
  t.match(imported, { code: 0, stdout: '120 rows in 1 files: 120 accepted, 0 refusals' }, imported.stderr)
  await service.said(/the archive is served/)
  const get = async (path: string): Promise<Body> => (await service.get(path)).body
  const trades = await get(`/v1/tokens/${PUMP_MINT}/trades?limit=100`)
  t.equal(trades.data.length, 96)
  t.strictSame(sourcesOf(trades.data), new Set(['archive']))
  t.match(trades.data[0], { fee_payer: null, tx_index: 1, venue: 'pumpswap' })
  const candles = await get(`/v1/tokens/${PUMP_MINT}/candles?interval=1m`)
  t.match(candles.data, [{ source: 'archive', trades: 96 }])
  t.match(await get(`/v1/tokens/${PUMP_MINT}/price`), { source: 'archive' })
  t.match(await get('/v1/coverage?venue=orca-whirlpool'), {
    data: [
      {
        state: 'archive',
        origin: 'file',
        name: 'trades.csv',
        columns: ['millrace'],
        venues: ['pumpswap', 'orca-whirlpool'],
        decoder_version: null
      },
      { state: 'live', origin: 'blocks' }
    ]
  })
  const status = await runMillrace(['archive', 'status', '--data-dir', dataDir])
  t.match(
    status.stdout,
    /^range {2}254170887–254170944, rows of trades\.csv \(millrace\): pumpswap, orca-whirlpool$/m
  )
  t.strictSame(faultsOf(service), [])
  t.match(await service.end('SIGTERM'), { code: 0 })
})
