import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import type { ChainWatch } from '../../src/program-accounts/chain-watch.ts'
import type { Ports } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { LeaseBook } from '../../src/fleet/lease-book.ts'
import type { MirrorMetrics } from '../../src/program-accounts/metrics.ts'
import type { Announcements } from '../../src/kernel/feed/announcements.ts'
import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import { ShardOwner } from '../shards/shard-owner.ts'
import { DynamicSupervisor } from '../supervision/dynamic-supervisor.ts'
import type { Run } from '../supervision/process.ts'
import { isFaultOfMirror, MIRROR_POLICY, MirrorShard } from './mirror-shard.ts'
import type { ProgramMirror } from './program-mirror.ts'
import { pubsubSubscriptions } from './pubsub-subscription.ts'

export interface MirrorDeps extends Ports {
  /** Shows whether this process mirrors. */
  readonly book?: Pick<LeaseBook, 'declare' | 'set'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly metrics: MirrorMetrics
  readonly watch: ChainWatch
  /** Announces that a program was added or removed. */
  readonly changed: Announcements
  readonly slotsUnconfirmed: number
  /** URLs of nodes for snapshots, and for subscriptions; read at each use. */
  readonly urls: () => readonly string[]
  readonly pubsubUrls: () => readonly string[]
}

export interface MirrorNeeds {
  readonly storage: Storage
}

/** One shard has all programs: their number is small, and one process mirrors all of them. */
const SHARD = 'all'

/** Mirrors the accounts of the programs of the whitelist, in one process of a cluster. */
export function mirror<Needs extends MirrorNeeds>(
  deps: MirrorDeps,
  coordinationOf: (needs: Needs) => Pick<ClusterCoordination, 'leases'>
): Run<Needs> {
  return async ({ input, draining, signal, ready, gauge, supervises, report }) => {
    const { clock, logger, metrics } = deps
    const { documents, programAccounts: store, isShared } = input.storage
    const node = new RpcAccountNode(deps.urls, clock)
    const subscribe = pubsubSubscriptions(deps.pubsubUrls, clock)
    const members = new DynamicSupervisor(MIRROR_POLICY, { ...deps, report, isKnown: isFaultOfMirror })
    supervises('mirrors', () => members)
    const owner = new ShardOwner<MirrorShard>({
      product: 'program-accounts',
      work: 'mirrors the accounts of programs',
      shards: new Map([[SHARD, 'program-accounts']]),
      leases: coordinationOf(input).leases,
      presence: null,
      hints: null,
      make: (name, claim) =>
        new MirrorShard(name, claim, {
          ...{ ...deps, node, subscribe, store, documents, isShared },
          mirrors: members
        }),
      documents,
      isShared,
      ...(deps.book && { book: deps.book }),
      clock,
      logger
    })
    const mirrors = (): readonly ProgramMirror[] => owner.shards.flatMap((shard) => shard.mirrors)
    const sum = (of: (mirror: ProgramMirror) => number): number =>
      mirrors().reduce((all, each) => all + of(each), 0)
    const counts = {
      backfilling: () => sum(({ progress }) => (progress.slot === null ? 1 : 0)),
      live: () => sum(({ progress }) => (progress.slot === null ? 0 : 1)),
      accounts: () => sum(({ progress }) => progress.accounts),
      pending: () => sum(({ pending }) => pending)
    }
    gauge('programs', () => mirrors().length)
    gauge('backfilling', counts.backfilling)
    gauge('accounts', counts.accounts)
    gauge('updates_waiting', counts.pending)
    gauge('requests_waiting', () => node.waiting)
    metrics.show(counts)
    const unsubscribe = deps.changed.subscribe(() => owner.hintAll())
    ready()
    try {
      await owner.run(draining, signal)
    } finally {
      unsubscribe()
      metrics.show(null)
      await node.close()
    }
  }
}
