/**
 * Measures uncached answers beside an API that a user would build instead: Fastify with `pg` on PostgreSQL, which holds the
 * rows of the requested tokens and wallets with indexes by address and cursor, all in memory. Each URL is requested once;
 * other URLs warm up both sides first. The service starts anew for each round. The floor is a bare route that sends the same bytes;
 * an empty page, which is one read and no row, shows what any answer costs that is not in memory.
 * CPU time is that of all processes of a side.
 * PG_BIN names the folder of PostgreSQL's programs.
 *
 *     PG_BIN=/usr/lib/postgresql/15/bin node loadtest/rest-postgres.ts DIRECTORY [trades] [--small] [--only=NAME,…] [--urls=N]
 */
import { createHash } from 'node:crypto'
import { rmSync, mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pubkeyToBase58, type Pubkey } from '../src/chain/pubkey.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { answersOf, startBareSide } from './bare-side.ts'
import { measure, type Measurement } from './closed-loop.ts'
import { ensureMarketStore } from './market-store.ts'
import { SyntheticMarket } from './market/blocks.ts'
import { marketOf } from './market/population.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { candlesOf, pricesOf, tradesOf, walletTradesOf } from './postgres/copied-rows.ts'
import { startPostgres } from './postgres/server.ts'
import { fillTables } from './postgres/tables.ts'
import { readResult, writeResult } from './result.ts'
import { CONNECTIONS } from './rounds.ts'
import { ranked, serveMarket } from './served-market.ts'
import { HEADERS } from './service-process.ts'
import { workingCopy } from './working-copy.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'boolean' },
    only: { type: 'string' },
    urls: { type: 'string' },
    rounds: { type: 'string' }
  }
})
const [directory, trades = values.small === true ? '100000' : '1000000'] = positionals
if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the store')
/** Tokens and wallets of a scenario, at most. At most half of them are measured; the others warm up. */
const urls = Number(values.urls ?? (values.small === true ? 400 : 1_600))
/**
 * Requests that warm up a side: before that, code is compiled. The service starts anew for each round, so that no record is in
 * its memory; the peer does not. So the service is warmed up until compilation ends, after some 7,000 requests.
 */
const WARM_UPS = 12_000
/**
 * Further requests by which a round warms up longer than the one before it: a collection of the whole heap, which comes after
 * some thousand requests, then falls into some rounds and not into all or none.
 */
const WARM_UPS_MORE = 150
const rounds = Number(values.rounds ?? (values.small === true ? 1 : 4))
/** Rows that a list must have. */
const PAGE = 100
const FIELDS = 'ts,event,price,amount_usd,trader'

