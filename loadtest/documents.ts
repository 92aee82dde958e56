/**
 * Measures commits of the recorded mainnet block at the live rate while the positions of 1,000 documents are stored twice a
 * second. The comparison is commits without these writes, on one store in alternating phases. At the end every document must
 * have its last stored position. Runs on the embedded store, then on one CQL node of this machine:
 *
 *     node loadtest/documents.ts [blocks on each side]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Ingester } from '../actors/chain/ingester.ts'
import { defineDocument } from '../storage/document-definition.ts'
import { Documents, type Stored } from '../storage/documents.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import type { Storage } from '../storage/port.ts'
import { loneIngester } from '../test/actors/chain/lone-ingester.ts'
import { readBlock, RECORDED_SLOT, recordedBlockText, repeated } from './recorded-block.ts'
import { writeResult } from './result.ts'
import { startCql } from './scylla-server.ts'

const RATIO_MAX = 1.25
const LIVE_SLOT_MS = 400
const BLOCKS_PER_PHASE = 25
const TENANTS = 20
const DOCUMENTS_PER_TENANT = 50
const WRITES_PER_SECOND = 2_000
/** Interval of the bursts of writes, in milliseconds. */
const BURST_EVERY_MS = 10
const TOKEN = 1

/** A webhook as the next product stores it, as far as it counts here. */
const WEBHOOK = defineDocument({
  kind: 'loadtest-webhook',
  schema: z.object({ tenant: z.string(), id: z.string(), url: z.string() }),
  partition: ({ tenant }) => tenant,
  key: ({ id }) => [id],
  hot: z.object({ position: z.number() })
})
type Webhook = z.infer<typeof WEBHOOK.schema>
type Webhooks = Documents<Webhook, never, never, { position: number }>

const blocks = Math.ceil(Number(process.argv[2] ?? 400) / BLOCKS_PER_PHASE) * BLOCKS_PER_PHASE
const recorded = readBlock(JSON.parse(recordedBlockText()))
const blockAt = repeated(recorded)

/** Stores positions of documents at a constant rate while it runs, and records which writes were answered. */
class PositionWriter {
  readonly #webhooks: Webhooks
  readonly #documents: readonly Stored<Webhook>[]
  /** The last position that was stored of each document. */
  readonly positions: number[]
  readonly waits: number[] = []
  readonly refusals: unknown[] = []
  #written = 0
  runMs = 0

  constructor(webhooks: Webhooks, documents: readonly Stored<Webhook>[]) {
    this.#webhooks = webhooks
    this.#documents = documents
    this.positions = documents.map(() => 0)
  }

  get writesPerSecond(): number {
    return (this.waits.length * 1_000) / this.runMs
  }

  /** Writes until the signal aborts, without waiting for answers, and resolves once all have arrived. */
  async run(until: AbortSignal): Promise<void> {
    const began = performance.now()
    const writes: Promise<void>[] = []
    for (let sent = 0; !until.aborted; await sleep(BURST_EVERY_MS)) {
      const due = ((performance.now() - began) * WRITES_PER_SECOND) / 1_000
      for (; sent < due; sent++) writes.push(this.#write())
    }
    await Promise.all(writes)
    this.runMs += performance.now() - began
  }

  async #write(): Promise<void> {
    const place = this.#written % this.#documents.length
    const position = ++this.#written
    const started = performance.now()
    try {
      await this.#webhooks.putHot(this.#documents[place]!, TOKEN, { position })
      this.positions[place] = position
      this.waits.push(performance.now() - started)
    } catch (error) {
      this.refusals.push(error)
    }
  }
}

/** Ingests blocks at the live rate; returns the milliseconds of each commit. */
async function phase(ingester: Ingester, waits: number[], places: readonly number[]): Promise<number[]> {
  const from = waits.length
  for (const place of places) {
    const due = sleep(LIVE_SLOT_MS)
    const block = blockAt(place)
    await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1_000 })
    await due
  }
  return waits.slice(from)
}

