import { readFileSync } from 'node:fs'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import t from 'tap'
import {
  afterCursor,
  afterPairCandle,
  afterTokenCursor,
  exportedRows,
  fromNextSecond,
  type Continuation
} from '../../src/data/commands/exported-rows.ts'
import { systemPorts } from '../../src/ports.ts'
import { NOON } from '../market/world.ts'
import { exportWorld, MINT, POOL_TEXT, RANGE, WALLET } from './export-world.ts'
import { runCommand } from './run-command.ts'

const TRADES = `/v1/tokens/${MINT}/trades`

t.test('trades are written as CSV, NDJSON and Parquet, and an import accepts each of them', async (t) => {
  const { app, run, file, rows } = await exportWorld(t)
  const expected = await rows(TRADES)
  t.equal(expected.length, 40)
  for (const format of ['csv', 'ndjson', 'parquet']) {
    const path = file(`trades.${format}`)
    const said = await run(['trades', '--mint', MINT, ...RANGE, '-o', path])
    t.match({ code: said.code, lines: said.lines }, { code: 0, lines: [] }, said.stderr)
    t.match(said.stderr, /^40 rows in /)
    const read = await runCommand(['archive', 'import', path, '--dry-run', '--json'])
    t.equal(read.code, 0, read.stderr + read.lines.join('\n'))
    t.match(read.rows(), [{ accepted: 40, refused: 0 }], format)
  }
  const { text } = await app.get(`${TRADES}?from=${NOON - 1_000}&to=${NOON + 100_000}&order=asc&format=csv`)
  t.equal(readFileSync(file('trades.csv'), 'utf8'), text, 'the CSV of the API')
  const lines = readFileSync(file('trades.ndjson'), 'utf8').split('\n').slice(0, -1)
  t.strictSame(
    lines.map((line) => JSON.parse(line) as unknown),
    expected
  )
  const buffer = await asyncBufferFromFile(file('trades.parquet'))
  const found = await parquetReadObjects({ file: buffer })
  const cell = (value: unknown): unknown => {
    if (typeof value === 'bigint') return Number(value)
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null)
  }
  for (const [at, row] of expected.entries())
    for (const [name, value] of Object.entries(found[at]!)) t.equal(cell(value), cell(row[name]), name)
  t.equal(found.length, 40)
  t.equal(typeof found[0]!['ts_ms'], 'bigint', 'a whole number has 64 bits')
  t.equal(found[0]!['token_amount_raw'], String(2n ** 62n), 'an amount in base units is text')
  const { created_by } = await parquetMetadataAsync(buffer)
  t.match(created_by, /^millrace version /)
})

