/**
 * Measures the revenue ledger in three parts; rounds of each alternate with those of what it is compared with.
 *
 * First, ingest of the recorded mainnet block under successive slots, while the follower of the ledger runs. It is measured
 * without a watched address, with 200 that do not occur, and with the 200 that change most. Second, the entries that the
 * ledger stores on the embedded store, against a bare loop that stores documents of equal sizes. Third, totals and events of
 * 200 addresses with a million entries, against a bare route that sends the answer's bytes. The entries are verified at the
 * end of each part. Takes about five minutes:
 *
 *     node loadtest/ledger.ts [--small]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import type { LedgerChange, LedgerEntry } from '../src/revenue/ledger-entry.ts'
import { LedgerWriter, type LedgerPart } from '../src/revenue/ledger-writer.ts'
import { WatchedAddresses } from '../src/revenue/watched-addresses.ts'
import { defineDocument } from '../storage/document-definition.ts'
import type { DocumentStore } from '../storage/document-store.ts'
import { Documents } from '../storage/documents.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { loneIngester } from '../test/actors/ingest/lone-ingester.ts'
import { changesOfAll } from '../test/revenue/balance-totals.ts'
import { measure, type Measurement } from './closed-loop.ts'
import { LedgerIngest, TURN } from './ledger-ingest.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { readBlock, RECORDED_SLOT, recordedBlockText, repeated } from './recorded-block.ts'
import { writeResult } from './result.ts'
import { HEADERS } from './served-market.ts'

const ADDRESSES = 200
/** Tenant of the key of the load. */
const TENANT = 'operator'
const WARM_UP = 25
/** Addresses whose entries are stored at once, as the follower does it. */
const AT_ONCE = 16
/** Block interval of the served ledger, in seconds: all blocks are within a day. */
const SLOT_SECONDS = 300
const ENTRIES_A_BLOCK = 20
const MINTS = 3
/** Connections of the load on answers: a tenant that polls with two clients. */
const CONNECTIONS = 2

const { values } = parseArgs({ options: { small: { type: 'boolean' } } })
const isSmall = values.small === true
const [blocks, rounds, slots, seconds] = isSmall ? [50, 2, 25, 2] : [400, 8, 250, 5]

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
  const open = async (addresses: readonly string[]) =>
    LedgerIngest.open(join(newDirectory(), 'store'), addresses, blockAt)
  const absent = Array.from({ length: ADDRESSES }, (_, n) => address(9, n))
  const sides = {
    none: await open([]),
    absent: await open(absent),
    busy: await open([...busiest.keys()])
  }
  const all = Object.values(sides)
  let place = 1
  for (; place <= WARM_UP + blocks; place += TURN)
    for (const side of (place / TURN) % 2 < 1 ? all : all.toReversed())
      await side.turn(place, place > WARM_UP)
  const count = place - 1
  const wrong = {
    none: await sides.none.verified(count, busiest),
    absent: await sides.absent.verified(count, busiest),
    busy: await sides.busy.verified(count, busiest)
  }
  const shown = ({ cpuMicros, taken, commitsMs }: LedgerIngest) => ({
    cpu_ms_a_block: cpuMicros / 1_000 / taken,
    cpu_ratio: cpuMicros / taken / (sides.none.cpuMicros / sides.none.taken),
    commit_p50_ratio: quantile(commitsMs, 0.5) / quantile(sides.none.commitsMs, 0.5),
    commit_p99_ratio: quantile(commitsMs, 0.99) / quantile(sides.none.commitsMs, 0.99)
  })
  return {
    blocks: sides.none.taken,
    transactions_a_block: recorded.transactions.length,
    entries_a_block_of_busy: entriesABlock,
    none: shown(sides.none),
    absent: shown(sides.absent),
    busy: shown(sides.busy),
    addresses_with_wrong_entries: wrong.none + wrong.absent + wrong.busy
  }
}

function quantile(list: readonly number[], share: number): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length * share)]!
}

const valued = (change: LedgerChange): LedgerEntry => ({ ...change, valueUsd: 12.345678, feeUsd: null })

function partsAt(slot: number): readonly LedgerPart[] {
  return [...busiest].map(([each, changes]) => ({
    address: each,
    slot,
    blockTime: recorded.blockTime + slot,
    blockhash: null,
    entries: changes.map(valued)
  }))
}

const BARE = defineDocument({
  kind: 'loadtest-bytes',
  schema: z.object({ partition: z.string(), n: z.number(), text: z.string() }),
  partition: ({ partition }) => partition,
  key: ({ n }) => [n]
})
/** Bytes of a bare document other than its text. */
const BARE_BYTES = 80

/** A store that notes the sizes of the documents that are written for an address. */
function noting(documents: DocumentStore, sizes: Map<string, number[]>): DocumentStore {
  return {
    ...documents,
    get: async (of) => documents.get(of),
    list: async (range) => documents.list(range),
    put: async (row, ...rest) => {
      const { partition } = row.address
      sizes.set(partition, [...(sizes.get(partition) ?? []), row.value.length])
      return documents.put(row, ...rest)
    }
  }
}

