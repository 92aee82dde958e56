/**
 * Measures pages of 100 trades of a mint from one CQL node on this machine, against the bare driver's prepared range read of
 * their rows. Rounds alternate, with equal concurrency. Pages are read over HTTP from the started service: with the skew of
 * users, for the first time, and again. They are also read from the store's port (`trades.ofMint`), which does not cache.
 *
 *     node loadtest/scylla-reads.ts [seconds a round] [rounds]
 */
import { splitCursor } from '../src/market/cursor.ts'
import type { TradeRow } from '../src/market/rows.ts'
import { tradesByMint } from '../storage/scylla/row-lists.ts'
import { writeResult } from './result.ts'
import { recordedCommits } from './scylla-blocks.ts'
import { BARE, KEYSPACE, startCql, timed, type RoundTime } from './scylla-server.ts'
import { restOn } from './scylla-rest.ts'
import { verify } from './scylla-verify.ts'
import { median } from './series.ts'

const BAR = 0.7
const BLOCKS = 600
const PAGE_ROWS = 100
const CONCURRENCIES = [4, 16, 64]
const REST_AGAINST = 16
const PAGES = 2_000

const seconds = Number(process.argv[2] ?? 4)
const rounds = Number(process.argv[3] ?? 7)
const { commits, reference, remove } = await recordedCommits(BLOCKS)
const cql = await startCql()
await cql.storage.blocks.claim(null)
for (const commit of commits) await cql.storage.blocks.commit(commit)
// Reopening flushes the memtable: the bare driver sees the tables alone.
await cql.reopen()
const { storage, bare } = cql

/** A page as the port requests it, and as the one statement that reads its rows. */
interface Page {
  readonly mint: Uint8Array
  readonly from: number
  readonly newest: number
  readonly params: readonly unknown[]
}

/** Pages that lie within one bucket, spread over all rows. */
function pagesOf(lists: readonly (readonly TradeRow[])[]): Page[] {
  const pages = lists.flatMap((rows) =>
    rows.slice(PAGE_ROWS).flatMap((row, i): Page[] => {
      // The row at `i + PAGE_ROWS` is the first one after the page.
      const [oldest, newest] = [rows[i]!.cursor, rows[i + PAGE_ROWS - 1]!.cursor]
      const [bucket, other] = [bucketOf(newest), bucketOf(oldest)]
      if (bucket !== other) return []
      const owner = Buffer.from(row.mint)
      return [
        { mint: row.mint, from: row.cursor, newest, params: [owner, bucket, BigInt(oldest), BigInt(newest)] }
      ]
    })
  )
  // The step shares no factor with most lengths, so pages next to each other lie far apart.
  return Array.from({ length: PAGES }, (_, i) => pages[(i * 7_919) % pages.length]!)
}

const bucketOf = (cursor: number): number =>
  Math.floor(splitCursor(cursor).slot / tradesByMint.slotsPerBucket)
const lists = Map.groupBy(
  commits.flatMap(({ trades }) => trades),
  ({ mint }) => Buffer.from(mint).toString('hex')
)
const pages = pagesOf([...lists.values()].map((rows) => rows.toSorted((a, b) => a.cursor - b.cursor)))
const mints = [...lists.values()].filter((rows) => rows.length > 2 * PAGE_ROWS).map(([row]) => row!.mint)

const SELECT =
  `SELECT cursor, epoch, commit, row FROM ${tradesByMint.table} WHERE owner = ? AND bucket = ? ` +
  `AND cursor >= ? AND cursor <= ? LIMIT ${PAGE_ROWS}`
const OPTIONS = { ...BARE, fetchSize: PAGE_ROWS }

async function readPage({ mint, from, newest }: Page): Promise<void> {
  const rows = await storage.trades.ofMint(mint, { from, order: 'desc', limit: PAGE_ROWS })
  if (rows.length !== PAGE_ROWS || rows[0]!.cursor !== newest) throw new Error('a page is wrong')
}

async function readBare({ params, newest }: Page): Promise<void> {
  const { rows } = await bare.execute(SELECT, [...params], OPTIONS)
  if (rows.length !== PAGE_ROWS || rows[0]!['cursor'] !== BigInt(newest)) throw new Error('a page is wrong')
}

/** A round and the number of requests that were answered in it. */
interface Round extends RoundTime {
  readonly answered: number
}

/** Runs a closed loop for the seconds of a round. */
async function round(concurrency: number, ask: (page: Page) => Promise<void>): Promise<Round> {
  let answered = 0
  const end = performance.now() + seconds * 1_000
  const loop = async (first: number): Promise<void> => {
    for (let at = first; performance.now() < end; at += concurrency) {
      await ask(pages[at % pages.length]!)
      answered++
    }
  }
  const time = await timed(cql, () => Promise.all(Array.from({ length: concurrency }, (_, i) => loop(i))))
  return { ...time, answered }
}

async function compare(concurrency: number) {
  for (const ask of [readPage, readBare]) await round(concurrency, ask)
  const [ours, bares]: [Round[], Round[]] = [[], []]
  for (let i = 0; i < rounds; i++) {
    ours.push(await round(concurrency, readPage))
    bares.push(await round(concurrency, readBare))
  }
  const ratios = ours.map((ours, i) => rate(ours) / rate(bares[i]!))
  return { adapter: of(ours), bare_driver: of(bares), ratio: median(ratios), ratios }
}

const rate = ({ answered, ms }: Round): number => (answered / ms) * 1_000
const of = (rounds: readonly Round[]) => ({
  pages_per_second: Math.round(median(rounds.map(rate))),
  rounds: rounds.map((round) => Math.round(rate(round))),
  cpu_us_a_page: median(rounds.map(({ cpuMs, answered }) => (cpuMs * 1_000) / answered)),
  server_cpu_us_a_page: median(rounds.map(({ serverCpuMs, answered }) => (serverCpuMs * 1_000) / answered))
})

async function compareRest() {
  const rest = await restOn(cql.server, KEYSPACE, mints, PAGE_ROWS)
  const [served, bares]: [Awaited<ReturnType<typeof rest.round>>[], Round[]] = [[], []]
  for (let i = 0; i < rounds; i++) {
    served.push(await rest.round(seconds))
    bares.push(await round(REST_AGAINST, readBare))
  }
  const part = (which: 'drawn' | 'first' | 'again') => ({
    requests_per_second: Math.round(median(served.map((round) => round[which].perSecond))),
    cpu_us_a_request: median(served.map((round) => round[which].cpuMicros)),
    p99_ms: median(served.map((round) => round[which].p99Ms)),
    ratio: median(served.map((round, i) => round[which].perSecond / rate(bares[i]!)))
  })
  const parts = { drawn: part('drawn'), first_time: part('first'), again: part('again') }
  return { pages: rest.pages, ...parts, bare_driver: of(bares) }
}

const results: Record<number, Awaited<ReturnType<typeof compare>>> = {}
for (const concurrency of CONCURRENCIES) results[concurrency] = await compare(concurrency)
const rest = await compareRest()
const verdict = await verify(storage, reference, commits)
await cql.end()
await remove()
const complete = verdict.wrong.length === 0

await writeResult('scylla-reads', {
  rows_a_page: PAGE_ROWS,
  pages: PAGES,
  rest,
  port_by_requests_under_way: results,
  bar: BAR,
  reached: { rest: rest.drawn.ratio >= BAR, rest_first_time: rest.first_time.ratio >= BAR },
  verified: { rows: verdict.rows, records: verdict.records, wrong: verdict.wrong.slice(0, 20) },
  verified_complete: complete
})
if (!complete) process.exitCode = 1
