/**
 * Measures pages of 100 trades without a response cache, over the wire. Compared are Millrace, a bare Fastify route that
 * sends its bytes from memory, and Fastify with `pg` on PostgreSQL. PostgreSQL holds the rows with an index by mint and
 * cursor. Rounds alternate. Also measured: the microseconds of each stage of a page. PG_BIN names the folder of PostgreSQL's
 * programs; without it that peer is left out.
 *
 *     PG_BIN=/usr/lib/postgresql/15/bin node loadtest/trade-pages.ts DIRECTORY [trades] [--small]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tradeBody } from '../src/api/trade.ts'
import { pubkeyToBase58, type Pubkey } from '../src/chain/pubkey.ts'
import { CashList } from '../src/market/cash.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { measure, type Load, type Measurement } from './closed-loop.ts'
import { ensureMarketStore } from './market-store.ts'
import { SyntheticMarket } from './market/blocks.ts'
import { marketOf } from './market/population.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { startPostgres, type Postgres } from './postgres.ts'
import { writeResult } from './result.ts'
import { CONNECTIONS } from './rounds.ts'
import { HEADERS } from './served-market.ts'
import { workingCopy } from './working-copy.ts'

const PAGE = 100
const MINTS = 300
/** Rows of a mint that PostgreSQL holds: three pages. */
const ROWS_A_MINT = 300
const ROUNDS = 2
/** Rows of one statement that fills the table. */
const ROWS_A_WRITE = 300

const { values, positionals } = parseArgs({ allowPositionals: true, options: { small: { type: 'boolean' } } })
const [directory, trades = '2000000'] = positionals
if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the store')
const isSmall = values.small === true
const seconds = isSmall ? 2 : 5

type Body = Readonly<Record<string, unknown>>

const store = await ensureMarketStore(directory, marketOf(Number(trades)), (line) => console.error(line))
const copy = workingCopy(directory)
const scratch = mkdtempSync(join(tmpdir(), 'millrace-pages-'))
const ends: (() => unknown)[] = [
  () => rmSync(copy, { recursive: true }),
  () => rmSync(scratch, { recursive: true })
]
try {
  const lists = await listsOf(copy)
  const mints = lists.map(({ mint }) => pubkeyToBase58(mint))
  const paths = mints.map((mint) => `/v1/tokens/${mint}/trades?limit=${PAGE}`)
  const ours = await started('trade-pages-service.ts', [copy, mints.join()])
  const file = join(scratch, 'bodies')
  const bodies = await Promise.all(
    paths.map(async (path) =>
      Buffer.from(await (await fetch(ours.url + path, { headers: HEADERS })).arrayBuffer())
    )
  )
  writeFileSync(file, Buffer.concat(bodies.flatMap((body) => [lengthOf(body), body])))
  const bare = await started('bare-route.ts', [file, JSON.stringify({ 'content-type': 'application/json' })])
  const binaries = process.env['PG_BIN']
  const postgres = binaries === undefined ? null : await startPostgres(binaries)
  if (postgres !== null) ends.push(() => postgres.end())
  const peer = postgres === null ? null : await peerOf(postgres, lists)
  const stages = (await ours.ask('stages')) as Readonly<Record<string, number>>
  const found = {
    ours: [] as Measurement[],
    bare: [] as Measurement[],
    peer: [] as (Measurement & { postgres: number })[]
  }
  for (let round = 0; round <= ROUNDS; round++) {
    const made = {
      ours: await measure(ours, loadOf(paths)),
      bare: await measure(bare, loadOf(paths.map((_, n) => `/${n}`))),
      peer: peer === null ? null : await measuredPeer(peer, postgres!, loadOf(paths))
    }
    // The first round is a warm-up.
    if (round === 0) continue
    found.ours.push(made.ours)
    found.bare.push(made.bare)
    if (made.peer !== null) found.peer.push(made.peer)
  }
  const figures = {
    load_of_the_machine: loadavg()[0],
    store: store.size,
    mints: mints.length,
    page: PAGE,
    mean_bytes: Math.round(bodies.reduce((sum, { length }) => sum + length, 0) / bodies.length),
    millrace: figuresOf(found.ours),
    bare_route: figuresOf(found.bare),
    share_of_bare: {
      requests: mean(found.ours, 'perSecond') / mean(found.bare, 'perSecond'),
      processor: mean(found.bare, 'cpuMicros') / mean(found.ours, 'cpuMicros')
    },
    postgres:
      postgres === null
        ? null
        : {
            version: postgres.version.split(' on ')[0],
            ...figuresOf(found.peer),
            of_it_in_postgres_us: found.peer.reduce((sum, each) => sum + each.postgres, 0) / found.peer.length
          },
    stages_us_a_page: stages
  }
  if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  else await writeResult('trade-pages', figures)
} finally {
  for (const end of ends.toReversed()) await end()
}

