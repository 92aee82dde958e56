/**
 * Measures pages of a live store with an archive behind it, against those of the same store without one, in turns. The archive
 * has trades of the market's own mints and wallets, in ascending order, all that imports of `--minutes` store. Pages that the
 * live rows do not fill continue into the archive.
 *
 *     node loadtest/archive-pages.ts DIRECTORY [--minutes=30] [--rows=100000000] [--seconds=8] [--rounds=3]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { encodeBase58 } from '../src/chain/base58.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { USDC, WSOL } from '../src/market/cash.ts'
import { measure, type Measurement } from './closed-loop.ts'
import { diskBytes } from './disk-bytes.ts'
import { SyntheticMarket } from './market/blocks.ts'
import { marketOf, SOL_SHARE } from './market/population.ts'
import { SeededRandom } from './market/random.ts'
import { ensureMarketStore } from './market-store.ts'
import { reported, writeResult } from './result.ts'
import { scenariosOf } from './scenarios.ts'
import { ranked, serveMarket } from './served-market.ts'
import { HEADERS } from './service-process.ts'
import { workingCopy } from './working-copy.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '30' },
    rows: { type: 'string', default: '100000000' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' }
  }
})
const [directory] = positionals
if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the stores')
const [minutes, rowsMax] = [Number(values.minutes), Number(values.rows)]
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]

const LIVE_TRADES = 200_000
const TRADES_PER_SLOT = 58
/** Rows of one import, of whole slots: the fold of the next one continues after it. */
const CHUNK_ROWS = 20_000 * TRADES_PER_SLOT
const SLOTS_PER_SECOND = 2.5
/** The first slot and time of the archive, long before those of the market. */
const FIRST_SLOT = 300_000_000
const FIRST_TIME = Date.UTC(2025, 0, 1) / 1_000
const CONNECTIONS = 4
const PATHS = 2_000
const SCENARIOS = ['trades 100', 'candles 300', 'price', 'overview', 'launches 50', 'wallet trades 100']
const CLI = join(import.meta.dirname, '../src/kernel/cli/millrace.js')

const store = await ensureMarketStore(directory, marketOf(LIVE_TRADES), (line) => console.error(line))
const market = new SyntheticMarket(store.size)
const { population } = market
const scratch = workingCopy(directory)
mkdirSync(join(scratch, 'nothing'))
const archive = join(scratch, 'archive')
const away = join(scratch, 'archive-away')

const poolOf = (mint: Uint8Array): string => encodeBase58(mint.map((byte) => byte ^ 255))

/** Yields a CSV file of rows, of which `from` are in earlier files. */
function* csv(from: number): Generator<string> {
  const random = new SeededRandom(36, from)
  yield 'slot,block_time,signature,venue,pool,trader,in_mint,out_mint,in_amount_raw,out_amount_raw,mint,decimals,tx_index,ix_index\n'
  for (let at = from; at < from + CHUNK_ROWS; at++) {
    const slot = Math.floor(at / TRADES_PER_SLOT)
    // The square makes few mints busy and most quiet.
    const index = random.chance(SOL_SHARE) ? 0 : 1 + Math.floor((store.size.mints - 1) * random.unit() ** 2)
    const [mint, cash] = [
      index === 0 ? WSOL : pubkeyToBase58(population.mint(index)),
      index === 0 ? USDC : WSOL
    ]
    const amounts = [1_000_000_000 + random.below(1_000_000), index === 0 ? 150_000_000 : 20_000_000]
    const isBuy = random.chance(0.5)
    const way = <T>([one, other]: readonly T[]): T[] => (isBuy ? [other!, one!] : [one!, other!])
    yield (
      [
        ...[FIRST_SLOT + slot, FIRST_TIME + Math.floor(slot / SLOTS_PER_SECOND)],
        ...[encodeBase58(random.bytes(64)), 'pumpswap', poolOf(population.mint(index))],
        pubkeyToBase58(population.drawWallet(random)),
        ...[...way([mint, cash]), ...way(amounts), mint, population.decimals(index), at % TRADES_PER_SLOT, 2]
      ].join(',') + '\n'
    )
  }
}

