/**
 * Measures whether threads that read blocks let ingest use more than one core. The recorded block is ingested repeatedly from
 * its JSON text: in one thread, and with threads that parse and read it, which hand its transactions over as a structured
 * clone or packed in the form of `storage/codec`. Fold and commit stay in order in one thread. Beside it: the processor time
 * of each stage. The bar is 1.6 times the blocks a second of one thread, on two cores.
 *
 *     node loadtest/ingest-threads.ts [blocks]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { decodeTransactions } from '../src/chain/decode-block.ts'
import type { Block, Transaction } from '../src/chain/transaction.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { loneIngester } from '../test/actors/ingest/lone-ingester.ts'
import type { Handover } from './ingest-threads/reader.ts'
import { packTransactions, unpackTransactions } from './ingest-threads/packed-transactions.ts'
import {
  binaryForm,
  plainTransaction,
  readBlock,
  recordedBlockText,
  type PlainTransaction
} from './recorded-block.ts'
import { writeResult } from './result.ts'

const blocks = Number(process.argv[2] ?? 200)
const BAR = 1.6
const WARM_UP = Math.min(30, blocks)
/** Blocks that a thread has been asked for: it always has a next one. */
const REQUESTED = 2
const ROUNDS = 12

const text = recordedBlockText()
const recorded = readBlock(JSON.parse(text))

interface Rate {
  readonly blocks_a_second: number
  /** CPU time of all threads; `main_` is that of the thread that folds. */
  readonly cpu_ms_a_block: number
  readonly main_cpu_ms_a_block: number
}

/** Ingests blocks whose transactions a function delivers, into a store of its own. */
async function ingested(next: () => Promise<readonly Transaction[]>): Promise<Rate> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-threads-'))
  const storage = await openEmbeddedStorage({ directory })
  try {
    const ingester = await loneIngester(storage)
    const now = () => ({ cpu: process.cpuUsage(), main: process.threadCpuUsage(), ms: performance.now() })
    let before = now()
    for (let n = 0; n < WARM_UP + blocks; n++) {
      if (n === WARM_UP) before = now()
      const block: Block = {
        ...recorded,
        ...{ slot: recorded.slot + n, parentSlot: recorded.slot + n - 1 },
        blockTime: recorded.blockTime + Math.floor(n / 2.5),
        transactions: await next()
      }
      await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1000 })
    }
    const { user, system } = process.cpuUsage(before.cpu)
    const main = process.threadCpuUsage(before.main)
    const head = await storage.blocks.head()
    if (head?.slot !== recorded.slot + WARM_UP + blocks - 1) throw new Error('a block is missing')
    return {
      blocks_a_second: (blocks * 1000) / (performance.now() - before.ms),
      cpu_ms_a_block: (user + system) / 1000 / blocks,
      main_cpu_ms_a_block: (main.user + main.system) / 1000 / blocks
    }
  } finally {
    await storage.close()
    rmSync(directory, { recursive: true })
  }
}

/** Ingests blocks that some threads read, in turn. */
async function ingestedFrom(threads: number, handover: Handover): Promise<Rate> {
  const workers = Array.from(
    { length: threads },
    () =>
      new Worker(join(import.meta.dirname, 'ingest-threads/reader.ts'), { workerData: { text, handover } })
  )
  const queues = workers.map(() => [] as unknown[])
  const arrivals = workers.map(() => Promise.withResolvers<void>())
  for (const [at, worker] of workers.entries()) {
    worker.on('message', (message: unknown) => {
      queues[at]!.push(message)
      arrivals[at]!.resolve()
      arrivals[at] = Promise.withResolvers()
    })
    for (let n = 0; n < REQUESTED; n++) worker.postMessage('next')
  }
  let turn = 0
  try {
    return await ingested(async () => {
      const at = turn++ % threads
      while (queues[at]!.length === 0) await arrivals[at]!.promise
      const message = queues[at]!.shift()
      workers[at]!.postMessage('next')
      return handover === 'packed'
        ? unpackTransactions(message as ArrayBuffer)
        : (message as PlainTransaction[]).map(binaryForm)
    })
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

/** Processor time of this thread and the collector for some work, in milliseconds. */
function cost(work: () => unknown): number {
  for (let n = 0; n < ROUNDS; n++) work()
  const before = process.cpuUsage()
  for (let n = 0; n < ROUNDS; n++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / ROUNDS
}

const plain = recorded.transactions.map(plainTransaction)
const packed = packTransactions(plain)
const cloned = serialize(plain)
const decoded = decodeTransactions(unpackTransactions(packed)).entries.length
if (decoded !== decodeTransactions(recorded.transactions).entries.length)
  throw new Error('packed transactions differ')
const stages = {
  parse: cost(() => JSON.parse(text)),
  parse_and_read: cost(() => readBlock(JSON.parse(text))),
  decode: cost(() => decodeTransactions(plain.map(binaryForm))),
  clone: {
    bytes: cloned.length,
    serialize: cost(() => serialize(plain)),
    deserialize: cost(() => deserialize(cloned))
  },
  packed: {
    bytes: packed.byteLength,
    pack: cost(() => packTransactions(plain)),
    unpack: cost(() => unpackTransactions(packed))
  },
  clone_of_events: cost(() => deserialize(serialize(decodeTransactions(plain.map(binaryForm)).entries)))
}

console.error(JSON.stringify(stages))
const rates = {
  decode_fold_commit_alone: await ingested(async () => plain.map(binaryForm)),
  one_thread: await ingested(async () => readBlock(JSON.parse(text)).transactions),
  clone_from_one_reader: await ingestedFrom(1, 'clone'),
  clone_from_two_readers: await ingestedFrom(2, 'clone'),
  packed_from_one_reader: await ingestedFrom(1, 'packed'),
  packed_from_two_readers: await ingestedFrom(2, 'packed')
}
const one = rates.one_thread
/** Blocks a second of two free cores as a multiple of those of one, by processor time: neither core can do more than its own. */
const bounds = Object.fromEntries(
  Object.entries(rates).flatMap(([name, { cpu_ms_a_block: all, main_cpu_ms_a_block: main }]) =>
    name.includes('from') ? [[name, one.cpu_ms_a_block / Math.max(main, all / 2)] as const] : []
  )
)
const best = Math.max(...Object.values(bounds))
await writeResult('ingest-threads', {
  blocks,
  transactions_a_block: plain.length,
  cpu_ms_a_block: stages,
  rates,
  bounds_on_two_cores: bounds,
  bar: BAR,
  reached: best >= BAR
})
