import type { Ports } from '../../src/ports.ts'
import type { TenantEvents } from '../../src/stream/tenant-events.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { TRACKED_LABELS, type TransactionMetrics } from '../../src/transactions/metrics.ts'
import { BUNDLE } from '../../src/transactions/bundle.ts'
import type { LeaseBook } from '../../src/fleet/lease-book.ts'
import type { LocalTracking } from '../../src/transactions/local-tracking.ts'
import type {
  BlockSightings,
  BundleEngine,
  EngineSender,
  LeaderSender,
  TransactionNode
} from '../../src/transactions/ports.ts'
import {
  SUBMISSION,
  submissionPartition,
  TRANSACTION_SHARDS,
  transactionShard
} from '../../src/transactions/submission.ts'
import type { ClusterCoordination, StoredSubmission } from '../../storage/cluster/coordination.ts'
import { Documents } from '../../storage/documents.ts'
import type { Storage } from '../../storage/port.ts'
import { ShardOwner } from '../shards/shard-owner.ts'
import { isOutage } from '../storage/retry.ts'
import type { Channels } from '../stream/channels.ts'
import type { Run } from '../supervision/process.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { BundleTracker } from './bundle-tracker.ts'
import { ChangeLog } from './change-log.ts'
import { Tracker } from './tracker.ts'
import { TransactionShard } from './transaction-shard.ts'

export interface TransactionsDeps extends Ports {
  /** Shows which shards this process has. */
  readonly book?: Pick<LeaseBook, 'declare' | 'set'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly metrics: TransactionMetrics
  readonly local: LocalTracking
  readonly sightings: BlockSightings
  readonly tenantEvents: TenantEvents
  readonly feed: Pick<CommitFeed, 'follow'>
  /** Null where nothing is sent to leaders directly. */
  readonly leaders: LeaderSender | null
  /** Milliseconds that submissions and bundles are kept from their end; null for ever. */
  readonly retentionMs: number | null
  /** Milliseconds that changes of submissions are kept for replays; null for ever. */
  readonly changesTtlMs: number | null
}

export interface TransactionsNeeds {
  readonly storage: Pick<Storage, 'documents' | 'isShared'>
  readonly channels: Pick<Channels, 'hub' | 'changes'>
  readonly nodes: TransactionNode
  /** Absent where there is no block engine. */
  readonly engine?: (EngineSender & BundleEngine) | null
}

type Coordination = Pick<ClusterCoordination, 'leases' | 'submissions' | 'trackers' | 'tenantEvents'>

/**
 * Sends and tracks the submissions of the shards that this process has. Each is an entry of a bounded map under its tenant;
 * its state counts in the gauges.
 */
export function transactions<Needs extends TransactionsNeeds>(
  deps: TransactionsDeps,
  coordinationOf: (needs: Needs) => Coordination
): Run<Needs> {
  return async ({ input, draining, signal, ready, gauge, supervises, report }) => {
    const { storage, channels, nodes: node, engine = null } = input
    const { documents, isShared } = storage
    const { leases, submissions, trackers, tenantEvents } = coordinationOf(input)
    const ended = new AbortController()
    const end = AbortSignal.any([signal, ended.signal])
    const changes = new ChangeLog(
      {
        ...deps,
        documents,
        isShared,
        ttlMs: deps.changesTtlMs,
        head: () => channels.hub.head,
        unsettled: channels.changes.unsettled,
        publish: (batch) =>
          deps.tenantEvents.publish({ tenant: batch.tenant, channel: 'tx', data: batch }, tenantEvents),
        report
      },
      end
    )
    const unfollow = deps.feed.follow({ published: () => changes.noteHead(), needs: () => 'slot' })
    const tracker = new Tracker({
      ...deps,
      node,
      engine,
      documents,
      isShared,
      changes,
      report
    })
    // Interrupted writes are no faults of their transactions: the tracker ends before the log's waits reject.
    end.addEventListener('abort', () => tracker.end(), { once: true })
    const owner = new ShardOwner<TransactionShard>({
      ...deps,
      product: 'transactions',
      work: 'sends and tracks transactions',
      shards: new Map(TRANSACTION_SHARDS.map((name) => [name, name])),
      leases,
      presence: trackers,
      hints: submissions,
      documents,
      isShared,
      make: (name, claim) =>
        new TransactionShard(name, claim, documents, {
          tracker,
          changes,
          clock: deps.clock,
          retentionMs: deps.retentionMs,
          bundles:
            engine === null
              ? null
              : new BundleTracker({ ...deps, documents, isShared, claim, engine, node, report })
        })
    })
    supervises('tracked', () => tracker.members)
    gauge('shards', () => owner.shards.length)
    gauge('tenants', () => tracker.tenants)
    gauge('bundles', () => owner.shards.reduce((sum, { bundles }) => sum + bundles, 0))
    for (const state of TRACKED_LABELS) gauge(state, () => tracker.states[state])
    gauge('sends_in_flight', () => tracker.sendsInFlight)
    gauge('unwritten', () => tracker.unwritten)
    gauge('full', () => (tracker.isFull ? 1 : 0))
    const stored = new Documents(documents, SUBMISSION)
    const storedBundles = new Documents(documents, BUNDLE)
    /** Takes up a submission or bundle that another process has stored, or changed by a repeated request. */
    const hear = async ({ tenant, signature }: StoredSubmission): Promise<void> => {
      const shard = owner.shard(transactionShard(tenant))
      if (shard === undefined) return
      const found = await stored.get(submissionPartition(tenant, signature), [tenant, signature])
      if (found?.value.end === null) return shard.begin(found)
      // The id of a bundle stands in the place of a signature.
      const bundle = await storedBundles.get(submissionPartition(tenant, signature), [tenant, signature])
      if (bundle !== null) shard.beginBundle(bundle)
    }
    const unsubscribe = submissions?.subscribe((hint) => {
      if (hint === null) return owner.hintAll()
      hear(hint).catch((fault: unknown) => {
        // The list finds what could not be read.
        if (isOutage(fault)) owner.hint([transactionShard(hint.tenant)])
        else report(fault)
      })
    })
    deps.local.serve({
      begin: (submission) => {
        const shard = owner.shard(transactionShard(submission.value.tenant))
        shard?.begin(submission)
        return shard !== undefined
      },
      beginBundle: (bundle) => {
        const shard = owner.shard(transactionShard(bundle.value.tenant))
        shard?.beginBundle(bundle)
        return shard !== undefined
      },
      progress: (tenant, signature) => tracker.progress(tenant, signature),
      places: (tenant) => ({
        ...tracker.places(tenant),
        ...(owner.shard(transactionShard(tenant)) === undefined && { tenant: null })
      })
    })
    ready()
    try {
      const over = AbortSignal.any([draining, ended.signal])
      // The requests to nodes go on while shards are given up, and either's fault ends both.
      const work = [owner.run(over, signal), tracker.run(end)].map((each) =>
        each.finally(() => ended.abort())
      )
      await Promise.allSettled(work)
      await Promise.all(work)
    } finally {
      ended.abort()
      unsubscribe?.()
      unfollow()
      deps.local.serve(null)
    }
  }
}
