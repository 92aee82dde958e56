/**
 * Measures the revenue ledger in two parts; rounds of each alternate with those of what it is compared with.
 *
 * First, ingest of the recorded mainnet block under successive slots, while the follower of the ledger runs. It is measured
 * without a watched address, with 200 that do not occur, and with the 200 that change most, without and with a client on the
 * channel of their rows. Second, totals and events of 200 addresses with a million entries, against a bare route that sends
 * the answer's bytes. The entries are verified at the end of each part. What a part has measured is printed even if the
 * other part, or its verification, fails. Takes about five minutes:
 *
 *     node loadtest/ledger.ts [--small]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { setServingHeap } from '../src/kernel/memory/serving-heap.ts'
import type { LedgerChange, LedgerEntry } from '../src/revenue/ledger-entry.ts'
import { ledgerProgressIn } from '../src/revenue/ledger-progress.ts'
import { LedgerWriter } from '../src/revenue/ledger-writer.ts'
import { packPage, type LedgerPart } from '../src/revenue/packed-page.ts'
import { WatchedAddresses } from '../src/revenue/watched-addresses.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { loneIngester } from '../test/actors/ingest/lone-ingester.ts'
import { changesOfAll } from '../test/revenue/balance-totals.ts'
import { answersOf, startBareSide } from './bare-side.ts'
import { measure, type Measurement } from './closed-loop.ts'
import { LedgerIngest, TURN } from './ledger-ingest.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { readBlock, RECORDED_SLOT, recordedBlockText, repeated } from './recorded-block.ts'
import { reported, writeResult } from './result.ts'
import { HEADERS } from './service-process.ts'

const ADDRESSES = 200
/** Tenant of the key of the load. */
const TENANT = 'operator'
const WARM_UP = 25
/** Slots between two blocks with entries of the served ledger, two minutes of the chain: a million entries are a day. */
const SLOTS_BETWEEN = 864
const SLOT_SECONDS = 0.4
const ENTRIES_A_BLOCK = 20
const MINTS = 3
/** Connections of the load on answers: a tenant that polls with two clients. */
const CONNECTIONS = 2

setServingHeap(false)
const { values } = parseArgs({ options: { small: { type: 'boolean' } } })
const isSmall = values.small === true
const [blocks, slots, seconds] = isSmall ? [50, 25, 2] : [400, 250, 5]

const recorded = readBlock(JSON.parse(recordedBlockText()))
const blockAt = repeated(recorded)
const changed = [...changesOfAll(recorded.transactions)].sort(([, a], [, b]) => b.length - a.length)
const busiest = new Map(changed.slice(0, ADDRESSES))
const entriesABlock = [...busiest.values()].reduce((sum, { length }) => sum + length, 0)

/** Returns an address of a kind by its number. */
function address(kind: number, n: number): string {
  const bytes = new Uint8Array(32).fill(kind)
  new DataView(bytes.buffer).setUint32(0, Math.imul(n + 1, 2_654_435_761))
  return pubkeyToBase58(bytes)
}

const directories: string[] = []
function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-ledger-'))
  directories.push(directory)
  return directory
}

async function measureIngest() {
  const open = async (addresses: readonly string[], isHeard = false) =>
    LedgerIngest.open(join(newDirectory(), 'store'), addresses, blockAt, isHeard)
  const absent = Array.from({ length: ADDRESSES }, (_, n) => address(9, n))
  const sides = {
    none: await open([]),
    absent: await open(absent),
    busy: await open([...busiest.keys()]),
    heard: await open([...busiest.keys()], true)
  }
  const all = Object.values(sides)
  let place = 1
  for (; place <= WARM_UP + blocks; place += TURN)
    for (const side of (place / TURN) % 2 < 1 ? all : all.toReversed())
      await side.turn(place, place > WARM_UP)
  const shown = ({ cpuMicros, taken, commitsMs }: LedgerIngest) => ({
    cpu_ms_a_block: cpuMicros / 1_000 / taken,
    cpu_ratio: cpuMicros / taken / (sides.none.cpuMicros / sides.none.taken),
    commit_p50_ratio: quantile(commitsMs, 0.5) / quantile(sides.none.commitsMs, 0.5),
    commit_p99_ratio: quantile(commitsMs, 0.99) / quantile(sides.none.commitsMs, 0.99)
  })
  const figures = {
    blocks: sides.none.taken,
    transactions_a_block: recorded.transactions.length,
    entries_a_block_of_busy: entriesABlock,
    none: shown(sides.none),
    absent: shown(sides.absent),
    busy: shown(sides.busy),
    busy_with_a_client: shown(sides.heard)
  }
  const wrong = await Promise.all(all.map((side) => side.verified(place - 1, busiest)))
  return { ...figures, addresses_with_wrong_entries: wrong.reduce((sum, each) => sum + each, 0) }
}

