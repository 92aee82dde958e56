/**
 * Measures ingest of the recorded mainnet block, repeated under new slots, into one CQL node on this machine. The unit is
 * rows a second. The comparison, in alternate rounds, is the bare driver's best rate for rows of equal sizes, in unlogged
 * single-partition batches of 30.
 *
 * Blocks are decoded and folded before a round, and committed as ingest does it: several in flight at once. A block's rows
 * are those of all tables that the adapter writes when the block is flushed alone; its copy in the journal and the
 * watermarks do not count. A round ends when the adapter is closed, and so all rows are in the tables.
 *
 *     node loadtest/scylla-ingest.ts [blocks a round] [rounds]
 */
import { IN_FLIGHT_MAX } from '../actors/ingest/ingester.ts'
import { cursorAt } from '../src/market/cursor.ts'
import type { BlockCommit, Storage } from '../storage/port.ts'
import { RECORDED_SLOT } from './recorded-block.ts'
import { writeResult } from './result.ts'
import { BATCH_ROWS, BareWriter, SentRows } from './scylla-bare.ts'
import { recordedCommits } from './scylla-blocks.ts'
import { startCql, timed, withConcurrency, type RoundTime } from './scylla-server.ts'
import { verify } from './scylla-verify.ts'
import { median } from './series.ts'

const BAR = 0.7
const WARM_UP_BLOCKS = 60
const COUNTED_BLOCKS = 20
const WARM_UP_ROUNDS = 12
const CONCURRENCIES = [8, 16, 32, 64, 128]

const COUNTED_AS =
  'rows of all tables that a block writes when it is flushed alone, without its copy in the journal and watermarks'

const blocks = Number(process.argv[2] ?? 200)
const rounds = Number(process.argv[3] ?? 5)
const { commits, reference, remove } = await recordedCommits(WARM_UP_BLOCKS + blocks * (rounds + 1))
const cql = await startCql()
let next = 0
const waits: number[] = []

/** Commits the blocks in order, with as many in flight as ingest has. */
async function commitAll(storage: Storage, blocks: readonly BlockCommit[]): Promise<void> {
  await withConcurrency(IN_FLIGHT_MAX, blocks.length, async (i) => {
    const started = performance.now()
    if (!(await storage.blocks.commit(blocks[i]!, undefined, blocks[i - 1]?.slot.slot)))
      throw new Error(`slot ${blocks[i]!.slot.slot} is stored already`)
    waits.push(performance.now() - started)
  })
}

async function commitBlocks(count: number): Promise<void> {
  next += count
  await commitAll(cql.storage, commits.slice(next - count, next))
}

/** Returns the rows that blocks write when each is flushed alone. */
async function rowsAlone(): Promise<SentRows> {
  const storage = await cql.open('counted', { flushBlocks: 1 })
  await storage.blocks.claim(null)
  const alone = new SentRows(['journal', 'writers'])
  for (const commit of commits.slice(0, WARM_UP_BLOCKS)) await storage.blocks.commit(commit)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await alone.count(async () => {
    for (const commit of commits.slice(WARM_UP_BLOCKS, WARM_UP_BLOCKS + COUNTED_BLOCKS))
      await storage.blocks.commit(commit)
    await storage.close()
  })
  return alone
}

const alone = await rowsAlone()
const rowsPerBlock = alone.sizes.length / COUNTED_BLOCKS
const bare = new BareWriter(cql.bare)
await bare.prepare()

/** Returns the block at a later slot. */
function later(commit: BlockCommit, slots: number): BlockCommit {
  const shifted = <Row extends { readonly slot: number; readonly cursor: number }>(row: Row): Row => ({
    ...row,
    slot: row.slot + slots,
    cursor: row.cursor + cursorAt(slots, 0)
  })
  const { slot, trades, poolEvents, log } = commit
  return {
    ...commit,
    slot: { ...slot, slot: slot.slot + slots },
    trades: trades.map(shifted),
    poolEvents: poolEvents.map(shifted),
    log: log.map(({ channel, slot, events }) => ({
      channel,
      slot: slot + slots,
      events: events.map(({ cursor, body }) => ({ cursor: cursor + cursorAt(slots, 0), body }))
    }))
  }
}