const store = await ensureMarketStore(directory, marketOf(Number(trades)), (line) => console.error(line))
const { population } = new SyntheticMarket(store.size)
const copy = workingCopy(directory)
mkdirSync(join(copy, 'nothing'))
const ends: (() => unknown)[] = [() => rmSync(copy, { recursive: true, force: true })]
try {
  const storage = await openEmbeddedStorage({ directory: join(copy, 'store') })
  const listed = await addressesWith(
    (n) => population.mint(n + 1),
    (mint) => storage.trades.ofMint(mint, { order: 'desc', limit: PAGE + 1 })
  )
  const wallets = await addressesWith(
    (n) => population.wallet(n),
    (wallet) => storage.trades.ofWallet(wallet, { order: 'desc', limit: PAGE / 2 })
  )
  const head = (await storage.blocks.head())!
  const tokens = Math.min(urls / 2 + WARM_UPS, store.size.mints - 1)
  const priced = Array.from({ length: tokens }, (_, n) =>
    population.mint(1 + Math.floor((n * (store.size.mints - 1)) / tokens))
  )
  const tables = [
    await tradesOf(storage, listed),
    await walletTradesOf(storage, wallets),
    await candlesOf(storage, listed, head.blockTime),
    ...(await pricesOf(storage, priced, head.blockTime))
  ]
  await storage.close()

  const binaries = process.env['PG_BIN'] ?? '/usr/lib/postgresql/15/bin'
  const postgres = await startPostgres(binaries)
  ends.push(() => postgres.end())
  const client = await postgres.connect()
  await fillTables(client, tables)
  await client.end()
  const app = await startMeasured('postgres/peer.ts', [String(postgres.port), String(head.blockTime)])
  ends.push(() => app.end())
  const peer: MeasuredProcess = { ...app, cpuMs: () => app.threadsCpuMs() + postgres.cpuMs() }

  const token = (mint: Pubkey): string => `/v1/tokens/${pubkeyToBase58(mint)}`
  const pricedNow = new Set(tables.find(({ name }) => name === 'prices')!.rows.map(({ listed }) => listed))
  const known = priced.filter((mint) => pricedNow.has(pubkeyToBase58(mint)))
  const scenarios: Readonly<Record<string, readonly string[]>> = {
    price: known.map((mint) => `${token(mint)}/price`),
    'trades 100': listed.map((mint) => `${token(mint)}/trades?limit=${PAGE}`),
    'trades 100 of five fields': listed.map((mint) => `${token(mint)}/trades?limit=${PAGE}&fields=${FIELDS}`),
    'wallet trades 100': wallets.map(
      (wallet) => `/v1/wallets/${pubkeyToBase58(wallet)}/trades?limit=${PAGE}`
    ),
    'candles 300': listed.map((mint) => `${token(mint)}/candles?interval=1m&limit=300`),
    overview: known.map(token),
    'empty page': Array.from(
      { length: urls },
      (_, n) => `/v1/wallets/${addressOfNobody(n)}/trades?limit=${PAGE}`
    )
  }
  const only = values.only?.split(',')
  const figures: Record<string, object> = {}
  for (const [name, paths] of Object.entries(scenarios)) {
    if (only !== undefined && !only.includes(name)) continue
    figures[name] = await measureScenario(paths, peer)
    console.error(name, JSON.stringify(figures[name]))
  }
  const result = {
    load_of_the_machine: loadavg()[0],
    store: store.size,
    postgres: postgres.version.split(' on ')[0],
    connections: CONNECTIONS,
    rounds,
    scenarios: {
      ...(only === undefined ? {} : (readResult('rest-postgres', ['scenarios'])['scenarios'] as object)),
      ...figures
    }
  }
  if (values.small === true || only !== undefined)
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  else await writeResult('rest-postgres', result)
} finally {
  for (const end of ends.toReversed()) await end()
}

/** Returns the addresses, the most active ones first, whose lists fill what `read` asks for. */
async function addressesWith(
  address: (n: number) => Pubkey,
  read: (address: Pubkey) => Promise<readonly unknown[]>
): Promise<Pubkey[]> {
  const found: Pubkey[] = []
  const tries = Math.min(4 * urls, store.size.mints - 2)
  const counted: { readonly address: Pubkey; readonly rows: number }[] = []
  for (let n = 0; n < tries; n++) counted.push({ address: address(n), rows: (await read(address(n))).length })
  const most = Math.max(...counted.map(({ rows }) => rows))
  for (const each of counted) if (each.rows === most && found.length < urls) found.push(each.address)
  return found
}

/** Returns an address that is in no row. */
function addressOfNobody(n: number): string {
  return pubkeyToBase58(createHash('sha256').update(`nobody ${n}`).digest())
}

