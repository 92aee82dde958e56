import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from './asking.ts'
import { startBusyLocalnetProcess, startLocalnetProcess } from './localnet-process.ts'
import { ADMIN_KEY, runMillrace } from './service-process.ts'

const LAUNCHES = '/v1/launches?order=asc&limit=500'
/** Rows before the export begins. */
const ROWS = 5
const FLAGS = ['--rate-limit-per-minute', '100000', '--localnet-slot-ms', '50']
const TITLE =
  'a file is exported beside a service that commits blocks, and its rows stay counted after a kill'

t.test(TITLE, async (t) => {
  const directory = t.testdir({ data: {} })
  const dataDir = join(directory, 'data')
  let service = await startBusyLocalnetProcess(t, dataDir, FLAGS)
  const mint = await until(async () => {
    const { body } = await service.get(`${LAUNCHES}&fields=mint,cursor`)
    return body.data.length >= ROWS && (body.data[0]!['mint'] as string)
  }, 'there are enough launches')
  const run = (args: readonly string[]) =>
    runMillrace(['export', ...args, '--from', '0', '--to', '2999-01-01', '--url', service.url], {
      MILLRACE_KEY: ADMIN_KEY
    })
  const file = join(directory, 'launches.csv')
  const { code, stderr, stdout } = await run(['launches', '-o', file])
  t.equal(code, 0, stderr)
  t.equal(stdout, '')
  const lines = readFileSync(file, 'utf8').split('\r\n').slice(1, -1)
  t.ok(lines.length >= ROWS, `${lines.length} rows`)
  const { body } = await service.get(`${LAUNCHES}&fields=cursor`)
  t.strictSame(
    lines.map((line) => line.split(',', 1)[0]),
    body.data.slice(0, lines.length).map(({ cursor }) => String(cursor as number)),
    'nothing is lost or repeated'
  )
  const left = async () => (await service.get('/v1/me')).body['usage']
  t.match(await left(), { export_rows_remaining: 1_000_000 - lines.length })
  t.equal((await run(['launches', '-o', file])).code, 2, 'the file exists')
  await service.end('SIGKILL')
  const gone = await run(['trades', '--mint', 'x', '-o', join(directory, 'x.csv'), '--format', 'xlsx'])
  t.equal(gone.code, 2)
  service = await startLocalnetProcess(t, dataDir, FLAGS)
  t.match(await left(), { export_rows_remaining: 1_000_000 - lines.length }, 'after a kill')
  const trades = join(directory, 'trades.parquet')
  t.equal((await run(['trades', '--mint', mint, '-o', trades])).code, 0)
  const read = await runMillrace(['archive', 'import', trades, '--dry-run', '--json'])
  t.match(JSON.parse(read.stdout), { refused: 0, mappings: { millrace: 1 } })
  const everything = join(directory, 'everything.csv')
  const all = await run(['trades', '-o', everything])
  t.equal(all.code, 0, all.stderr)
  const [rows = ''] = /^\d+(?= rows in )/m.exec(all.stderr) ?? []
  const accepted = await runMillrace(['archive', 'import', everything, '--dry-run', '--json'])
  t.match(JSON.parse(accepted.stdout), { rows: Number(rows), accepted: Number(rows), refused: 0 })
  t.ok(Number(rows) > 0, `${rows} trades`)
})
