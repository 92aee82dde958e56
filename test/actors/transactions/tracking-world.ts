import { Registry } from 'prom-client'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { ChangeLog } from '../../../actors/transactions/change-log.ts'
import { Tracker } from '../../../actors/transactions/tracker.ts'
import { TransactionShard } from '../../../actors/transactions/transaction-shard.ts'
import { transactionMetrics } from '../../../src/transactions/metrics.ts'
import {
  SUBMISSION,
  submissionPartition,
  transactionShard,
  type Route,
  type Submission,
  type SubmissionProgress
} from '../../../src/transactions/submission.ts'
import { Submissions } from '../../../src/transactions/submissions.ts'
import { sleep } from '../../../src/ports.ts'
import { endOfEvents } from '../../../src/market/cursor.ts'
import {
  changeBatches,
  type ChangeBatch,
  type PublishedChange
} from '../../../src/transactions/change-batch.ts'
import { UnsettledBatches } from '../../../src/transactions/unsettled-batches.ts'
import { Documents, type Stored } from '../../../storage/documents.ts'
import { virtualClock } from '../../virtual-time.ts'
import { testClaim } from '../webhooks/delivery-world.ts'
import { MemoryDocuments } from '../webhooks/memory-documents.ts'
import { FakeChain, FakeNode } from './fake-chain.ts'

const TENANT = 'acme'
/** Retention of a submission after its end, in milliseconds. */
export const RETENTION_MS = 90 * 86_400_000

/** A submission of a tenant, whose wire is its signature. */
export function sampleSubmission(changes: Partial<Submission> & { readonly signature: string }): Submission {
  return {
    tenant: TENANT,
    wire: Buffer.from(changes.signature),
    route: 'node',
    revertProtection: false,
    receivedAtMs: 0,
    blockhash: 'hash-998',
    nonceAccount: null,
    bundleId: null,
    end: null,
    ...changes
  }
}

/** A process that tracks the submissions of one shard. */
export class TestProcess {
  readonly node: FakeNode
  readonly claim
  readonly tracker: Tracker
  readonly shard: TransactionShard
  readonly published: {
    readonly signature: string
    readonly progress: Pick<SubmissionProgress, 'state' | 'slot' | 'commitment' | 'err' | 'updatedAtMs'>
  }[] = []
  readonly faults: unknown[] = []
  /** Sends through the block engine. */
  readonly engineSends: { readonly signature: string; readonly atMs: number }[] = []
  /** Milliseconds until the engine answers a send. */
  engineMs = 0
  readonly running: Promise<void>
  readonly #end = new AbortController()
  readonly #world: TrackingWorld
  #heardTo = -1