function quantile(list: readonly number[], share: number): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length * share)]!
}

const valued = (change: LedgerChange): LedgerEntry => ({ ...change, valueUsd: 12.345678, feeUsd: null })

/** The stored bytes of the recorded block's entries. */
function measureBytes() {
  const parts = [...busiest].map(([each, changes]): LedgerPart => ({
    address: each,
    slot: RECORDED_SLOT,
    blockTime: recorded.blockTime,
    blockhash: null,
    entries: changes.map(valued)
  }))
  const sizes = parts.map((part) => packPage(part).value.length)
  return {
    pages_a_block: sizes.length,
    bytes_a_block: sizes.reduce((sum, size) => sum + size, 0),
    largest_page_bytes: Math.max(...sizes),
    entries_of_largest_page: Math.max(...parts.map(({ entries }) => entries.length))
  }
}

/** Fills a store with the ledgers of 200 addresses; a balance goes up by 1 to 20 in each entry. */
async function fill(directory: string): Promise<void> {
  const storage = await openEmbeddedStorage({ directory: join(directory, 'store') })
  const ingester = await loneIngester(storage)
  const registry = new WatchedAddresses(storage.documents)
  const watched = Array.from({ length: ADDRESSES }, (_, n) => address(7, n))
  for (const [n, each] of watched.entries()) {
    await registry.watch(TENANT, { address: each, label: each, role: n % 2 === 0 ? 'a' : 'b' }, 1)
  }
  const captureFrom = { slot: RECORDED_SLOT, ts: recorded.blockTime }
  for (const each of await registry.all()) await registry.begin(each, captureFrom)
  const writer = new LedgerWriter(storage)
  const { save } = await ledgerProgressIn(storage.documents).claim(1)
  const [change] = busiest.values().next().value!
  for (let place = 0; place < slots; place++) {
    const slot = RECORDED_SLOT + place * SLOTS_BETWEEN
    const blockTime = recorded.blockTime + Math.floor(place * SLOTS_BETWEEN * SLOT_SECONDS)
    const parentSlot = place === 0 ? null : slot - SLOTS_BETWEEN
    const block = { ...blockAt(place), slot, blockTime, parentSlot, transactions: [] }
    await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: blockTime * 1_000 })
    await writer.put(
      watched.map((each) => ({
        ...{ address: each, slot, blockTime, blockhash: null },
        entries: Array.from({ length: ENTRIES_A_BLOCK }, (_, index) => ({
          ...valued(change!),
          ...{ txIndex: index, index: 0, account: each, isNative: false, mint: address(8, index % MINTS) },
          ...{ pre: BigInt(place), post: BigInt(place + index + 1) }
        }))
      }))
    )
    await save({ slot, blockhash: null, blockTime, holes: [], documentsTo: -1 })
  }
  await storage.close()
}

interface EventPage {
  readonly data: readonly { readonly delta_raw: string; readonly cursor: string }[]
  readonly nextCursor: string | null
}