async function inChunks<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map(work))
}

async function measureWrites() {
  const storage = await openEmbeddedStorage({ directory: join(newDirectory(), 'store') })
  const bareStorage = await openEmbeddedStorage({ directory: join(newDirectory(), 'store') })
  const bare = new Documents(bareStorage.documents, BARE)
  const sizes = new Map<string, number[]>()
  await inChunks(partsAt(1), async (part) => new LedgerWriter(noting(storage.documents, sizes)).put(part))
  const writer = new LedgerWriter(storage.documents)
  const rates = { ledger: [] as number[], bare: [] as number[] }
  let [slot, n] = [2, 0]
  const timed = async (work: () => Promise<void>): Promise<number> => {
    const started = performance.now()
    for (let block = 0; block < 20; block++) await work()
    return (20 * entriesABlock * 1_000) / (performance.now() - started)
  }
  for (let round = 0; round <= rounds; round++) {
    const ledger = await timed(async () => inChunks(partsAt(slot++), async (part) => writer.put(part)))
    const plain = await timed(async () =>
      inChunks([...sizes], async ([partition, list]) => {
        for (const size of list)
          await bare.insert({ partition, n: n++, text: 'x'.repeat(Math.max(1, size - BARE_BYTES)) })
      })
    )
    // The first round is a warm-up.
    if (round === 0) continue
    rates.ledger.push(ledger)
    rates.bare.push(plain)
  }
  await Promise.all([storage.close(), bareStorage.close()])
  const [ledger, plain] = [quantile(rates.ledger, 0.5), quantile(rates.bare, 0.5)]
  return {
    rounds,
    documents_a_block: [...sizes.values()].reduce((sum, { length }) => sum + length, 0),
    bytes_a_block: [...sizes.values()].flat().reduce((sum, size) => sum + size, 0),
    entries_a_second: { ledger, bare_loop: plain },
    ratio: ledger / plain
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
  const writer = new LedgerWriter(storage.documents)
  const [change] = busiest.values().next().value!
  for (let place = 0; place < slots; place++) {
    const block = { ...blockAt(place, place * SLOT_SECONDS), transactions: [] }
    await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1_000 })
    await inChunks(watched, async (each) => {
      const entries = Array.from({ length: ENTRIES_A_BLOCK }, (_, index) => ({
        ...valued(change!),
        ...{ txIndex: index, index: 0, account: each, isNative: false, mint: address(8, index % MINTS) },
        ...{ pre: BigInt(place), post: BigInt(place + index + 1) }
      }))
      const { slot, blockTime } = block
      await writer.put({ address: each, slot, blockTime, blockhash: null, entries })
    })
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
  const response = await fetch(service.url + path, { headers: HEADERS })
  const body = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${body.toString()}`)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  const file = join(newDirectory(), 'bodies')
  writeFileSync(file, Buffer.concat([length, body]))
  const bare = await startMeasured('bare-route.ts', [
    file,
    JSON.stringify({ 'content-type': 'application/json' })
  ])
  try {
    const made = { millrace: [] as Measurement[], bare_route: [] as Measurement[] }
    const load = (url: string) => ({ headers: HEADERS, paths: Array(CONNECTIONS).fill([url]), seconds })
    for (let round = 0; round <= 2; round++) {
      const both = [await measure(service, load(path)), await measure(bare, load('/'))] as const
      if (round === 0) continue
      made.millrace.push(both[0])
      made.bare_route.push(both[1])
    }
    const [ours, theirs] = [shownRounds(made.millrace), shownRounds(made.bare_route)]
    return {
      bytes: body.length,
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
  if (made.some(({ statuses }) => Object.keys(statuses).join() !== '200')) throw new Error('a request failed')
  const mean = (of: (each: Measurement) => number) =>
    made.reduce((sum, each) => sum + of(each), 0) / made.length
  return {
    requests_per_second: mean(({ perSecond }) => perSecond),
    p50_ms: mean(({ p50Ms }) => p50Ms),
    p99_ms: Math.max(...made.map(({ p99Ms }) => p99Ms)),
    cpu_us_a_request: mean(({ cpuMicros }) => cpuMicros)
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

try {
  const load = loadavg()[0]
  const figures = {
    load_of_the_machine: load,
    addresses: ADDRESSES,
    ingest: await measureIngest(),
    writes: await measureWrites(),
    answers: await measureAnswers()
  }
  if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  else await writeResult('ledger', figures)
  const { ingest, answers } = figures
  if (ingest.addresses_with_wrong_entries + answers.addresses_with_wrong_entries > 0) process.exitCode = 1
} finally {
  for (const directory of directories) rmSync(directory, { recursive: true })
}
