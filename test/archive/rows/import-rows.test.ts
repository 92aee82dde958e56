import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { pubkeyFromBase58 } from '../../../src/chain/pubkey.ts'
import { archiveConfigOf, openArchiveToRead, storeDirectory } from '../../../src/store/opening.ts'
import { runCommand } from '../../cli/run-command.ts'
import { IS_LONG } from '../../random-runs.ts'
import { configIn } from '../recorded-market.ts'
import {
  csvText,
  fileBytes,
  ndjsonText,
  PUMP_MINT,
  signatureOf,
  WSOL,
  type SampleRow
} from './sample-rows.ts'
import { archived, FIRST_SLOT, FIRST_TIME, importing, tradeRows } from './trade-rows.ts'

const ROWS = tradeRows(120)

/** Writes rows to a CSV file of a test. */
function fileOf(t: Test, name: string, rows: readonly SampleRow[]): string {
  const path = join(t.testdirName, name)
  writeFileSync(path, csvText(rows))
  return path
}

const root = t.testdir()
let folders = 0
const dataFolder = (): string => join(root, `data-${folders++}`)

const wholeDir = dataFolder()
writeFileSync(join(root, 'whole.csv'), csvText(ROWS))
const first = await importing(wholeDir, join(root, 'whole.csv'))
const whole = await archived(wholeDir)

t.test('rows of a file are trades of the archive, and the report counts them', async (t) => {
  t.equal(first.code, 0, first.stderr)
  t.match(first.lines, [
    '120 rows in 1 files: 120 accepted, 0 refusals',
    /^[1-9]\d* trades have a price far from those before, which forms no candle$/,
    `the archive has slots ${FIRST_SLOT} to ${FIRST_SLOT + 59}, 2024-03-09 16:00:00 to 2024-03-09 16:00:29 UTC`
  ])
  const archive = (await openArchiveToRead(configIn(wholeDir)))!
  t.teardown(() => archive.close())
  const rows = await archive.trades.ofMint(pubkeyFromBase58(PUMP_MINT), { order: 'asc', limit: 1_000 })
  t.equal(rows.length, 96)
  t.match(rows[0], { slot: FIRST_SLOT, txIndex: 1, ixIndex: 2, inDecimals: 9, cashUsd: 150 })
  t.ok(rows.some(({ priceForming }) => !priceForming))
  t.equal((await archive.trades.ofMint(pubkeyFromBase58(WSOL), { order: 'asc', limit: 99 })).length, 24)
  t.match(await archive.totals.get(), { trades: 120 })
  t.strictSame(await archive.log.read('venue:pumpswap', { limit: 9 }), [], 'no stream is stored')
})

t.test('any split and order of the same rows give the same bytes', async (t) => {
  t.testdir()
  const parts = [0, 1, 2].map((part) => fileOf(t, `${part}.csv`, ROWS.slice(part * 40, part * 40 + 40)))
  const mixed = [0, 1].map((part) =>
    fileOf(
      t,
      `mixed-${part}.csv`,
      ROWS.filter((_, at) => at % 2 === part)
    )
  )
  const orders = [
    [[parts[0]], [parts[1]], [parts[2]]],
    [[parts[2]], [parts[0], parts[1]]],
    [[mixed[1]], [mixed[0]]]
  ]
  for (const order of orders) {
    const dataDir = dataFolder()
    for (const paths of order) {
      const { code, stderr } = await importing(dataDir, ...(paths as string[]))
      t.equal(code, 0, stderr)
    }
    t.strictSame(await archived(dataDir), whole)
  }
})

t.test('rows after the end are appended, and a repeated import changes nothing', async (t) => {
  t.testdir()
  const dataDir = dataFolder()
  const early = fileOf(t, 'early.csv', ROWS.slice(0, 60))
  await importing(dataDir, early)
  const later = await importing(dataDir, fileOf(t, 'later.csv', ROWS.slice(50)))
  t.notMatch(later.lines.join('\n'), 'folded again', 'ten rows are in both files, and change nothing')
  t.match(later.lines.join('\n'), /^10 rows repeat others$/m)
  const again = await importing(dataDir, early)
  t.notMatch(again.lines.join('\n'), 'folded again')
  t.strictSame(await archived(dataDir), whole)
})