/** Reads the whole ledger of an address. Returns whether each entry is there once, with its change. */
async function isWhole(url: string, of: string): Promise<boolean> {
  const seen = new Set<string>()
  let [delta, rows] = [0n, 0]
  for (let after = ''; ;) {
    const query = `limit=1000&order=asc&address=${of}${after === '' ? '' : `&after=${after}`}`
    const response = await fetch(`${url}/v1/revenue/events?${query}`, { headers: HEADERS })
    const page = (await response.json()) as EventPage
    for (const row of page.data) {
      rows++
      delta += BigInt(row.delta_raw)
      seen.add(row.cursor)
    }
    if (page.nextCursor === null) break
    after = page.nextCursor
  }
  const number = slots * ENTRIES_A_BLOCK
  const sum = (number / 2) * (ENTRIES_A_BLOCK + 1)
  return rows === number && seen.size === number && delta === BigInt(sum)
}

/** Loads a path and a bare route with its body alternately, after an uncounted round. */
async function against(service: MeasuredProcess, path: string) {
  const { bodies } = await answersOf(service, [path])
  const bare = await startBareSide(bodies, { 'content-type': 'application/json' })
  try {
    const made = { millrace: [] as Measurement[], bare_route: [] as Measurement[] }
    const load = (url: string) => ({ headers: HEADERS, paths: Array(CONNECTIONS).fill([url]), seconds })
    for (let round = 0; round <= 2; round++) {
      const both = [await measure(service, load(path)), await measure(bare.server, load('/'))] as const
      if (round === 0) continue
      made.millrace.push(both[0])
      made.bare_route.push(both[1])
    }
    const [ours, theirs] = [shownRounds(made.millrace), shownRounds(made.bare_route)]
    return {
      bytes: bodies[0]!.length,
      millrace: ours,
      bare_route: theirs,
      p50_ratio: ours.p50_ms / theirs.p50_ms,
      p99_ratio: ours.p99_ms / theirs.p99_ms
    }
  } finally {
    await bare.end()
  }
}

function shownRounds(made: readonly Measurement[]) {
  const mean = (of: (each: Measurement) => number) =>
    made.reduce((sum, each) => sum + of(each), 0) / made.length
  const others = made.flatMap(({ statuses }) =>
    Object.entries(statuses).filter(([status]) => status !== '200')
  )
  return {
    requests_per_second: mean(({ perSecond }) => perSecond),
    p50_ms: mean(({ p50Ms }) => p50Ms),
    p99_ms: Math.max(...made.map(({ p99Ms }) => p99Ms)),
    cpu_us_a_request: mean(({ cpuMicros }) => cpuMicros),
    ...(others.length > 0 && { other_statuses: Object.fromEntries(others) })
  }
}

async function measureAnswers() {
  const directory = newDirectory()
  await fill(directory)
  const service = await startMeasured('ledger-service.ts', [directory])
  try {
    const answers = {
      totals_of_a_day: await against(service, '/v1/revenue/totals'),
      totals_of_an_hour: await against(service, '/v1/revenue/totals?window=3600'),
      newest_100_events: await against(service, '/v1/revenue/events'),
      newest_100_of_one_address: await against(service, `/v1/revenue/events?address=${address(7, 0)}`)
    }
    let wrong = 0
    for (let n = 0; n < ADDRESSES; n++) if (!(await isWhole(service.url, address(7, n)))) wrong++
    return {
      addresses: ADDRESSES,
      entries: ADDRESSES * slots * ENTRIES_A_BLOCK,
      mints: MINTS,
      ...answers,
      addresses_with_wrong_entries: wrong
    }
  } finally {
    await service.end()
  }
}

/** Resolves with the figures of a part; with its fault if it fails, which is printed. */
async function figuresOf<Figures extends object>(part: string, measuring: () => Promise<Figures>) {
  try {
    return await measuring()
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${part} failed: ${fault}\n`)
    process.exitCode = 1
    return { fault }
  }
}

try {
  const load = loadavg()[0]
  const ingest = reported('ingest', await figuresOf('ingest', measureIngest))
  const answers = await figuresOf('answers', measureAnswers)
  const figures = { load_of_the_machine: load, addresses: ADDRESSES, ingest, writes: measureBytes(), answers }
  if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  else await writeResult('ledger', figures)
  for (const part of [ingest, answers])
    if ('addresses_with_wrong_entries' in part && part.addresses_with_wrong_entries > 0) process.exitCode = 1
} finally {
  for (const directory of directories) rmSync(directory, { recursive: true })
}
