/**
 * Tracks transactions as the service does, on an embedded store, as the parent process directs. Arguments: the directory of
 * the store, and the URL of the node.
 */
import { Registry } from 'prom-client'
import { setTimeout as pause } from 'node:timers/promises'
import { ChangeLog } from '../../actors/transactions/change-log.ts'
import { Tracker } from '../../actors/transactions/tracker.ts'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { endOfEvents } from '../../src/market/cursor.ts'
import { systemPorts } from '../../src/ports.ts'
import { transactionMetrics } from '../../src/transactions/metrics.ts'
import { WatchedSignatures } from '../../src/transactions/block-sightings.ts'
import { RpcTransactionNode } from '../../src/transactions/node-client.ts'
import { REBROADCAST_MS, SUBMISSION, TRACKED_PER_TENANT_MAX } from '../../src/transactions/submission.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Submission } from '../../src/transactions/submission.ts'
import { UnsettledBatches } from '../../src/transactions/unsettled-batches.ts'
import { monotonicMs } from '../stream/trades.ts'
import { keyOf, nextTransfer } from './transfers.ts'

/** A message to the process. It answers each one. */
export type TrackerOrder =
  /** Stores transactions, and begins to track them evenly over one period of the loop. */
  | { readonly kind: 'track'; readonly count: number }
  /** Lets the loop run. */
  | { readonly kind: 'run'; readonly ms: number }
  | { readonly kind: 'memory' }
  | { readonly kind: 'anchors' }

/** Cost of a run of the loop. */
export interface RunCost {
  readonly cpuPerSecond: number
  /** Most transactions whose newest state was not stored, and most sends in flight. */
  readonly unwrittenMax: number
  readonly inFlightMax: number
}

export interface Anchors {
  /** Unix milliseconds at the start of the monotonic clock. */
  readonly offsetMs: number
  /** The first send of each transaction in Unix milliseconds, and the number of sends after it. */
  readonly sent: readonly (readonly [key: string, firstSentAtMs: number, rebroadcasts: number])[]
}

const INSERTED_AT_ONCE = 500
const STEP_MS = 5
const POLL_INTERVAL_MS = 20
const COLLECTIONS = 4
const TOKEN = 1

const storage = await openEmbeddedStorage({ directory: process.argv[2]! })
await storage.blocks.claim(null)
const documents = new Documents(storage.documents, SUBMISSION)
const claim = { token: TOKEN, lost: new AbortController().signal, held: true, outranked: () => undefined }
const report = (fault: unknown): void => void process.stderr.write(`${String(fault)}\n`)
const changes = new ChangeLog(
  {
    ...systemPorts,
    documents: storage.documents,
    isShared: false,
    ttlMs: null,
    head: () => endOfEvents(1),
    unsettled: new UnsettledBatches(),
    publish: () => undefined,
    report
  },
  new AbortController().signal
)
const tracker = new Tracker({
  ...systemPorts,
  node: new RpcTransactionNode(() => [process.argv[3]!], systemPorts.clock),
  leaders: null,
  engine: null,
  sightings: new WatchedSignatures(),
  documents: storage.documents,
  isShared: false,
  retentionMs: null,
  metrics: transactionMetrics(new Registry()),
  changes,
  report
})
void tracker.run(new AbortController().signal)
/** Keys of transactions with their tenants and signatures. */
const tracked: { readonly key: string; readonly tenant: string; readonly signature: string }[] = []

async function insert(count: number): Promise<Stored<Submission>[]> {
  const stored: Stored<Submission>[] = []
  for (let from = 0; from < count; from += INSERTED_AT_ONCE) {
    const some = Array.from({ length: Math.min(INSERTED_AT_ONCE, count - from) })
    const outcomes = await Promise.all(some.map(() => documents.insert(submission())))
    for (const outcome of outcomes) {
      if (!outcome.ok) throw new Error(`a new store refuses a submission: ${outcome.reason}`)
      stored.push(outcome.stored)
    }
  }
  return stored
}

function submission(): Submission {
  const wire = nextTransfer()
  const tenant = `tenant-${Math.floor(tracked.length / TRACKED_PER_TENANT_MAX)}`
  const signature = encodeBase58(wire.subarray(1, 65))
  // A copy: a substring would keep the whole text in memory.
  const key = Buffer.from(keyOf(wire.toString('base64'))).toString('latin1')
  tracked.push({ key, tenant, signature })
  return {
    tenant,
    signature,
    wire: new Uint8Array(wire),
    route: 'node',
    revertProtection: false,
    receivedAtMs: Date.now(),
    blockhash: encodeBase58(wire.subarray(-32)),
    nonceAccount: null,
    bundleId: null,
    end: null
  }
}

async function track(count: number): Promise<null> {
  const waiting = await insert(count)
  const began = performance.now()
  for (let next = 0; next < count; await pause(STEP_MS)) {
    const due = Math.min(count, Math.ceil(((performance.now() - began) / REBROADCAST_MS) * count))
    for (; next < due; next++) {
      tracker.begin(waiting[next]!, claim)
      waiting[next] = undefined!
    }
  }
  return null
}

async function run(ms: number): Promise<RunCost> {
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  let [unwrittenMax, inFlightMax] = [0, 0]
  while (performance.now() - began < ms) {
    await pause(POLL_INTERVAL_MS)
    unwrittenMax = Math.max(unwrittenMax, tracker.unwritten)
    inFlightMax = Math.max(inFlightMax, tracker.sendsInFlight)
  }
  const { user, system } = process.cpuUsage(cpu)
  return { cpuPerSecond: (user + system) / 1_000 / (performance.now() - began), unwrittenMax, inFlightMax }
}

/** Returns the bytes of the JavaScript heap and of buffers, after the collection of garbage. */
async function memory(): Promise<number> {
  for (let n = 0; n < COLLECTIONS; n++) {
    globalThis.gc!()
    await pause(50)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function anchors(): Anchors {
  const sent = tracked.flatMap(({ key, tenant, signature }) => {
    const progress = tracker.progress(tenant, signature)
    return progress === null ? [] : [[key, progress.firstSentAtMs ?? NaN, progress.rebroadcasts] as const]
  })
  return { offsetMs: Date.now() - monotonicMs(), sent }
}

async function follow(order: TrackerOrder): Promise<unknown> {
  switch (order.kind) {
    case 'track':
      return track(order.count)
    case 'run':
      return run(order.ms)
    case 'memory':
      return memory()
    case 'anchors':
      return anchors()
  }
}

process.on('message', (text: string) => {
  void follow(JSON.parse(text) as TrackerOrder).then((answer) => process.send!(answer))
})
process.stdout.write('listening on http://127.0.0.1\n')