/** Measures both sides in turn, each URL once. The other tokens or wallets warm up. */
async function measureScenario(paths: readonly string[], peer: MeasuredProcess): Promise<object> {
  const step = Math.max(2, Math.ceil(paths.length / (urls / 2)))
  // In the order of their text, which mixes long and short lists: by activity, the sizes of all answers would shift together.
  const measured = paths.filter((_, n) => n % step === 0).toSorted()
  const others = paths.filter((_, n) => n % step > 0).toSorted()
  const ours: Measurement[] = []
  const theirs: Measurement[] = []
  const bare: Measurement[] = []
  let bytes = 0
  for (let round = 0; round < rounds; round++) {
    const started = await serveMarket(copy, 'quiet')
    try {
      await ranked(started)
      const service: MeasuredProcess = { ...started, cpuMs: () => started.threadsCpuMs() }
      const warming = warmUpsOf(others, WARM_UPS + WARM_UPS_MORE * round)
      bytes = await meanBytes(service, warming)
      for (const side of [service, peer]) {
        await measure(side, { headers: HEADERS, paths: spread(warming), seconds: 'once' })
        const found = await measure(side, { headers: HEADERS, paths: spread(measured), seconds: 'once' })
        ;(side === service ? ours : theirs).push(found)
      }
      bare.push(await measureBare(service, measured))
    } finally {
      await started.end()
    }
  }
  const [mine, pg, floor] = [figuresOf(ours), figuresOf(theirs), figuresOf(bare)]
  return {
    urls: measured.length,
    mean_bytes: bytes,
    cost_against_postgres: mine.cpu_us_a_request / pg.cpu_us_a_request,
    floor_against_postgres: floor.cpu_us_a_request / pg.cpu_us_a_request,
    millrace: mine,
    fastify_pg: pg,
    bare_route: floor
  }
}

/** Measures a bare route with the answers of these paths. */
async function measureBare(service: MeasuredProcess, paths: readonly string[]): Promise<Measurement> {
  const { bodies, fields } = await answersOf(service, paths)
  const { server, paths: pathsOf, end } = await startBareSide(bodies, fields)
  try {
    const load = (count: number) => ({
      headers: HEADERS,
      paths: spread(pathsOf(count)),
      seconds: 'once' as const
    })
    await measure(server, load(WARM_UPS))
    return await measure({ ...server, cpuMs: () => server.threadsCpuMs() }, load(paths.length))
  } finally {
    await end()
  }
}

/** Returns `count` URLs to warm up: the given ones, then again, each time with another empty query. Their answers are as long. */
function warmUpsOf(paths: readonly string[], count: number): readonly string[] {
  const repeats = Math.ceil(count / paths.length)
  return Array.from({ length: repeats }, (_, n) => paths.map((path) => path + emptyQuery(path, n)))
    .flat()
    .slice(0, count)
}

function emptyQuery(path: string, length: number): string {
  return length === 0 ? '' : (path.includes('?') ? '&' : '?') + '&'.repeat(length)
}

async function meanBytes({ url }: MeasuredProcess, paths: readonly string[]): Promise<number> {
  let bytes = 0
  const sampled = paths.slice(0, 20)
  for (const path of sampled)
    bytes += (await (await fetch(url + path, { headers: HEADERS })).arrayBuffer()).byteLength
  return Math.round(bytes / sampled.length)
}

/** Divides paths among the connections, so that each is requested once. */
function spread(paths: readonly string[]): string[][] {
  const connections = Math.min(CONNECTIONS, paths.length)
  const each = Math.floor(paths.length / connections)
  return Array.from({ length: connections }, (_, i) => paths.slice(i * each, (i + 1) * each))
}

function figuresOf(measured: readonly Measurement[]) {
  const statuses = new Set(measured.flatMap((round) => Object.keys(round.statuses)))
  if ([...statuses].join() !== '200') throw new Error(`answers with status ${[...statuses].join()}`)
  const mean = (of: (round: Measurement) => number): number =>
    measured.reduce((sum, round) => sum + of(round), 0) / measured.length
  return {
    cpu_us_a_request: mean(({ cpuMicros }) => cpuMicros),
    p50_ms: mean(({ p50Ms }) => p50Ms),
    p99_ms: Math.max(...measured.map(({ p99Ms }) => p99Ms))
  }
}
