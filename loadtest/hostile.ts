/**
 * Runs 200 clients that send random bad input to the started service, together with good clients at a steady rate. Reports
 * the answers to the bad requests and the latency of the good ones. Then requests 10,000 unknown mints within a minute,
 * twice, and reports the memory that stays allocated.
 *
 *     node loadtest/hostile.ts DIRECTORY [trades] [seconds]
 */
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { measure, type Measurement } from './closed-loop.ts'
import type { Attack, AttackReport } from './hostile-clients.ts'
import { strangeAddress } from './hostile-requests.ts'
import { SyntheticMarket } from './market/blocks.ts'
import { marketOf } from './market/population.ts'
import { SeededRandom } from './market/random.ts'
import { ensureMarketStore } from './market-store.ts'
import { writeResult } from './result.ts'
import { scenariosOf } from './scenarios.ts'
import { HEADERS, serveMarket, type Served } from './served-market.ts'
import { workingCopy } from './working-copy.ts'

const [directory, trades = '10000000', span = '60'] = process.argv.slice(2)
if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the store')
const seconds = Number(span)
const SEED = 7
const HOSTILE = { clients: 200, perClientPerSecond: 5 }
const GOOD = { clients: 10, perClientPerSecond: 20 }
const STRANGE_MINTS = 10_000

const store = await ensureMarketStore(directory, marketOf(Number(trades)), (line) => console.error(line))
const scenarios = scenariosOf(new SyntheticMarket(store.size))
const scratch = workingCopy(directory)
mkdirSync(join(scratch, 'nothing'))

/** Requests every endpoint in turn, at a rate that leaves the service idle time. */
function goodClients(service: Served): Promise<Measurement> {
  const random = new SeededRandom(SEED, 2)
  const paths = Array.from({ length: GOOD.clients }, () =>
    Array.from({ length: 100 }, () => random.pick(scenarios).draw(random))
  )
  return measure(service, {
    headers: HEADERS,
    paths,
    seconds,
    perConnectionPerSecond: GOOD.perClientPerSecond
  })
}

async function attacked(service: Served): Promise<AttackReport> {
  const attack: Attack = {
    port: Number(new URL(service.url).port),
    key: HEADERS['x-api-key'],
    seed: SEED,
    seconds,
    ...HOSTILE
  }
  const worker = new Worker(join(import.meta.dirname, 'hostile-clients.ts'), { workerData: attack })
  const [report] = (await once(worker, 'message')) as [AttackReport]
  return report
}

/** Returns resident memory in MiB, before and after each of two rounds of unknown mints, each mint requested once. */
async function strangeMints(service: Served): Promise<number[]> {
  const random = new SeededRandom(SEED, 3)
  const clients = 20
  const each = STRANGE_MINTS / clients
  const rss = [Math.round(service.rssMib())]
  for (let round = 0; round < 2; round++) {
    const paths = Array.from({ length: clients }, () =>
      Array.from({ length: each }, (_, i) => {
        const mint = strangeAddress(random)
        return `/v1/tokens/${mint}${['', '/trades', '/candles', '/price', '/pools'][i % 5]}`
      })
    )
    await measure(service, { headers: HEADERS, paths, seconds: 'once', perConnectionPerSecond: each / 55 })
    rss.push(Math.round(service.rssMib()))
  }
  return rss
}

function named(statuses: AttackReport['statuses']): Record<string, number> {
  return Object.fromEntries(statuses.map(([status, count]) => [status ?? 'closed', count]))
}

const service = await serveMarket(scratch, 'quiet')
try {
  await goodClients(service)
  const alone = await goodClients(service)
  const [amid, report] = await Promise.all([goodClients(service), attacked(service)])
  const rss = await strangeMints(service)
  const faults = service.stderr.filter((line) => /"level":[56]0/.test(line))
  const p99Ratio = amid.p99Ms / alone.p99Ms
  await writeResult('hostile', {
    seconds,
    hostile: { ...HOSTILE, requests: report.requests, statuses: named(report.statuses) },
    complaints: report.complaints,
    logged_faults: faults.length,
    good: {
      ...GOOD,
      alone: { p50_ms: alone.p50Ms, p99_ms: alone.p99Ms, statuses: alone.statuses },
      amid: { p50_ms: amid.p50Ms, p99_ms: amid.p99Ms, statuses: amid.statuses },
      p99_ratio: p99Ratio,
      bar: 2,
      reached: p99Ratio <= 2
    },
    rss_mib_before_and_after_twice_10000_strange_mints: rss
  })
  if (report.complaints.length + faults.length > 0) process.exitCode = 1
} finally {
  await service.end()
  rmSync(scratch, { recursive: true, force: true })
}
