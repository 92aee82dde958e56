/**
 * Measures pages of a live store with an archive behind it, against those of the same store without one, in turns. The archive
 * has trades of the market's own mints and wallets, in ascending order, all that imports of `--minutes` store. Pages that the
 * live rows do not fill continue into the archive. With `--cql` both are on a CQL server with one node.
 *
 *     node loadtest/archive-pages.ts DIRECTORY [--minutes=30] [--rows=100000000] [--seconds=8] [--rounds=3] [--cql]
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { clusterMarket, embeddedMarket } from './archive/archived-market.ts'
import { FILE_ROWS, writeMarketRows } from './archive/market-rows.ts'
import { measure, type Measurement } from './closed-loop.ts'
import { SyntheticMarket } from './market/blocks.ts'
import { marketOf } from './market/population.ts'
import { SeededRandom } from './market/random.ts'
import { reported, writeResult } from './result.ts'
import { scenariosOf } from './scenarios.ts'
import { ranked } from './served-market.ts'
import { HEADERS } from './service-process.ts'
import { median } from './median.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '30' },
    rows: { type: 'string', default: '100000000' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    cql: { type: 'boolean', default: false }
  }
})
const [directory] = positionals
if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the stores')
const [minutes, rowsMax] = [Number(values.minutes), Number(values.rows)]
const isCluster = values.cql
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]

const LIVE_TRADES = isCluster ? 100_000 : 200_000
const CONNECTIONS = 4
const PATHS = 2_000
const SCENARIOS = ['trades 100', 'candles 300', 'price', 'overview', 'launches 50', 'wallet trades 100']

const size = marketOf(LIVE_TRADES)
const market = new SyntheticMarket(size)
const { scratch, ...archived } = await (isCluster ? clusterMarket : embeddedMarket)(directory, size)

/** Writes the file of rows before which others have `from`. */
async function written(from: number): Promise<string> {
  const file = join(scratch, `rows-${from}.csv`)
  await writeMarketRows(file, market.population, from)
  return file
}

/** Imports files until the time is over, and writes each while the one before it is imported. Returns the number of rows. */
async function imported(): Promise<number> {
  const untilMs = performance.now() + minutes * 60_000
  let rows = 0
  let next = written(rows)
  while (rows < rowsMax && performance.now() < untilMs) {
    const file = await next
    next = written(rows + FILE_ROWS)
    await archived.importFile(file)
    rmSync(file)
    rows += FILE_ROWS
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
  const service = await archived.serve(isArchived)
  const results: Pages = new Map()
  try {
    await ranked(service)
    for (const { name, draw } of scenarios) {
      const random = new SeededRandom(size.seed, 33)
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
  await writeResult(isCluster ? 'archive-pages-cql' : 'archive-pages', {
    ...(isCluster && { command: 'node loadtest/archive-pages.ts --cql' }),
    bar: 'p99 of live pages at most 1.5 × of those without archived rows',
    ...{ live_trades: LIVE_TRADES, archived_rows: rows, rounds, seconds, connections: CONNECTIONS },
    archive_store_bytes_per_trade: (await archived.archiveBytes()) / rows,
    pages: figures
  })
} finally {
  await archived.end()
}
