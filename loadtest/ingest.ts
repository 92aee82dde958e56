/**
 * Measures ingest of the recorded mainnet block, repeated under new slots, from the decoder's input form to the
 * durable commit. Beside it: the cost of reading the block from JSON, and ingest without the stream's log. The bar is
 * ten times mainnet's live rate on one core:
 *
 *     taskset -c 0 node loadtest/ingest.ts [blocks]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ingester, TakesBlocks } from '../actors/ingest/ingester.ts'
import type { Block } from '../src/chain/transaction.ts'
import { DecodingReport } from '../src/ingest/decoding-report.ts'
import { setServingHeap } from '../src/kernel/memory/serving-heap.ts'
import { WSOL } from '../src/market/cash.ts'
import { pubkeyFromBase58 } from '../src/chain/pubkey.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import type { Storage } from '../storage/port.ts'
import { encodeBase58 } from '../src/chain/base58.ts'
import { WatchedSignatures } from '../src/transactions/block-sightings.ts'
import type { BlockObserver } from '../src/ingest/committed-blocks.ts'
import { PriorityFees } from '../src/transactions/priority-fees.ts'
import { loneIngester } from '../test/actors/ingest/lone-ingester.ts'
import { diskBytes } from './disk-bytes.ts'
import { LIVE, readBlock, RECORDED_SLOT, recordedBlockText, repeated } from './recorded-block.ts'
import { reported, writeResult } from './result.ts'
import { compactStore } from './settled-store.ts'

/** The maximum that a process tracks. */
const WATCHED = 10_000
const LIVE_RATE = LIVE.transactionsPerBlock * LIVE.blocksPerSecond
const SLOT = RECORDED_SLOT

setServingHeap(false)
const blocks = Number(process.argv[2] ?? 600)
const warmUp = 50
const text = recordedBlockText()
const recorded = readBlock(JSON.parse(text))
const blockAt = repeated(recorded)

/** A store that ingests the block under one slot after another. */
class Side {
  readonly decoding: DecodingReport
  readonly waits: number[] = []
  /** Processor time of each block, in microseconds. */
  readonly cpuMicros: number[] = []
  readonly #directory: string
  readonly #storage: Storage
  readonly #ingester: Ingester

  private constructor(
    decoding: DecodingReport,
    store: { readonly directory: string; readonly storage: Storage; readonly ingester: Ingester }
  ) {
    this.decoding = decoding
    this.#directory = store.directory
    this.#storage = store.storage
    this.#ingester = store.ingester
  }