t.test('candles, launches, and trades of pools and wallets are written as the API lists them', async (t) => {
  const { run, file, rows, app } = await exportWorld(t)
  for (const [args, path] of [
    [['trades', '--pool', POOL_TEXT, '--side', 'sell'], `/v1/pools/${POOL_TEXT}/trades?side=sell`],
    [['trades', '--wallet', WALLET, '--venue', 'pumpswap'], `/v1/wallets/${WALLET}/trades?venue=pumpswap`],
    [['launches', '--status', 'trading'], '/v1/launches?status=trading']
  ] as const) {
    const name = file(`${args.join('')}.ndjson`)
    t.equal((await run([...args, ...RANGE, '-o', name])).code, 0)
    const expected = await rows(path)
    t.ok(expected.length > 0, path)
    t.equal(readFileSync(name, 'utf8'), expected.map((row) => `${JSON.stringify(row)}\n`).join(''), path)
  }
  for (const source of [`--mint ${MINT}`, `--pool ${POOL_TEXT}`]) {
    const name = file(`candles${source.slice(0, 6)}.ndjson`)
    const said = await run(['candles', ...source.split(' '), '--interval', '5m', ...RANGE, '-o', name])
    t.equal(said.code, 0, said.stderr)
    const path = source.startsWith('--mint') ? `tokens/${MINT}` : `pools/${POOL_TEXT}`
    const { data } = (await app.get(`/v1/${path}/candles?interval=5m&to=${NOON + 100_000}`)).body
    t.ok(data.length >= 2)
    t.equal(readFileSync(name, 'utf8'), data.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
  const empty = file('empty.parquet')
  t.equal((await run(['ledger', ...RANGE, '-o', empty])).code, 0)
  t.strictSame(await parquetReadObjects({ file: await asyncBufferFromFile(empty) }), [])
  const none = file('none.csv')
  t.equal((await run(['trades', '--mint', WALLET, ...RANGE, '-o', none])).code, 0)
  t.equal(readFileSync(none, 'utf8').split('\r\n').length, 2, 'the header line alone')
})

t.test('trades and candles of all tokens are written without naming one', async (t) => {
  const { app, run, file } = await exportWorld(t)
  const range = `from=${NOON - 1_000}&to=${NOON + 100_000}&limit=1000`
  for (const [args, path, count] of [
    [['trades'], `/v1/trades?${range}`, 40],
    [['trades', '--venue', 'pumpswap', '--side', 'sell'], `/v1/trades?${range}&venue=pumpswap&side=sell`, 10],
    [['candles', '--interval', '5m'], `/v1/candles?${range}&interval=5m`, null]
  ] as const) {
    const name = file(`${args.join('')}.ndjson`)
    const said = await run([...args, ...RANGE, '-o', name])
    t.equal(said.code, 0, said.stderr)
    const { data } = (await app.get(path)).body
    t.ok(data.length > 1)
    if (count !== null) t.equal(data.length, count)
    t.equal(readFileSync(name, 'utf8'), data.map((row) => `${JSON.stringify(row)}\n`).join(''), path)
  }
  const limited = await app.makeKey(['data:read'], { exportRowsPerDay: 25 })
  const [first, rest] = [file('first.ndjson'), file('rest.ndjson')]
  const stopped = await run(['trades', ...RANGE, '-o', first], limited)
  t.equal(stopped.code, 1)
  const [, after = ''] = /continue with --after (\S+)/.exec(stopped.stderr) ?? []
  t.match(after, /^\w+:\d+$/, stopped.stderr)
  t.equal((await run(['trades', '--after', after, ...RANGE, '-o', rest])).code, 0)
  const { data } = (await app.get(`/v1/trades?${range}`)).body
  const lines = [`${first}.part`, rest].map((path) => readFileSync(path, 'utf8')).join('')
  t.equal(lines, data.map((row) => `${JSON.stringify(row)}\n`).join(''), 'nothing is lost or repeated')
})

t.test('a used up quota leaves the rows so far, and a second export has the others', async (t) => {
  const { app, run, file, rows } = await exportWorld(t)
  const expected = await rows(TRADES)
  for (const format of ['ndjson', 'parquet']) {
    const limited = await app.makeKey(['data:read'], { exportRowsPerDay: 30 })
    const [first, rest] = [file(`first.${format}`), file(`rest.${format}`)]
    const args = ['trades', '--mint', MINT, ...RANGE]
    const stopped = await run([...args, '-o', first], limited)
    t.equal(stopped.code, 1)
    const { cursor } = expected[29]!
    t.match(stopped.stderr, `${first}.part has the 30 rows so far: continue with --after ${cursor}`)
    t.match(stopped.stderr, /may export 30 rows a day/)
    t.throws(() => readFileSync(first), 'no file has the name')
    t.equal((await run([...args, '--after', String(cursor), '-o', rest])).code, 0)
    const cursors = async (path: string): Promise<unknown[]> =>
      format === 'ndjson'
        ? readFileSync(path, 'utf8')
            .split('\n')
            .slice(0, -1)
            .map((line) => (JSON.parse(line) as { cursor: number }).cursor)
        : (await parquetReadObjects({ file: await asyncBufferFromFile(path) })).map((row) =>
            Number(row['cursor'])
          )
    t.strictSame(
      [...(await cursors(`${first}.part`)), ...(await cursors(rest))],
      expected.map((row) => row.cursor),
      'nothing is lost or repeated'
    )
  }
})

t.test('a year by a key that may not export is refused in one line, and leaves no file', async (t) => {
  const { app, run, file } = await exportWorld(t)
  const key = await app.makeKey(['data:read'], { exportRowsPerDay: 0 })
  const year = ['--from', '2026-01-01', '--to', '2027-01-01']
  for (const list of [['trades'], ['trades', '--mint', MINT], ['candles'], ['launches']]) {
    const path = file('year.csv')
    const said = await run([...list, ...year, '-o', path], key)
    t.equal(said.code, 1, list.join(' '))
    t.match(said.stderr, /^millrace: [^\n]*export[^\n]*$/m)
    for (const name of [path, `${path}.part`]) t.throws(() => readFileSync(name))
  }
})

t.test('an export continues after the last whole row when answers break off', async (t) => {
  const { app, rows } = await exportWorld(t)
  const expected = await rows(TRADES)
  const hour = `/v1/tokens/${MINT}/candles`
  let answers = 0
  // Each answer breaks off after a few rows, within a row.
  const proxy = createServer((asked, reply) => {
    answers++
    const { url, headers } = asked
    request({ port: app.port, host: '127.0.0.1', path: url, headers }, (response: IncomingMessage) => {
      if (answers % 3 === 0) {
        response.destroy()
        return void reply.writeHead(503, { 'content-type': 'application/json' }).end('{"detail":"later"}')
      }
      reply.writeHead(response.statusCode!, { 'content-type': 'application/x-ndjson' })
      let left = 9_000
      response.on('data', (chunk: Buffer) => {
        reply.write(chunk.subarray(0, left), () => {
          if (left <= 0) reply.destroy()
        })
        left -= chunk.length
      })
      response.on('end', () => left > 0 && reply.end())
    }).end()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  const access = { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, key: app.key }
  const pauses: number[] = []
  const read = async (
    path: string,
    query: Record<string, string>,
    continuation: Continuation
  ): Promise<unknown[]> => {
    const found: unknown[] = []
    const clock = { ...systemPorts.clock, setTimeout: (run: () => void) => setTimeout(run, 0) }
    const retrying = (_: string, ms: number): void => void pauses.push(ms)
    const range = { ...query, from: String(NOON - 1_000), to: String(NOON + 100_000) }
    const signal = new AbortController().signal
    for await (const { body } of exportedRows({
      access,
      path,
      query: range,
      continuation,
      signal,
      clock,
      retrying
    }))
      found.push(body)
    return found
  }
  t.strictSame(await read(TRADES, { order: 'asc' }, afterCursor), expected)
  t.ok(answers > 3 && pauses.length > 3, `${answers} answers`)
  const { data } = (
    await app.app.inject({
      url: `${hour}?limit=1000&fill=previous&from=${NOON - 1_000}&to=${NOON + 100_000}`,
      headers: { 'x-api-key': app.key }
    })
  ).json<{ data: unknown[] }>()
  t.ok(data.length > 60)
  t.strictSame(await read(hour, { fill: 'previous' }, fromNextSecond), data)
  const all = `from=${NOON - 1_000}&to=${NOON + 100_000}&limit=1000`
  const trades = await app.get(`/v1/trades?${all}`)
  t.equal(trades.body.data.length, 40)
  t.strictSame(await read('/v1/trades', {}, afterTokenCursor), trades.body.data)
  const ofPairs = await app.get(`/v1/candles?${all}`)
  t.ok(ofPairs.body.data.length > 2)
  t.strictSame(await read('/v1/candles', {}, afterPairCandle), ofPairs.body.data)
})

t.test('bad usage of an export is refused with 2, and a service that does not answer with 1', async (t) => {
  const { run, file } = await exportWorld(t)
  const out = ['-o', file('x.csv')]
  for (const [args, message] of [
    [['candles', '--cash', MINT, ...RANGE, ...out], /--cash is for the candles of a token/],
    [
      ['candles', '--mint', MINT, '--after', 'x', ...RANGE, ...out],
      /--after is for the candles of all tokens/
    ],
    [['trades', '--after', 'x', ...RANGE, ...out], /after is not a cursor of this list/],
    [['trades', '--mint', MINT, '--pool', POOL_TEXT, ...RANGE, ...out], /give one of/],
    [['trades', '--mint', MINT, ...out], /--from and --to/],
    [['trades', '--mint', MINT, ...RANGE], /name the file with -o/],
    [
      ['trades', '--mint', MINT, ...RANGE, '--format', 'xlsx', ...out],
      /--format must be csv, ndjson, parquet/
    ],
    [['trades', '--mint', 'x', ...RANGE, ...out], /mint must be a base58 address/],
    [['trades', '--mint', MINT, ...RANGE, '--venue', 'none', ...out], /venue must be one of/],
    [['trades', '--mint', MINT, '--from', '5', '--to', '4', ...out], /from must be before to/],
    [['trades', '--mint', MINT, ...RANGE, '-o', file('no/such/x.csv')], /cannot be written/],
    [['candles', '--pool', POOL_TEXT, '--cash', MINT, ...RANGE, ...out], /--cash/]
  ] as const) {
    const said = await run(args)
    t.equal(said.code, 2, args.join(' '))
    t.match(said.stderr, message)
    t.throws(() => readFileSync(file('x.csv')))
  }
  const there = file('there.csv')
  t.equal((await run(['launches', ...RANGE, '-o', there])).code, 0)
  t.match(await run(['launches', ...RANGE, '-o', there]), { code: 2, stderr: /there.csv exists/ })
  t.match(await run(['launches', ...RANGE, ...out], 'no-key'), { code: 1, stderr: /API key/ })
})
