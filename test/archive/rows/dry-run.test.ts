import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runCommand } from '../../cli/run-command.ts'
import { csvText, ndjsonText, ownRow, PUMP_MINT, type SampleRow } from './sample-rows.ts'

const ROWS = [0, 1, 2].map((number) => ownRow(number))
const BAD = [0, 1, 2, 3, 4, 5].map((number) => ownRow(number, { in_amount_raw: '0' }))

/** A row whose mints have known decimals. */
const OWN = ownRow(0, { mint: PUMP_MINT, decimals: 6 })

/** A line that `getBlock` results have. */
const BLOCK = '{"slot":1,"block":{"blockhash":"x","transactions":[]}}\n'

t.test('a dry run prints what would be accepted and why rows are refused, and changes nothing', async (t) => {
  const directory = t.testdir({
    rows: {
      'a.csv': csvText(ROWS),
      'b.ndjson': ndjsonText([...ROWS, ...BAD]),
      'c.ndjson': BLOCK,
      'notes.txt': ''
    }
  })
  const dataDir = join(directory, 'data')
  const rows = join(directory, 'rows')
  const { code, lines, stderr } = await runCommand([
    'archive',
    'import',
    rows,
    '--dry-run',
    '--data-dir',
    dataDir
  ])
  t.equal(code, 1)
  t.equal(stderr, '')
  t.same(lines, [
    '12 rows in 2 files: 6 would be accepted, 6 refusals',
    '2 files have the columns of millrace',
    '2 files without trade rows are left out',
    'slots 254170887 to 254170889',
    'times 2024-03-09T16:00:00Z to 2024-03-09T16:00:02Z',
    '2 mints',
    'pumpfun: 6 trades',
    'refused, zero-amount: 6',
    ...[4, 5, 6, 7, 8].map((line) => `  ${join(rows, 'b.ndjson')}, line ${line}: an amount is 0`),
    '  and 1 more'
  ])
  t.notOk(existsSync(dataDir), 'no data folder is made')
  t.same(readdirSync(rows), ['a.csv', 'b.ndjson', 'c.ndjson', 'notes.txt'])
})

t.test('a dry run without refusals exits with 0, and prints JSON', async (t) => {
  const path = join(t.testdir({ 'a.csv': csvText(ROWS) }), 'a.csv')
  const { code, rows } = await runCommand(['archive', 'import', path, path, '--dry-run', '--json'])
  t.equal(code, 0)
  t.same(rows(), [
    {
      files: 2,
      files_left_out: 0,
      rows: 6,
      accepted: 6,
      refused: 0,
      without_slot: 0,
      slots: { from: 254_170_887, to: 254_170_889 },
      times: { from: '2024-03-09T16:00:00Z', to: '2024-03-09T16:00:02Z' },
      mints: 2,
      contradicted_mints: { count: 0, first: [] },
      venues: { pumpfun: 6 },
      mappings: { millrace: 2 },
      refusals: []
    }
  ])
})

t.test('--map names the columns, and --venue the venue', async (t) => {
  const row: SampleRow = { ...ROWS[0], program: null, venue: null }
  const { signature: tx = null, ...rest } = row
  const columns = Object.fromEntries(Object.keys(rest).map((name) => [name, name]))
  const directory = t.testdir({
    'a.csv': csvText([{ ...rest, tx }]),
    'map.json': JSON.stringify({ ...columns, tx: 'signature' }),
    'broken.json': '{"tx":"what"}'
  })
  const run = (...words: readonly string[]) =>
    runCommand(['archive', 'import', join(directory, 'a.csv'), '--dry-run', ...words])
  const map = ['--map', join(directory, 'map.json')]
  t.match(await run(), {
    code: 1,
    lines: [/^0 rows in 1 files/, 'refused, no-mapping: 1', /millrace fits best/]
  })
  t.match(await run(...map), {
    code: 1,
    lines: [/./, /./, 'refused, missing-field: 1', /neither a venue nor a program/]
  })
  const { code, lines } = await run(...map, '--venue', 'phoenix')
  t.equal(code, 0)
  t.ok(lines.includes('phoenix: 1 trades'))
  t.match(await run(...map, '--venue', 'uniswap'), {
    code: 2,
    stderr: /there is no venue "uniswap"; the venues are /
  })
  t.match(await run('--map', join(directory, 'broken.json')), {
    code: 1,
    stderr: /column "tx" names no field/
  })
})

t.test('a folder with blocks and rows is imported at once, and its other files are named', async (t) => {
  const directory = t.testdir({ mixed: { 'a.csv': csvText([OWN]), 'b.ndjson': BLOCK, 'notes.txt': '' } })
  const dataDir = join(directory, 'data')
  const { code, lines, stderr } = await runCommand([
    ...['archive', 'import', join(directory, 'mixed'), '--data-dir', dataDir]
  ])
  t.equal(code, 1)
  t.match(stderr, /b\.ndjson, line 1 is left out \(no-block-time\)/)
  t.ok(lines.includes('1 rows in 1 files: 1 accepted, 0 refusals'), lines.join('\n'))
})

t.test('a dry run of blocks alone, and of nothing, says what it takes', async (t) => {
  const directory = t.testdir({ 'b.json': BLOCK })
  t.match(await runCommand(['archive', 'import', directory, '--dry-run']), {
    code: 1,
    lines: [],
    stderr: /no trade rows in .*; --dry-run takes trade rows only/
  })
  t.match(await runCommand(['archive', 'import', join(directory, 'none.csv'), '--dry-run']), {
    code: 1,
    lines: [
      /^0 rows in 0 files: 0 would be accepted, 1 refusals$/,
      'refused, unreadable-file: 1',
      /none\.csv: ENOENT/
    ]
  })
  t.match(await runCommand(['archive', 'import', '--dry-run']), { code: 2, stderr: /PATH… is missing/ })
})

t.test('an interrupted dry run reports the rows before, and exits with 1', async (t) => {
  const path = join(t.testdir({ 'a.csv': csvText(ROWS) }), 'a.csv')
  const interrupt = new AbortController()
  interrupt.abort()
  t.match(await runCommand(['archive', 'import', path, '--dry-run'], {}, interrupt.signal), {
    code: 1,
    stderr: /interrupted; the report covers the rows before/
  })
})