/** Writes the file of rows of which `from` are in earlier files. */
async function written(from: number): Promise<string> {
  const file = join(scratch, `rows-${from}.csv`)
  await pipeline(Readable.from(csv(from)), createWriteStream(file))
  return file
}

/** Imports files until the time is over, and writes each while the one before it is imported. Returns the number of rows. */
async function imported(): Promise<number> {
  const untilMs = performance.now() + minutes * 60_000
  let rows = 0
  let next = written(rows)
  while (rows < rowsMax && performance.now() < untilMs) {
    const file = await next
    next = written(rows + CHUNK_ROWS)
    const child = spawn(process.execPath, [CLI, 'archive', 'import', file, '--data-dir', scratch], {
      stdio: ['ignore', 'ignore', 'inherit']
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error(`the import ended with ${code}`)
    rmSync(file)
    rows += CHUNK_ROWS
    console.error(`${rows} rows after ${Math.round(performance.now() / 1_000)} s`)
  }
  rmSync(await next)
  return rows
}

const scenarios = scenariosOf(market).filter(({ name }) => SCENARIOS.includes(name))

type Pages = Map<string, Measurement & { readonly bytes: number }>

/** Returns the mean bytes of answers. */
async function bytesOf(url: string, paths: readonly string[]): Promise<number> {
  let bytes = 0
  for (const path of paths) {
    const answer = await fetch(url + path, { headers: HEADERS })
    bytes += (await answer.arrayBuffer()).byteLength
  }
  return bytes / paths.length
}

/** Runs each scenario on a new service, after an uncounted run. */
async function pages(isArchived: boolean): Promise<Pages> {
  if (isArchived !== existsSync(archive)) renameSync(isArchived ? away : archive, isArchived ? archive : away)
  const service = await serveMarket(scratch, 'quiet')
  const results: Pages = new Map()
  try {
    await ranked(service)
    for (const { name, draw } of scenarios) {
      const random = new SeededRandom(store.size.seed, 33)
      const paths = Array.from({ length: CONNECTIONS }, () =>
        Array.from({ length: PATHS / CONNECTIONS }, () => draw(random))
      )
      await measure(service, { headers: HEADERS, paths, seconds: 2 })
      const bytes = await bytesOf(service.url, paths[0]!.slice(0, 100))
      const measured = await measure(service, { headers: HEADERS, paths, seconds })
      results.set(name, reported(name, { ...measured, bytes }))
    }
  } finally {
    await service.end()
  }
  return results
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!

try {
  const rows = await imported()
  const [with_, without]: Pages[][] = [[], []]
  for (let round = 0; round < rounds; round++) {
    without!.push(await pages(false))
    with_!.push(await pages(true))
    console.error(`round ${round + 1} of ${rounds}`)
  }
  const figures = Object.fromEntries(
    scenarios.map(({ name }) => {
      const of = (runs: readonly Pages[], field: 'p50Ms' | 'p99Ms' | 'cpuMicros' | 'bytes') =>
        runs.map((run) => run.get(name)![field])
      const sides = { without_archive: without!, with_archive: with_! }
      const about = Object.entries(sides).map(([side, runs]) => [
        side,
        {
          p50_ms: median(of(runs, 'p50Ms')),
          p99_ms: median(of(runs, 'p99Ms')),
          cpu_us_a_request: median(of(runs, 'cpuMicros')),
          bytes_an_answer: median(of(runs, 'bytes')),
          statuses: runs.map((run) => run.get(name)!.statuses)
        }
      ])
      const ratioOf = (field: 'p50Ms' | 'p99Ms' | 'cpuMicros'): number =>
        median(of(with_!, field).map((value, at) => value / of(without!, field)[at]!))
      const ratios = { p50: ratioOf('p50Ms'), p99: ratioOf('p99Ms'), cpu: ratioOf('cpuMicros') }
      return [name, { ...Object.fromEntries(about), ratios }]
    })
  )
  await writeResult('archive-pages', {
    bar: 'p99 of live pages at most 1.5 × of those without archived rows',
    ...{ live_trades: LIVE_TRADES, archived_rows: rows, rounds, seconds, connections: CONNECTIONS },
    archive_store_bytes_per_trade: diskBytes(join(archive, 'store')) / rows,
    pages: figures
  })
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