/** Runs all statements before anything is measured: the server compiles the code that it runs often. */
async function warmUp(): Promise<void> {
  const storage = await cql.open('counted')
  await storage.blocks.claim(null)
  for (let round = 1; round <= WARM_UP_ROUNDS; round++) {
    await commitAll(
      storage,
      commits.slice(0, blocks).map((commit) => later(commit, round * 10_000))
    )
    await bare.batchesOf(alone.sizes.flatMap((size) => [size, size, size]))(64)
  }
  await storage.close()
}

await warmUp()
await cql.storage.blocks.claim(null)
await commitBlocks(WARM_UP_BLOCKS)
await cql.reopen()
await cql.storage.blocks.claim(null)
const sent = new SentRows()
await sent.count(async () => {
  await commitBlocks(blocks)
  await cql.storage.close()
})
/** Sizes of as many rows as a round of blocks writes, in their order. */
const sizes = Array.from(
  { length: Math.round(rowsPerBlock * blocks) },
  (_, i) => alone.sizes[i % alone.sizes.length]!
)

const trials: Record<number, number> = {}
await bare.batchesOf(sizes)(32)
for (const concurrency of CONCURRENCIES) {
  const send = bare.batchesOf(sizes)
  const { ms } = await timed(cql, () => send(concurrency))
  trials[concurrency] = (sizes.length / ms) * 1_000
}
const concurrency = CONCURRENCIES.toSorted((a, b) => trials[b]! - trials[a]!)[0]!

const ours: RoundTime[] = []
const bares: RoundTime[] = []
waits.length = 0
for (let round = 0; round < rounds; round++) {
  await cql.reopen()
  await cql.storage.blocks.claim(null)
  ours.push(
    await timed(cql, async () => {
      await commitBlocks(blocks)
      await cql.storage.close()
    })
  )
  const send = bare.batchesOf(sizes)
  bares.push(await timed(cql, () => send(concurrency)))
}
await cql.reopen()
const verdict = await verify(cql.storage, reference, commits.slice(0, next))
const head = await cql.storage.blocks.head()
await cql.end()
await remove()

const rate = ({ ms }: RoundTime): number => (sizes.length / ms) * 1_000
const ratios = ours.map((time, i) => rate(time) / rate(bares[i]!))
const complete = verdict.wrong.length === 0 && head?.slot === RECORDED_SLOT + next - 1
const of = (times: readonly RoundTime[]) => ({
  rows_per_second: Math.round(median(times.map(rate))),
  rounds: times.map((time) => Math.round(rate(time))),
  cpu_us_a_row: median(times.map(({ cpuMs }) => (cpuMs * 1_000) / sizes.length)),
  server_cpu_us_a_row: median(times.map(({ serverCpuMs }) => (serverCpuMs * 1_000) / sizes.length))
})
waits.sort((a, b) => a - b)
const tablesOf = ({ tables }: SentRows, blocks: number) =>
  Object.fromEntries(
    [...tables].map(([table, { requests, rows, bytes }]) => [
      table,
      { requests_a_block: requests / blocks, rows_a_block: rows / blocks, bytes_a_row: bytes / rows }
    ])
  )
const bytesOf = ({ sizes }: SentRows): number => sizes.reduce((sum, bytes) => sum + bytes, 0)

await writeResult('scylla-ingest', {
  counted_as: COUNTED_AS,
  blocks_a_round: blocks,
  blocks_under_way: IN_FLIGHT_MAX,
  rows_a_block: rowsPerBlock,
  bytes_a_row: bytesOf(alone) / alone.sizes.length,
  tables: tablesOf(alone, COUNTED_BLOCKS),
  sent: {
    requests_a_block: sent.requests / blocks,
    reads_a_block: sent.reads / blocks,
    rows_a_block: sent.sizes.length / blocks,
    bytes_a_block: bytesOf(sent) / blocks,
    tables: tablesOf(sent, blocks)
  },
  adapter: {
    ...of(ours),
    ms_a_block: median(ours.map(({ ms }) => ms / blocks)),
    ms_a_commit: { p50: waits[Math.floor(waits.length * 0.5)], p99: waits[Math.floor(waits.length * 0.99)] }
  },
  bare_driver: {
    ...of(bares),
    rows_a_batch: BATCH_ROWS,
    concurrency,
    rows_per_second_by_concurrency: trials
  },
  ratio: median(ratios),
  ratios,
  bar: BAR,
  reached: median(ratios) >= BAR,
  verified: { rows: verdict.rows, records: verdict.records, wrong: verdict.wrong.slice(0, 20) },
  verified_complete: complete
})
if (!complete) process.exitCode = 1