async function started(script: string, args: readonly string[]): Promise<MeasuredProcess> {
  const server = await startMeasured(script, args)
  ends.push(() => server.end())
  return server
}

interface MintList {
  readonly mint: Pubkey
  readonly bodies: readonly Body[]
}

/** Returns the busiest mints that have a whole page, with their newest trades as they are served. */
async function listsOf(dataDir: string): Promise<MintList[]> {
  const { population } = new SyntheticMarket(store.size)
  const storage = await openEmbeddedStorage({ directory: join(dataDir, 'store') })
  const cash = new CashList()
  const lists: MintList[] = []
  for (let n = 1; lists.length < MINTS && n < store.size.mints; n++) {
    const mint = population.mint(n)
    const rows = await storage.trades.ofMint(mint, { order: 'desc', limit: ROWS_A_MINT })
    if (rows.length > PAGE) lists.push({ mint, bodies: rows.map((row) => tradeBody(row, cash)) })
  }
  await storage.close()
  return lists
}

/** Fills PostgreSQL with the rows and starts Fastify before it. */
async function peerOf(postgres: Postgres, lists: readonly MintList[]): Promise<MeasuredProcess> {
  const bodies = lists.flatMap((list) => list.bodies)
  const columns = columnsOf(bodies)
  const names = Object.keys(columns).map((name) => `"${name}"`)
  const client = await postgres.connect()
  await client.query(
    `create table trades (${names.map((name, i) => `${name} ${Object.values(columns)[i]}`).join()})`
  )
  for (let from = 0; from < bodies.length; from += ROWS_A_WRITE) {
    const rows = bodies.slice(from, from + ROWS_A_WRITE)
    await client.query(
      `insert into trades select ${names.join()} from json_populate_recordset(null::trades, $1::json)`,
      [JSON.stringify(rows)]
    )
  }
  await client.query('create unique index on trades (mint, cursor)')
  await client.query('vacuum analyze trades')
  await client.end()
  return started('trade-pages-postgres.ts', [String(postgres.port)])
}

/** Returns the column types for the fields of all rows. */
function columnsOf(bodies: readonly Body[]): Readonly<Record<string, string>> {
  const types: Record<string, string> = {}
  for (const body of bodies)
    for (const [name, value] of Object.entries(body)) {
      if (value === undefined) continue
      const type = typeOf(value)
      if (
        types[name] === undefined ||
        (types[name] === 'bigint' && type === 'double precision') ||
        types[name] === 'text'
      )
        types[name] = type
    }
  return types
}

function typeOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'bigint' : 'double precision'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'object' && value !== null ? 'json' : 'text'
}

async function measuredPeer(peer: MeasuredProcess, postgres: Postgres, load: Load) {
  const before = postgres.cpuMs()
  const measured = await measure(peer, load)
  const micros = ((postgres.cpuMs() - before) * 1_000) / measured.requests
  return { ...measured, cpuMicros: measured.cpuMicros + micros, postgres: micros }
}

function loadOf(paths: readonly string[]): Load {
  const lists = Array.from({ length: CONNECTIONS }, (_, n) => [
    ...paths.slice(n * 15),
    ...paths.slice(0, n * 15)
  ])
  return { headers: HEADERS, paths: lists, seconds }
}

function figuresOf(rounds: readonly Measurement[]) {
  const statuses = new Set(rounds.flatMap((round) => Object.keys(round.statuses)))
  if ([...statuses].join() !== '200') throw new Error(`answers with status ${[...statuses].join()}`)
  return {
    requests_per_second: Math.round(mean(rounds, 'perSecond')),
    p50_ms: mean(rounds, 'p50Ms'),
    p99_ms: Math.max(...rounds.map(({ p99Ms }) => p99Ms)),
    cpu_us_a_request: mean(rounds, 'cpuMicros')
  }
}

function mean(rounds: readonly Measurement[], field: 'perSecond' | 'p50Ms' | 'cpuMicros'): number {
  return rounds.reduce((sum, round) => sum + round[field], 0) / rounds.length
}

function lengthOf(body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  return length
}