  constructor(world: TrackingWorld, token: number) {
    this.#world = world
    this.node = new FakeNode(world.chain, token)
    this.claim = testClaim(token)
    const changes = new ChangeLog(
      {
        documents: world.store,
        clock: world.clock,
        isShared: world.isShared,
        ttlMs: null,
        head: () => (world.hasHead ? endOfEvents(world.chain.slot) : -1),
        unsettled: new UnsettledBatches(),
        publish: (batch) => this.#hear(batch),
        report: (fault) => this.faults.push(fault)
      },
      this.#end.signal
    )
    this.tracker = new Tracker({
      node: this.node,
      leaders: null,
      engine: {
        send: async (wire) => {
          await this.engine(Buffer.from(wire).toString())
          return true
        }
      },
      sightings: world.chain.sightings,
      documents: world.store,
      retentionMs: RETENTION_MS,
      isShared: world.isShared,
      clock: world.clock,
      metrics: transactionMetrics(new Registry()),
      changes,
      report: (fault) => this.faults.push(fault)
    })
    this.shard = new TransactionShard(transactionShard(TENANT), this.claim, world.store, {
      tracker: this.tracker,
      bundles: null,
      changes,
      clock: world.clock,
      retentionMs: RETENTION_MS
    })
    this.running = this.tracker.run(this.#end.signal)
  }

  async engine(signature: string): Promise<void> {
    const { clock } = this.#world
    this.engineSends.push({ signature, atMs: clock.now() })
    if (this.engineMs > 0) await sleep(clock, this.engineMs, this.#end.signal)
  }

  #hear({ changes }: ChangeBatch): void {
    for (const { cursor, signature, event: state, slot, commitment, err, ts_ms: updatedAtMs } of changes) {
      if (cursor <= this.#heardTo) continue
      this.#heardTo = cursor
      this.published.push({ signature, progress: { state, slot, commitment, err, updatedAtMs } })
    }
  }

  progress(signature: string): SubmissionProgress | null {
    return this.tracker.progress(TENANT, signature)
  }

  /** Ends it as a kill does: unstored state is lost. */
  kill(): void {
    this.claim.lose()
    this.#end.abort()
    this.tracker.end()
  }

  /** Ends it as a drain does. */
  async drain(): Promise<void> {
    await this.shard.stop(new AbortController().signal)
    this.kill()
  }
}

/** Processes that track submissions one after another, on a store and a chain that outlive them, in virtual time. */
export class TrackingWorld {
  readonly clock = virtualClock()
  readonly chain = new FakeChain(this.clock)
  readonly store = new MemoryDocuments()
  readonly documents = new Documents(this.store, SUBMISSION)
  isShared = false
  /** Whether a block was ever committed. */
  hasHead = true
  #token = 0

  start(): TestProcess {
    return new TestProcess(this, ++this.#token)
  }

  async submit(signature: string, changes: Partial<Submission> = {}): Promise<Stored<Submission>> {
    const receivedAtMs = this.clock.now()
    const outcome = await this.documents.insert(sampleSubmission({ signature, receivedAtMs, ...changes }))
    if (!outcome.ok) throw new Error(outcome.reason)
    return outcome.stored
  }

  /** Repeats a request as a gateway does; notifies the process `told`, if given. */
  async repeat(
    signature: string,
    route: Route = 'node',
    told: TestProcess | null = null
  ): Promise<boolean | undefined> {
    const submissions = new Submissions(this.store, {
      tracking: { progress: (_, each) => told?.progress(each) ?? null },
      retentionMs: RETENTION_MS
    })
    const wire = Buffer.from(signature)
    const request = { route, revertProtection: false, wire, atMs: this.clock.now() }
    const outcome = await submissions.repeat(TENANT, signature, request)
    if (outcome?.changed != null) told?.shard.begin(outcome.changed)
    await this.settle()
    return outcome?.isResumed
  }

  async stored(signature: string): Promise<Stored<Submission>> {
    return (await this.documents.get(submissionPartition(TENANT, signature), [TENANT, signature]))!
  }

  async storedProgress(signature: string): Promise<SubmissionProgress | null> {
    return (await this.documents.hot([await this.stored(signature)]))[0]!
  }

  /** All stored changes in their order. Throws if cursors or numbers do not ascend as they should. */
  async changes(): Promise<PublishedChange[]> {
    const batches = await new Documents(this.store, changeBatches(null)).all(TENANT)
    const values = batches.map(({ value }) => value)
    for (const [at, { number, after, token }] of values.entries()) {
      const before = values[at - 1]
      const last = before?.changes.at(-1)!.cursor ?? -1
      if (number !== at + 1 || after !== last || token < (before?.token ?? 0))
        throw new Error(`batch ${number} after ${after} under token ${token} is not the one after ${last}`)
    }
    const changes = values.flatMap((each) => each.changes)
    for (const [at, { cursor }] of changes.entries())
      if (at > 0 && cursor <= changes[at - 1]!.cursor) throw new Error(`${cursor} does not ascend`)
    return changes
  }

  async settle(turns = 6): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await yieldToEventLoop()
  }

  /** Passes time in steps of 50 ms. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 50) {
      this.clock.increment(Math.min(left, 50))
      await this.settle(2)
    }
  }
}
