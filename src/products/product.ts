import type { FastifyPluginAsync } from 'fastify'
import type { TransferFees } from '../accounts/transfer-fees.ts'
import type { OnLocalnet } from '../../actors/chain/localnet.ts'
import type { Run } from '../../actors/supervision/process.ts'
import { supervisor, type Unit } from '../../actors/supervision/unit.ts'
import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import type { DemoKeyFile } from '../access/demo-key.ts'
import type { KeySockets } from '../access/key-sockets.ts'
import type { FirstKeys } from '../access/bootstrap.ts'
import type { TreeBody } from '../api/tree.ts'
import type { Config } from '../config/config.ts'
import type { MemoryBudget } from '../config/memory-budget.ts'
import type { Setting } from '../config/setting.ts'
import type { AppDeps } from '../http/deps.ts'
import type { CashList } from '../market/cash.ts'
import type { BlockSource } from '../node/block-source.ts'
import type { SourceStatus } from '../node/source-status.ts'
import type { Ports } from '../ports.ts'
import type { Turns } from '../work/turns.ts'
import type { RecordedReport } from '../recorded/report.ts'
import type { TenantEvents } from '../stream/tenant-events.ts'
import type { ChannelForm } from '../stream/channel.ts'
import type { DecodingReport } from '../telemetry/decoding-report.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { WatchedSignatures } from '../transactions/block-sightings.ts'
import type { CommittedBlocks } from '../node/committed-blocks.ts'
import type { LocalTracking } from '../transactions/local-tracking.ts'
import type { PriorityFees } from '../transactions/priority-fees.ts'
import type { LocalDeliveries } from '../webhooks/local-deliveries.ts'
import type { CommitFeed } from '../views/commit-feed.ts'
import type { NameIndex } from '../views/name-index.ts'
import type { ServedArchive } from '../archive/served-archive.ts'
import type { RankingHandle } from '../views/ranking-handle.ts'
import type { HolderBlocks } from '../holders/holder-blocks.ts'
import type { LedgerBlocks } from '../revenue/ledger-blocks.ts'
import type { ChainWatch } from '../program-accounts/chain-watch.ts'
import type { Announcements } from '../views/announcements.ts'
import type { Handles } from './handles.ts'
import type { Opened } from './opening.ts'

export type Role = Config['role'][number]

/** A product: the processes that have it, and everything that it adds to them. */
export interface Product {
  readonly name: string
  /** A process has the product if it has one of these roles. */
  readonly roles: readonly Role[]
  readonly settings: Readonly<Record<string, Setting>>
  /**
   * Units of the process tree, in the order of their start. They are siblings of other products' units, and get the
   * resources of other products by handles.
   */
  readonly units?: (service: ServiceParts) => readonly Unit<Spine>[]
  /** Routes of the HTTP side. */
  readonly routes?: readonly FastifyPluginAsync<AppDeps>[]
  /** Channels of the stream. */
  readonly channels?: readonly ChannelForm[]
  /** Adds metrics other than those that its units count in `ServiceParts.metrics`. */
  readonly metrics?: (service: ServiceParts) => void
}

/** The resources that every unit of a product gets from outside. A restart of the store restarts all of these units. */
export interface Spine {
  readonly storage: Storage
  /** Absent with a store that cannot be shared with other processes. */
  readonly peers?: ClusterCoordination
}

/** Resources of a service that its products share. */
export interface ServiceParts {
  readonly config: Config
  readonly ports: Ports
  /** Resources of sibling processes. */
  readonly handles: Handles
  readonly logger: Logger
  readonly version: string
  readonly metrics: Metrics
  readonly budget: MemoryBudget
  readonly feed: CommitFeed
  /** Turns of tenants for the work of this process. */
  readonly turns: Turns
  readonly ranking: RankingHandle
  readonly names: NameIndex
  /** The imported archive: blocks before the first indexed one. */
  readonly archive: ServedArchive
  readonly cash: CashList
  readonly decoding: DecodingReport
  readonly deliveries: LocalDeliveries
  readonly tracking: LocalTracking
  readonly committedBlocks: CommittedBlocks
  readonly sightings: WatchedSignatures
  readonly fees: PriorityFees
  readonly chainWatch: ChainWatch
  readonly programsChanged: Announcements
  /** Transfer fees of mints, for the decoder. */
  readonly transferFees: TransferFees
  readonly holderBlocks: HolderBlocks
  readonly ledgerBlocks: LedgerBlocks
  readonly holdersRequested: Announcements
  readonly watchedChanged: Announcements
  readonly tenantEvents: TenantEvents
  /** Counts the WebSockets of keys. */
  readonly sockets: KeySockets
  readonly recorded: RecordedReport
  /** Undefined if no demo key is offered. */
  readonly demoKey: DemoKeyFile | undefined
  /** The products of this process. */
  readonly products: readonly Product[]
  /** The coordination of a process that shares its store with no other. */
  readonly soloCoordination: ClusterCoordination
  /** Resources that are already open, for the first instances of the units that own them. */
  readonly opened: Opened | undefined
  /** Replaces the configured source. */
  readonly source: Run<unknown, BlockSource> | undefined
  /** The process tree, and the status of the block source. */
  readonly tree: () => TreeBody
  readonly sourceStatus: () => SourceStatus | null
  readonly onFirstKeys: (keys: FirstKeys) => void
  readonly onLocalnet: OnLocalnet
  /** Resolves once the HTTP side has listened. */
  readonly listening: Promise<void>
  /** Returns the URL of this process's localnet; null before it listens, and if there is no localnet. */
  readonly localnetUrl: () => string | null
  /** Returns the slot at which the generated past of this process's localnet ends; null if the past is complete. */
  readonly localnetPastEnd: () => number | null
  readonly onListening: (port: number) => void
}

/** Returns a unit whose crash restarts no other unit. Its resources, if others need them, are provided by handles. */
export const beside = <Needs>(name: string, ...units: readonly Unit<Needs>[]): Unit<Needs> =>
  supervisor(name, 'one_for_one', units)

/** Returns the routes of some products. */
export const routesOf = (products: readonly Product[]): readonly FastifyPluginAsync<AppDeps>[] =>
  products.flatMap(({ routes = [] }) => routes)

/** Returns the coordination with the other processes of the service. */
export const coordinationOf = (
  { soloCoordination }: ServiceParts,
  { peers = soloCoordination }: Pick<Spine, 'peers'>
): ClusterCoordination => peers

/** Returns a function that opens a resource. The first call returns `opened`, if given. */
export function firstOf<T>(opened: T | undefined, open: () => Promise<T>): () => Promise<T> {
  let left = opened
  return async () => {
    const first = left
    left = undefined
    return first ?? open()
  }
}
