/**
 * Ingest of the recorded mainnet block, repeated under new slots, from the decoder's input form to the durable commit;
 * beside it what reading the same block from JSON costs. The bar is ten times mainnet's live rate on one core:
 *
 *     taskset -c 0 node loadtest/ingest.ts [blocks]
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Block } from '../src/chain/transaction.ts'
import { DecodingReport } from '../src/decoding-report.ts'
import { WSOL } from '../src/market/cash.ts'
import { pubkeyFromBase58 } from '../src/chain/pubkey.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { loneIngester } from '../test/actors/lone-ingester.ts'
import {
  binaryForm,
  LIVE,
  plainTransaction,
  readBlock,
  RECORDED_SLOT,
  recordedBlockText
} from './recorded-block.ts'
import { writeResult } from './result.ts'

const LIVE_RATE = LIVE.transactionsPerBlock * LIVE.blocksPerSecond
const SLOT = RECORDED_SLOT

const blocks = Number(process.argv[2] ?? 600)
const warmUp = 50
const text = recordedBlockText()
const recorded = readBlock(JSON.parse(text))
const forms = recorded.transactions.map(plainTransaction)

function blockAt(place: number): Block {
  return {
    ...recorded,
    slot: SLOT + place,
    parentSlot: SLOT + place - 1,
    blockTime: recorded.blockTime + Math.floor(place * 0.4),
    transactions: forms.map(binaryForm)
  }
}

const directory = mkdtempSync(join(tmpdir(), 'millrace-ingest-'))
const storage = await openEmbeddedStorage({ directory })
const decoding = new DecodingReport()
const ingester = await loneIngester(storage, undefined, decoding)
const waits: number[] = []
let cpuStart = process.cpuUsage()
let ingestMs = 0
let peakRss = 0
for (let place = 0; place < warmUp + blocks; place++) {
  if (place === warmUp) {
    cpuStart = process.cpuUsage()
    ingestMs = 0
    waits.length = 0
  }
  const block = blockAt(place)
  const started = performance.now()
  await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1000 })
  waits.push(performance.now() - started)
  ingestMs += waits.at(-1)!
  peakRss = Math.max(peakRss, process.memoryUsage.rss())
}
const cpu = process.cpuUsage(cpuStart)
const heap = process.memoryUsage().heapUsed

// After the load: every block is there, in order, with all of its rows, each once.
const head = await storage.blocks.head()
const solRows: number[] = []
for (let from = 0; ; from = solRows.at(-1)!) {
  const rows = await storage.trades.ofMint(pubkeyFromBase58(WSOL), { from, order: 'asc', limit: 1000 })
  solRows.push(...rows.map((row) => row.cursor))
  if (rows.length < 1000) break
}
const perBlock = solRows.filter((cursor) => Math.floor(cursor / 2 ** 20) === SLOT).length
const complete =
  head?.slot === SLOT + warmUp + blocks - 1 &&
  solRows.length === perBlock * (warmUp + blocks) &&
  solRows.every((cursor, index) => index === 0 || cursor > solRows[index - 1]!)
await storage.close()
const bytes = readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0)
rmSync(directory, { recursive: true })

function timed(run: () => void): number {
  run()
  const rounds = 20
  const started = performance.now()
  for (let i = 0; i < rounds; i++) run()
  return (performance.now() - started) / rounds
}

const parseMs = timed(() => void JSON.parse(text))
const readMs = timed(() => void readBlock(JSON.parse(text)))
waits.sort((a, b) => a - b)
const nonVote = recorded.transactions.length
const trades =
  Object.values(decoding.venues).reduce((sum, venue) => sum + venue.events.trade, 0) / (warmUp + blocks)
const rate = (nonVote * blocks) / (ingestMs / 1000)

await writeResult('ingest', {
  blocks,
  transactions_a_block: { total: nonVote + recorded.votes, not_votes: nonVote, trades },
  not_vote_transactions_per_second: Math.round(rate),
  times_live_rate: rate / LIVE_RATE,
  bar: 10,
  reached: rate / LIVE_RATE >= 10,
  ms_a_block: {
    mean: ingestMs / blocks,
    p50: waits[Math.floor(blocks * 0.5)],
    p99: waits[Math.floor(blocks * 0.99)]
  },
  cpu_ms_a_block: (cpu.user + cpu.system) / 1000 / blocks,
  json_alone: { parse_ms_a_block: parseMs, parse_and_read_ms_a_block: readMs },
  bytes_a_trade_on_disk: bytes / (trades * (warmUp + blocks)),
  peak_rss_mib: peakRss / 2 ** 20,
  heap_mib: heap / 2 ** 20,
  verified_complete: complete
})
if (!complete) process.exitCode = 1