t.test('a file of another vendor with the same trades folds none of them', async (t) => {
  t.testdir()
  const dataDir = dataFolder()
  await importing(dataDir, join(root, 'whole.csv'))
  const fewer = ROWS.map((row) => ({ ...row, trader: null, pool: null }))
  const { code, lines } = await importing(dataDir, fileOf(t, 'fewer.csv', fewer), '--json')
  t.equal(code, 0)
  t.match(JSON.parse(lines[0]!), {
    rows: { accepted: 120 },
    fold: { refolded: false, trades: 0, repeated: 120 }
  })
  t.strictSame(await archived(dataDir), whole)
  const another = [{ ...ROWS[3]!, signature: signatureOf(201) }]
  const more = await importing(dataDir, fileOf(t, 'more.csv', another), '--json')
  t.match(JSON.parse(more.lines[0]!), { fold: { refolded: true, trades: 121, repeated: 120 } })
})

t.test('NDJSON and Parquet give the same bytes, compressed too', async (t) => {
  const directory = t.testdir({ rows: {} })
  writeFileSync(join(directory, 'rows', 'a.ndjson.zst'), fileBytes(ROWS.slice(0, 50), 'ndjson', 'zstd'))
  writeFileSync(join(directory, 'rows', 'b.parquet'), fileBytes(ROWS.slice(50), 'parquet', null))
  const dataDir = dataFolder()
  const { code, stderr } = await importing(dataDir, join(directory, 'rows'))
  t.equal(code, 0, stderr)
  t.strictSame(await archived(dataDir), whole)
})

t.test('an import that is killed at any point and continued stores the same rows', async (t) => {
  const directory = t.testdir({ facts: {} })
  // Blocks of one hour are written together.
  const rows = ROWS.map((row, at) => ({
    ...row,
    block_time: Number(row['block_time']) + 3_600 * Math.floor(at / 20)
  }))
  const middle = fileOf(t, 'middle.csv', rows.slice(30, 60))
  const rest = fileOf(t, 'rest.csv', [...rows.slice(0, 30), ...rows.slice(60)])
  const atOnce = dataFolder()
  t.equal((await importing(atOnce, fileOf(t, 'all.csv', rows))).code, 0)
  // The second import comes before the first one's end, so it is folded in a second store.
  const dataDir = dataFolder()
  t.equal((await importing(dataDir, middle)).code, 0)
  const ofFacts = Array.from({ length: IS_LONG ? 18 : 6 }, () => ['facts', 1])
  const points = [...ofFacts, ['blocks', 1], ['blocks', 2]] as const
  for (const [at, [point, number]] of points.entries()) {
    const folder = join(directory, 'facts', String(at))
    // The runner's own settings would be unknown to the command.
    const child = spawn(
      process.execPath,
      [
        join(import.meta.dirname, '..', 'import-child.ts'),
        ...[point as string, String(number), folder, 'archive', 'import', rest, '--data-dir', dataDir]
      ],
      { env: {} }
    )
    const said: Buffer[] = []
    child.stderr.on('data', (text: Buffer) => said.push(text))
    const [exit, signal] = (await once(child, 'close')) as [number | null, string | null]
    t.equal(signal, 'SIGKILL', `exit ${exit}: ${Buffer.concat(said).toString('utf8')}`)
  }
  const { code, stderr } = await importing(dataDir, rest)
  t.equal(code, 0, stderr)
  t.match(stderr, 'an interrupted import of these paths has read them: the fold continues')
  t.strictSame(await archived(dataDir), await archived(atOnce))
})

t.test(
  'rows at or after the first indexed slot are left out, and a border within a minute too',
  async (t) => {
    const directory = t.testdir({ blocks: {} })
    const live = FIRST_SLOT + 41
    const block = { blockhash: '1', parentSlot: live - 1, blockTime: 1_710_000_020, transactions: [] }
    writeFileSync(join(directory, 'blocks', `${live}.json`), JSON.stringify({ slot: live, block }))
    const dataDir = dataFolder()
    const { openStore } = await import('../../../src/store/opening.ts')
    const { loneIngester } = await import('../../actors/ingest/lone-ingester.ts')
    const store = await openStore(configIn(dataDir))
    const ingester = await loneIngester(store)
    const empty = { slot: live, blockTime: 1_710_000_020, parentSlot: live - 1, transactions: [], votes: 0 }
    await ingester.ingest({ block: empty, commitment: 'finalized', receivedAtMs: 0 })
    await store.close()
    const { code, lines } = await importing(dataDir, fileOf(t, 'rows.csv', ROWS))
    t.equal(code, 0)
    t.ok(
      lines.includes('38 rows are left out, because the index has their slots or will have them'),
      lines.join('\n')
    )
    t.match(lines.at(-1), new RegExp(`^the archive has slots ${FIRST_SLOT} to ${live - 1},`))
  }
)

