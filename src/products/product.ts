import type { FastifyPluginAsync } from 'fastify'
import type { Channels } from '../../actors/stream/channels.ts'
import type { Tenants } from '../../actors/stream/tenants.ts'
import type { Run } from '../../actors/supervision/process.ts'
import type { AnyUnit, Unit } from '../../actors/supervision/unit.ts'
import type { Peers } from '../../storage/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import type { DemoKeyFile } from '../access/demo-key.ts'
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
import type { RecordedReport } from '../recorded/report.ts'
import type { ChannelForm } from '../stream/channel.ts'
import type { DecodingReport } from '../telemetry/decoding-report.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { CommitFeed } from '../views/commit-feed.ts'
import type { LiveRanking } from '../views/live-ranking.ts'
import type { Opened } from './opening.ts'

export type Role = Config['role'][number]

/** A part of the service, in one place: the processes that have it, and all that it adds to them. */
export interface Product {
  readonly name: string
  /** A process has the product when it has one of these roles. */
  readonly roles: readonly Role[]
  readonly settings: Readonly<Record<string, Setting>>
  /** Units of the tree, outermost first; those of products before it are outside them. */
  readonly units?: (service: ServiceParts) => readonly UnitOfTree[]
  /** Endpoints of the HTTP side. */
  readonly routes?: readonly FastifyPluginAsync<AppDeps>[]
  /** Channels of the stream. */
  readonly channels?: readonly ChannelForm[]
  /** Adds metrics beside those that its units count in `ServiceParts.metrics`. */
  readonly metrics?: (service: ServiceParts) => void
}

/** Results of the units that a unit stands on, by name. */
export interface Given {
  readonly storage: Storage
  /** Absent where no other process can have the store. */
  readonly peers?: Peers
  readonly channels: Channels
  /** Absent in a process that serves no stream. */
  readonly tenants?: Tenants
}

/** A unit that takes no more than is given outside it. */
export type UnitOfTree = Unit<Given> | AnyUnit

/** Parts of one service that its products share. */
export interface ServiceParts {
  readonly config: Config
  readonly ports: Ports
  readonly logger: Logger
  readonly version: string
  readonly metrics: Metrics
  readonly budget: MemoryBudget
  readonly feed: CommitFeed
  readonly ranking: LiveRanking
  readonly cash: CashList
  readonly decoding: DecodingReport
  readonly recorded: RecordedReport
  /** Undefined where no demo key is offered. */
  readonly demoKey: DemoKeyFile | undefined
  /** The products of this process. */
  readonly products: readonly Product[]
  /** The peers of a process that shares its store with no other. */
  readonly noPeers: Peers
  /** Resources that are open already, for the first instances of the units that own them. */
  readonly opened: Opened | undefined
  /** A source in place of the configured one. */
  readonly source: Run<unknown, BlockSource> | undefined
  /** The live tree, and how the source of blocks does. */
  readonly tree: () => TreeBody
  readonly sourceStatus: () => SourceStatus | null
  readonly onFirstKeys: (keys: FirstKeys) => void
  readonly onLocalnet: (rpcUrl: string) => void
  readonly onListening: (port: number) => void
}

/** The endpoints of some products. */
export const routesOf = (products: readonly Product[]): readonly FastifyPluginAsync<AppDeps>[] =>
  products.flatMap(({ routes = [] }) => routes)

/** The other processes of the service, as a unit knows them. */
export const peersOf = ({ noPeers }: ServiceParts, { peers = noPeers }: Pick<Given, 'peers'>): Peers => peers

/** Opens something: the first time what is open already, where there is something. */
export function firstOf<T>(opened: T | undefined, open: () => Promise<T>): () => Promise<T> {
  let left = opened
  return async () => {
    const first = left
    left = undefined
    return first ?? open()
  }
}
