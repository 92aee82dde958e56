import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { fixturesDirectory, testWithFixtures } from '../fixtures.ts'
import { linesWith, OVERSTAYED } from './asking.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { spawnMillrace, startProcess } from './service-process.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const DONE = /the source has no more blocks/

/** Runs a command to its end. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') {
  const child = spawnMillrace(args, environment)
  child.stdin!.end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>
  ])
  return { stdout, stderr, code }
}

testWithFixtures(
  t,
  'the service on recorded blocks answers every endpoint, drains on SIGTERM and goes on',
  async (t) => {
    const flags = { dataDir: t.testdir(), recordedDir: fixturesDirectory() }
    const first = await startProcess(flags)
    await first.said(DONE)

    const health = await first.get('/v1/health', null)
    t.equal(health.status, 503, 'recorded data is older than 120 s')
    t.match(health.body, { status: 'degraded', slot: 448828792, block_time: 1789933239 })
    t.ok(Number(health.body.data_freshness_seconds) > 120)
    t.match(health.headers.get('x-data-freshness-seconds'), /^\d+$/)
    t.ok(health.headers.get('x-request-id'))

    const trades = await first.get(`/v1/tokens/${WSOL}/trades?limit=1`)
    t.equal(trades.status, 200)
    t.equal(trades.body.tenant, 'operator')
    const trade = trades.body.data[0]!
    t.match(trade, {
      venue: 'raydium-amm-v4',
      event: 'buy',
      is_buy: 1,
      mint: WSOL,
      cash_mint: USDC,
      cash_symbol: 'USDC',
      cash_amount_raw: '125857872',
      token_amount_raw: '1134864510',
      cash_amount: 125.857872,
      decimals: 9,
      amount_usd: 125.857872,
      ts: '2026-09-20 19:40:39',
      commitment: 'finalized',
      failed: false
    })
    t.equal(trade.price, 125857872000 / 1134864510)

    const price = await first.get(`/v1/tokens/${WSOL}/price`)
    t.match(price.body, {
      mint: WSOL,
      price: trade.price,
      price_usd: trade.price,
      slot: trade.slot,
      market_cap_usd: null
    })

    const candles = await first.get(`/v1/tokens/${WSOL}/candles?cash=${USDC}&interval=1w&limit=2`)
    t.equal(candles.body.data.length, 2)
    t.equal(candles.body.data[1]?.ts, '2026-09-14 00:00:00', 'a week starts on Monday')
    t.equal(candles.body.data[1]?.closed, false)

    const launches = await first.get('/v1/launches?limit=500')
    t.ok(launches.body.data.length >= 5)
    for (const launch of launches.body.data)
      t.match(launch.ingested_at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
    const statuses = new Set(launches.body.data.map((launch) => launch.status))
    for (const status of statuses) {
      const some = await first.get(`/v1/launches?limit=500&status=${String(status)}`)
      t.same(
        some.body.data,
        launches.body.data.filter((launch) => launch.status === status),
        `status=${String(status)} filters the same list`
      )
    }

    const trending = await first.get('/v1/trending?limit=100')
    t.ok(trending.body.data.length > 0)
    const stats = await first.get('/v1/stats')

    const tree = await first.get('/v1/admin/tree')
    t.match(
      tree.body.children.map((child) => child.name),
      [
        'storage',
        'fleet',
        'watches',
        'chain',
        'archive',
        'views',
        'channels',
        'stream',
        'receivers',
        'deliveries',
        'revenue',
        'rpc',
        'edge'
      ]
    )
    const decoding = await first.get('/v1/admin/decoding')
    t.ok((decoding.body.venues['raydium-amm-v4']?.events.trade ?? 0) > 50)
    const metrics = await first.get('/metrics', null)
    t.match(metrics.body.text, /millrace_events\{venue="pumpfun",kind="trade"\} \d+/)

    t.same(await first.end('SIGTERM'), { code: 0, signal: null })
    t.equal(linesWith(first, OVERSTAYED), 0, 'the drain ends within its deadline')

    const second = await startProcess(flags)
    await second.said(/ingest resumes after slot 448828792/)
    t.same((await second.get(`/v1/tokens/${WSOL}/trades?limit=1`)).body.data, [trade])
    t.same((await second.get('/v1/launches?limit=500')).body, launches.body)
    t.same((await second.get('/v1/trending?limit=100')).body, trending.body, 'windows survive a restart')
    t.same((await second.get('/v1/stats')).body, stats.body)
    t.notMatch([...first.stderr, ...second.stderr].join('\n'), /an-admin-key|mr_live_/, 'no key is logged')
    await second.end('SIGTERM')
  }
)

testWithFixtures(
  t,
  'a first start without a localnet prints an admin key once, and makes no demo tenant',
  async (t) => {
    const flags = {
      dataDir: t.testdir(),
      recordedDir: fixturesDirectory(),
      environment: { MILLRACE_ADMIN_KEY: '' }
    }
    const first = await startProcess(flags)
    await first.said(DONE)
    const keyOf = (name: string) =>
      first.stdout
        .find((line) => line.startsWith(name))!
        .split(/\s+/)
        .at(-1)!
    t.notMatch(first.stdout.join('\n'), /demo/)
    t.match(
      first.stdout.join('\n'),
      /npx millrace tenants create acme\n.*npx millrace keys create --tenant acme/
    )
    t.equal(statSync(flags.dataDir).mode & 0o777, 0o700)
    for (const entry of readdirSync(flags.dataDir, { recursive: true, withFileTypes: true }))
      t.equal(statSync(join(entry.parentPath, entry.name)).mode & 0o077, 0, entry.name)
    t.equal((await first.get('/v1/admin/tree', keyOf('admin key'))).status, 200)
    await first.end('SIGTERM')
    const second = await startProcess(flags)
    t.equal((await second.get('/v1/admin/tree', keyOf('admin key'))).status, 200)
    t.equal(second.stdout.length, 1, 'nothing but where it listens')
    await second.end('SIGTERM')
  }
)

t.test('a second signal ends at once', async (t) => {
  const service = await startProcess({
    dataDir: t.testdir({ store: {}, blocks: {} }),
    recordedDir: join(t.testdirName, 'blocks')
  })
  // A request that never ends delays the drain.
  const { port } = new URL(service.url)
  const { connect } = await import('node:net')
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    'POST /v1/launches HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n'
  )
  socket.on('error', () => undefined)
  service.child.kill('SIGTERM')
  await service.said(/draining/)
  t.match(await service.end('SIGTERM'), { code: 1 })
  socket.destroy()
})

t.test('a localnet and blocks of another chain are not mixed in one data folder', async (t) => {
  const filled = t.testdir({ recorded: {}, local: { localnet: {} }, blocks: {} })
  const store = await openEmbeddedStorage({ directory: join(filled, 'recorded', 'store') })
  await store.blocks.commit(emptyBlock(1))
  await store.close()
  const recorded = ['--source', 'recorded', '--recorded-dir', join(filled, 'blocks')]
  const cases: [args: string[], line: RegExp][] = [
    [['--data-dir', join(filled, 'recorded')], /recorded holds blocks of another chain/],
    [['--data-dir', join(filled, 'local'), ...recorded], /local holds a localnet/]
  ]
  for (const [args, line] of cases) {
    const { stderr, stdout, code } = await run(['serve', ...args])
    t.match([code, stdout, stderr], [2, '', line])
    t.equal(stderr.trim().split('\n').length, 1)
  }
})

t.test('a bad setting stops the start with a line that names it', async (t) => {
  const cases: [string[], Record<string, string>, RegExp][] = [
    [[], { MILLRACE_SOURCES: 'x' }, /MILLRACE_SOURCES is unknown \(did you mean MILLRACE_SOURCE\?\)/],
    [[], { MILLRACE_PORT: 'http' }, /MILLRACE_PORT="http" is not a whole number/],
    [['--recorded-speed', '0'], {}, /--recorded-speed="0" is not above 0/],
    [['--colour', 'red'], {}, /--colour is unknown/],
    [['--source', 'recorded'], {}, /MILLRACE_RECORDED_DIR is not set/],
    [['--source', 'recorded', '--recorded-dir', '/nowhere/at/all'], {}, /is not a folder/],
    [['--source', 'rpc'], {}, /MILLRACE_RPC_URL is not set/],
    [
      ['--tpu-identity', '/nowhere/id.json'],
      {},
      /MILLRACE_TPU_IDENTITY=\/nowhere\/id\.json cannot be read \(ENOENT\)/
    ],
    [['--source', 'yellowstone'], {}, /MILLRACE_YELLOWSTONE_URL is not set/]
  ]
  for (const [args, environment, line] of cases) {
    const { stderr, code } = await run(['serve', '--data-dir', t.testdir(), ...args], environment)
    t.equal(code, 2)
    t.match(stderr, line)
    t.equal(stderr.trim().split('\n').length, 1)
  }
})

t.test('config prints what is in effect with secrets masked', async (t) => {
  const environment = { MILLRACE_ADMIN_KEY: 'a-secret-of-the-operator', MILLRACE_PORT: '9000' }
  const { stdout, code } = await run(['config', '--venues', 'pumpfun,phoenix'], environment)
  t.equal(code, 0)
  t.match(JSON.parse(stdout), {
    MILLRACE_PORT: 9000,
    MILLRACE_VENUES: ['pumpfun', 'phoenix'],
    MILLRACE_ADMIN_KEY: '********'
  })
  t.notMatch(stdout, 'a-secret-of-the-operator')
})

t.test('an unknown command ends with 2, and help with 0', async (t) => {
  t.equal((await run(['serves'])).code, 2)
  t.match(await run(['help']), { code: 0, stdout: /usage: millrace COMMAND/ })
})

t.test('decode of what is no record says why on standard error and ends with 1', async (t) => {
  const directory = t.testdir({ 'broken.json': '{"slot": 1,', 'other.json': '{"a": 1}' })
  writeFileSync(
    join(directory, 'error.json'),
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"Slot skipped"}}'
  )
  for (const [file, reason] of [
    ['broken.json', /no JSON/],
    ['other.json', /neither a getTransaction nor a getBlock result/],
    ['error.json', /-32007: Slot skipped/],
    ['absent.json', /ENOENT/]
  ] as const) {
    const { stdout, stderr, code } = await run(['decode', join(directory, file)])
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(stderr, reason)
    t.match(stderr, file)
  }
  t.equal((await run(['decode', '--all'])).code, 2)
})

testWithFixtures(t, 'decode reads files and standard input and prints an event a line', async (t) => {
  const file = join(
    fixturesDirectory(),
    'tx/raydium-launchlab/4Q5xBVHJyponVkkLWmCEjoFKRntZBhY8J19YrrkZ4xUSAmTu2N1cZDHwMP6H1KXH7KbufAUQzXbdh2sXXJt1HQKX.json'
  )
  const { readFile } = await import('node:fs/promises')
  const fromFile = await run(['decode', file])
  const fromInput = await run(['decode', '-'], {}, await readFile(file, 'utf8'))
  t.equal(fromFile.code, 0)
  t.equal(fromFile.stdout, fromInput.stdout)
  const events = fromFile.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  t.same(
    new Set(events.map(({ kind, signature }) => `${String(kind)} ${String(signature).slice(0, 4)}`)),
    new Set(['trade 4Q5x'])
  )
  t.same(
    events.map(({ venue }) => venue),
    ['raydium-launchlab', 'orca-whirlpool', 'raydium-amm-v4']
  )
  const explained = await run(['decode', '--explain', file])
  t.match(
    explained.stdout,
    /"kind":"explain-call".*"venue":"raydium-launchlab".*"instruction":"sell_?[eE]xact/
  )
})