t.test('a file that overlaps the index by 1,000 trades gives the rows before it alone', async (t) => {
  t.testdir()
  const rows = tradeRows(1_200)
  const { openStore } = await import('../../../src/store/opening.ts')
  const { loneIngester } = await import('../../actors/ingest/lone-ingester.ts')
  const [dataDir, before] = [dataFolder(), dataFolder()]
  const store = await openStore(configIn(dataDir))
  const live = { slot: FIRST_SLOT + 100, blockTime: FIRST_TIME + 50, parentSlot: FIRST_SLOT + 99 }
  const ingester = await loneIngester(store)
  const block = { ...live, transactions: [], votes: 0 }
  await ingester.ingest({ block, commitment: 'finalized', receivedAtMs: 0 })
  await store.close()
  const { code, lines } = await importing(dataDir, fileOf(t, 'overlapping.csv', rows))
  t.equal(code, 0)
  t.ok(lines.some((line) => line.startsWith('1000 rows are left out, because the index has their slots')))
  await importing(before, fileOf(t, 'before.csv', rows.slice(0, 200)))
  t.strictSame(await archived(dataDir), await archived(before))
})

t.test('refused rows are counted, and all are in a file beside the archive', async (t) => {
  const directory = t.testdir()
  const bad: SampleRow[] = [
    { ...ROWS[1]!, price: '0' },
    { ...ROWS[2]!, in_amount_raw: '-1' },
    { ...ROWS[3]!, venue: 'uniswap' },
    { ...ROWS[4]!, mint: WSOL, decimals: 7 },
    { ...ROWS[5]!, block_time: 4_000_000_000 }
  ]
  const rows = [ROWS[0]!, ROWS[6]!, ...bad].map((row) => ({ price: null, ...row }))
  const path = join(directory, 'bad.csv.gz')
  const packed = gzipSync(csvText(rows))
  writeFileSync(path, packed.subarray(0, packed.length - 8))
  const dataDir = dataFolder()
  const { code, lines } = await importing(dataDir, path)
  t.equal(code, 1)
  t.match(lines[0], /^7 rows in 1 files: 2 accepted, 6 refusals$/)
  const [name] = readdirSync(join(dataDir, 'archive')).filter((name) => name.startsWith('refused-'))
  const file = join(dataDir, 'archive', name!)
  t.ok(lines.includes(`refused rows are listed in ${file}`), lines.join('\n'))
  const listed = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  t.match(listed, [
    { file: path, line: 4, reason: 'bad-price' },
    { line: 5, reason: 'negative-amount' },
    { line: 6, reason: 'unknown-venue' },
    { line: 7, reason: 'decimals-contradict' },
    { line: 8, reason: 'time-in-future' },
    { line: null, reason: 'truncated-file' }
  ])
  t.match(lines.at(-1), /^the archive has slots/, 'the other rows are imported')
})

t.test('rows that lack something are held back until another file supplies it', async (t) => {
  t.testdir()
  const lacking = ROWS.map(({ decimals: _, mint: __, ...row }) => row)
  const dataDir = dataFolder()
  const held = await importing(dataDir, fileOf(t, 'lacking.csv', lacking))
  t.match([held.code, held.lines.join('\n')], [1, 'held back, unknown-decimals: 96 rows'])
  const { code } = await importing(dataDir, fileOf(t, 'one.csv', ROWS.slice(1, 2)))
  t.equal(code, 0)
  t.strictSame(await archived(dataDir), whole)
})