async function measured(storage: Storage, reopen: () => Promise<Storage>) {
  const webhooks: Webhooks = new Documents(storage.documents, WEBHOOK)
  const documents: Stored<Webhook>[] = []
  for (let n = 0; n < TENANTS * DOCUMENTS_PER_TENANT; n++) {
    const value = { tenant: `tenant-${n % TENANTS}`, id: `webhook-${n}`, url: 'https://example.org/hook' }
    const inserted = await webhooks.insert(value)
    if (!inserted.ok) throw new Error(`a new store refuses a document: ${inserted.reason}`)
    documents.push(inserted.stored)
  }
  const commits: number[] = []
  const ingester = await loneIngester(storage, {
    async commit(...block) {
      const started = performance.now()
      const isNew = await storage.blocks.commit(...block)
      commits.push(performance.now() - started)
      return isNew
    },
    history: storage.history
  })
  const writer = new PositionWriter(webhooks, documents)
  const sides = { without: [] as number[], beside: [] as number[] }
  let next = 0
  const places = () => Array.from({ length: BLOCKS_PER_PHASE }, () => next++)
  const load: number[] = []
  // The first phase of each side is its warm-up.
  for (let from = -BLOCKS_PER_PHASE; from < blocks; from += BLOCKS_PER_PHASE) {
    const order =
      (from / BLOCKS_PER_PHASE) % 2 === 0
        ? (['without', 'beside'] as const)
        : (['beside', 'without'] as const)
    for (const side of order) {
      const end = new AbortController()
      const writing = side === 'beside' ? writer.run(end.signal) : null
      const waits = await phase(ingester, commits, places())
      end.abort()
      await writing
      if (from >= 0) sides[side].push(...waits)
      load.push(loadavg()[0]!)
    }
  }
  const again = await reopen()
  const stored = await new Documents(again.documents, WEBHOOK).hot(documents)
  const lost = stored.filter((hot, place) => (hot?.position ?? 0) !== writer.positions[place]).length
  const head = (await again.blocks.head())?.slot
  const [without, beside] = [summary(sides.without), summary(sides.beside)]
  return {
    blocks_each: blocks,
    commit_ms_without: without,
    commit_ms_beside: beside,
    p99_ratio: beside.p99 / without.p99,
    writes: writer.waits.length,
    writes_a_second: writer.writesPerSecond,
    write_ms: summary(writer.waits),
    refused: writer.refusals.length,
    documents: documents.length,
    documents_with_another_position: lost,
    blocks_lost: RECORDED_SLOT + next - 1 - (head ?? 0),
    load_of_the_machine: summary(load).mean
  }
}

function summary(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)]!
  return { mean: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length, p50: at(0.5), p99: at(0.99) }
}

async function onEmbedded() {
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-documents-'))
  const directory = join(scratch, 'store')
  let storage = await openEmbeddedStorage({ directory })
  try {
    return await measured(storage, async () => {
      await storage.close()
      return (storage = await openEmbeddedStorage({ directory }))
    })
  } finally {
    await storage.close()
    rmSync(scratch, { recursive: true })
  }
}

async function onCql() {
  const cql = await startCql()
  try {
    return await measured(cql.storage, async () => {
      await cql.reopen()
      return cql.storage
    })
  } finally {
    await cql.end()
  }
}

const adapters = { embedded: await onEmbedded(), cql: await onCql() }
const reached = Object.values(adapters).every(
  (figures) =>
    figures.p99_ratio <= RATIO_MAX &&
    figures.writes_a_second >= WRITES_PER_SECOND * 0.98 &&
    figures.refused + figures.documents_with_another_position + figures.blocks_lost === 0
)
await writeResult('documents', {
  reached,
  p99_ratio_max: RATIO_MAX,
  writes_a_second_wanted: WRITES_PER_SECOND,
  ms_between_blocks: LIVE_SLOT_MS,
  ...adapters
})
if (!reached) process.exitCode = 1