  /** Opens a store, with or without the stream's log of each block, with observers of its blocks. */
  static async open(hasLog: boolean, observers: readonly BlockObserver[] = []): Promise<Side> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-ingest-'))
    const storage = await openEmbeddedStorage({ directory })
    const { blocks: stored, history } = storage
    const withoutLog: TakesBlocks = {
      commit: (block, ...rest) => stored.commit({ ...block, log: [] }, ...rest),
      history
    }
    const decoding = new DecodingReport()
    const ingester = await loneIngester(storage, hasLog ? undefined : withoutLog, decoding, observers)
    return new Side(decoding, { directory, storage, ingester })
  }

  async take(block: Block): Promise<void> {
    const cpuBefore = process.cpuUsage()
    const started = performance.now()
    await this.#ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1000 })
    this.waits.push(performance.now() - started)
    const { user, system } = process.cpuUsage(cpuBefore)
    this.cpuMicros.push(user + system)
  }

  /** Discards the measurements so far: they were the warm-up. */
  begin(): void {
    this.waits.length = 0
    this.cpuMicros.length = 0
  }

  get msABlock() {
    const sorted = this.waits.toSorted((a, b) => a - b)
    const at = (part: number): number => sorted[Math.floor(sorted.length * part)]!
    return { mean: sum(sorted) / sorted.length, p50: at(0.5), p99: at(0.99) }
  }

  get cpuMsABlock(): number {
    return sum(this.cpuMicros) / 1000 / this.cpuMicros.length
  }

  /** Processor time of a block in each tenth of the run, in milliseconds: it shows whether a growing store costs more. */
  get cpuMsABlockByTenth(): number[] {
    const tenth = Math.ceil(this.cpuMicros.length / 10)
    const tenths = Array.from({ length: 10 }, (_, at) => this.cpuMicros.slice(at * tenth, (at + 1) * tenth))
    return tenths.flatMap((each) => (each.length === 0 ? [] : sum(each) / 1000 / each.length))
  }

  /** Returns whether the store has every block in order, with each of its rows exactly once. */
  async isComplete(): Promise<boolean> {
    const head = await this.#storage.blocks.head()
    const rows: number[] = []
    for (let from = 0; ; from = rows.at(-1)!) {
      const page = await this.#storage.trades.ofMint(pubkeyFromBase58(WSOL), {
        from,
        order: 'asc',
        limit: 1000
      })
      rows.push(...page.map((row) => row.cursor))
      if (page.length < 1000) break
    }
    const perBlock = rows.filter((cursor) => Math.floor(cursor / 2 ** 20) === SLOT).length
    return (
      head?.slot === SLOT + warmUp + blocks - 1 &&
      rows.length === perBlock * (warmUp + blocks) &&
      rows.every((cursor, index) => index === 0 || cursor > rows[index - 1]!)
    )
  }

  /** Closes the store and returns its bytes on disk after a compaction, so that overwritten values do not count. */
  async end(): Promise<number> {
    await this.#storage.close()
    await compactStore(this.#directory)
    const bytes = diskBytes(this.#directory)
    rmSync(this.#directory, { recursive: true })
    return bytes
  }
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

/** Ingests all blocks into the sides, alternating block by block, after a warm-up. */
async function run(sides: readonly Side[], eachBlock: () => void = () => undefined): Promise<void> {
  for (let place = 0; place < warmUp + blocks; place++) {
    for (const side of place % 2 === 0 ? sides : sides.toReversed()) {
      if (place === warmUp) side.begin()
      await side.take(blockAt(place))
    }
    eachBlock()
  }
}

const whole = await Side.open(true)
let peakRss = 0
await run([whole], () => (peakRss = Math.max(peakRss, process.memoryUsage.rss())))
const heap = process.memoryUsage().heapUsed
reported('alone', { cpu_ms_a_block: whole.cpuMsABlock, by_tenth: whole.cpuMsABlockByTenth })
let complete = await whole.isComplete()
const bytes = await whole.end()
// The sides alternate block by block, so that other work of the machine affects both equally.
const [withLog, withoutLog] = [await Side.open(true), await Side.open(false)]
await run([withLog, withoutLog])
for (const side of [withLog, withoutLog]) complete &&= await side.isComplete()
const [bytesWithLog, bytesWithoutLog] = [await withLog.end(), await withoutLog.end()]
reported('cpu_ms_a_block', { with_the_log: withLog.cpuMsABlock, without_the_log: withoutLog.cpuMsABlock })

/** Observers that transactions have at ingest: fees, heights, and ten thousand signatures that no block has. */
function transactionObservers(): BlockObserver[] {
  const sightings = new WatchedSignatures()
  const bytes = new Uint8Array(64)
  for (let i = 0; i < WATCHED; i++) {
    new DataView(bytes.buffer).setUint32(0, Math.imul(i + 1, 0x9e3779b1))
    sightings.watch(encodeBase58(bytes))
  }
  return [sightings, new PriorityFees()]
}

const [unobserved, observed] = [await Side.open(true), await Side.open(true, transactionObservers())]
await run([unobserved, observed])
for (const side of [unobserved, observed]) await side.end()

function timed(run: () => void): number {
  run()
  const rounds = 20
  const started = performance.now()
  for (let i = 0; i < rounds; i++) run()
  return (performance.now() - started) / rounds
}

const parseMs = timed(() => void JSON.parse(text))
const readMs = timed(() => void readBlock(JSON.parse(text)))
const nonVote = recorded.transactions.length
const trades =
  sum(Object.values(whole.decoding.venues).map((venue) => venue.events.trade)) / (warmUp + blocks)
const rate = (nonVote * 1000) / whole.msABlock.mean
const aTrade = (bytes: number): number => bytes / (trades * (warmUp + blocks))
const besides = (side: Side, bytes: number): object => ({
  ms_a_block: side.msABlock,
  cpu_ms_a_block: side.cpuMsABlock,
  bytes_a_trade_on_disk: aTrade(bytes)
})

await writeResult('ingest', {
  blocks,
  transactions_a_block: { total: nonVote + recorded.votes, not_votes: nonVote, trades },
  not_vote_transactions_per_second: Math.round(rate),
  times_live_rate: rate / LIVE_RATE,
  bar: 10,
  reached: rate / LIVE_RATE >= 10,
  ms_a_block: whole.msABlock,
  cpu_ms_a_block: whole.cpuMsABlock,
  cpu_ms_a_block_by_tenth: whole.cpuMsABlockByTenth,
  beside_each_other: {
    with_the_log: besides(withLog, bytesWithLog),
    without_the_log: besides(withoutLog, bytesWithoutLog)
  },
  transactions: {
    watched_signatures: WATCHED,
    cpu_ms_a_block: { without: unobserved.cpuMsABlock, with: observed.cpuMsABlock },
    // A source reads each block from JSON before it is ingested.
    slower: (observed.cpuMsABlock - unobserved.cpuMsABlock) / (unobserved.cpuMsABlock + readMs),
    slower_without_reading: observed.cpuMsABlock / unobserved.cpuMsABlock - 1,
    bar: 0.03
  },
  json_alone: { parse_ms_a_block: parseMs, parse_and_read_ms_a_block: readMs },
  bytes_a_trade_on_disk: aTrade(bytes),
  peak_rss_mib: peakRss / 2 ** 20,
  heap_mib: heap / 2 ** 20,
  verified_complete: complete
})
if (!complete) process.exitCode = 1