t.test(
  'a file of slots alone is held back as a whole, and the report says what supplies the times',
  async (t) => {
    t.testdir()
    const dataDir = dataFolder()
    const untimed = fileOf(
      t,
      'untimed.csv',
      ROWS.slice(20, 40).map(({ block_time: _, ...row }) => row)
    )
    const held = await importing(dataDir, untimed)
    t.equal(held.code, 1)
    t.match(held.lines.join('\n'), /^held back, unknown-time: 20 rows; .*`archive backfill`$/m)
    // The slots around them have times, from which nothing is computed.
    const around = fileOf(t, 'around.csv', [...ROWS.slice(0, 20), ...ROWS.slice(40)])
    const [both, apart] = [await importing(dataDir, around), dataFolder()]
    t.match(both.lines.join('\n'), 'held back, unknown-time: 20 rows')
    await importing(apart, around)
    t.strictSame(await archived(dataDir), await archived(apart))
    const { code } = await importing(dataDir, fileOf(t, 'times.csv', ROWS.slice(20, 40)))
    t.equal(code, 0)
    t.strictSame(await archived(dataDir), whole)
  }
)

t.test('decimals that contradict one another are named, and count in every order of the files', async (t) => {
  t.testdir()
  const files = [
    fileOf(t, 'six.csv', ROWS.slice(1, 5)),
    fileOf(
      t,
      'seven.csv',
      ROWS.slice(6, 8).map((row) => ({ ...row, decimals: 7 }))
    )
  ]
  const stores: unknown[] = []
  for (const order of [files, files.toReversed()]) {
    const dataDir = dataFolder()
    for (const path of order) await importing(dataDir, path)
    stores.push(await archived(dataDir))
    const { code, lines } = await importing(dataDir, ...order)
    t.equal(code, 1)
    t.ok(lines.includes('rows state different decimals: 1 mints'), lines.join('\n'))
    t.ok(lines.includes(`  ${PUMP_MINT}: 6 and 7`))
    t.ok(lines.some((line) => line.startsWith('held back, decimals-contradict: 2 rows; ')))
  }
  t.strictSame(stores[0], stores[1])
  const dry = await runCommand(['archive', 'import', ...files, '--dry-run', '--json'])
  t.equal(dry.code, 1)
  t.match(dry.rows(), [
    { refused: 0, contradicted_mints: { count: 1, first: [{ mint: PUMP_MINT, decimals: [6, 7] }] } }
  ])
})

t.test('rows without a slot come from NDJSON, and are served with the place of their time', async (t) => {
  const directory = t.testdir()
  const path = join(directory, 'timed.ndjson')
  writeFileSync(path, ndjsonText(ROWS.slice(0, 20).map(({ slot: _, ...row }) => row)))
  const dataDir = dataFolder()
  const { code, lines, stderr } = await importing(dataDir, path, fileOf(t, 'slots.csv', ROWS.slice(10, 30)))
  t.equal(code, 0, stderr)
  t.ok(lines.includes('10 rows repeat others'), lines.join('\n'))
  const archive = (await openArchiveToRead(configIn(dataDir)))!
  t.teardown(() => archive.close())
  t.match(await archive.totals.get(), { trades: 30 })
})

t.test('a report as JSON, and a dry run that changes nothing', async (t) => {
  t.testdir()
  const path = fileOf(t, 'rows.csv', ROWS)
  const dataDir = dataFolder()
  const dry = await runCommand(['archive', 'import', path, '--dry-run', '--data-dir', dataDir])
  t.match(dry.lines[0], '120 rows in 1 files: 120 would be accepted')
  t.notOk(existsSync(dataDir))
  const { rows } = await importing(dataDir, path, '--json')
  t.match(rows(), [{ rows: { accepted: 120 }, fold: { trades_of_files: 120 }, first_slot: FIRST_SLOT }])
})

t.test('a store that is older than the facts, as from a backup, is folded again', async (t) => {
  t.testdir()
  const dataDir = dataFolder()
  await importing(dataDir, fileOf(t, 'late.csv', ROWS.slice(60)))
  const store = storeDirectory(archiveConfigOf(configIn(dataDir)))
  cpSync(store, join(t.testdirName, 'store'), { recursive: true })
  await importing(dataDir, fileOf(t, 'early.csv', ROWS.slice(0, 60)))
  rmSync(store, { recursive: true })
  cpSync(join(t.testdirName, 'store'), store, { recursive: true })
  const { lines } = await importing(dataDir, fileOf(t, 'early.csv', ROWS.slice(0, 60)))
  t.match(lines.join('\n'), 'folded again')
  t.strictSame(await archived(dataDir), whole)
})
