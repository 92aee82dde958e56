import type { ServedArchive } from '../../archive/served-archive.ts'
import type { AccountServices } from '../../accounts/services.ts'
import type { Storage } from '../../../storage/port.ts'
import type { DemoKeyFile } from '../../access/demo-key.ts'
import type { CallWeights } from '../../access/call-weights.ts'
import type { KeyDirectory } from '../../access/key-directory.ts'
import type { RateCounter } from '../../../storage/cluster/coordination.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { CommitFeed } from '../feed/commit-feed.ts'
import type { NameIndex } from '../../data/name-index.ts'
import type { RankingHandle } from '../../data/ranking-handle.ts'
import type { TreeBody } from '../../edge/bodies/tree.ts'
import type { CashList } from '../../market/cash.ts'
import type { DecodingReport } from '../../ingest/decoding-report.ts'
import type { SourceKind } from '../config/config.ts'
import type { Clock } from '../../ports.ts'
import type { RecordedReport } from '../../recorded/report.ts'
import type { SourceStatus } from '../../node/source-status.ts'
import type { RpcSocketGateway } from '../../rpc/pubsub/gateway.ts'
import type { RpcGateway } from '../../rpc/gateway.ts'
import type { NodeControl } from '../../rpc/node-control.ts'
import type { MethodTable } from '../../rpc/methods.ts'
import type { FinalizedSlots } from '../../rpc/mirrored-accounts.ts'
import type { StreamGateway } from '../../stream/gateway.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { MirrorMetrics } from '../../program-accounts/metrics.ts'
import type { FeeStatistics, TransactionServices } from '../../transactions/ports.ts'
import type { Turns } from '../work/turns.ts'
import type { WebhookChanges } from '../../webhooks/changes.ts'
import type { DeliveryLog, UrlGuard, WebhookDeliveries, WebhookSecrets } from '../../webhooks/ports.ts'
import type { WebhookSender, WebhookSigner } from '../../webhooks/webhook.ts'
import type { HttpBounds } from './bounds.ts'

/** The services of webhooks that the HTTP side uses. */
export interface WebhookServices {
  readonly guard: UrlGuard
  readonly secrets: WebhookSecrets
  readonly signer: WebhookSigner
  readonly sender: WebhookSender
  readonly attempts: DeliveryLog
  readonly deliveries: WebhookDeliveries
  readonly changes: Pick<WebhookChanges, 'publish'>
}

/** The services of JSON-RPC that the HTTP side uses. */
export interface RpcServices {
  readonly gateway: RpcGateway
  readonly methods: MethodTable
  /** Whether the process has a node; if not, methods that need it are refused. */
  readonly hasNode: boolean
  /** Null if the process has no node. */
  readonly nodes: NodeControl | null
  /** The newest finalized slot of the nodes; null if the process has no node. */
  readonly finalized: FinalizedSlots | null
}

/** Dependencies of the HTTP side. */
export interface AppDeps {
  readonly storage: Storage
  /** The imported archive; absent in a process without the Data API. */
  readonly archive?: ServedArchive | undefined
  readonly keys: KeyDirectory
  /** Counts the calls of each key. */
  readonly limits: RateCounter
  /** Turns of tenants for the work of this process. */
  readonly turns: Turns
  /** Units that weighted calls cost; absent if each costs one unit. */
  readonly weights?: CallWeights
  /** Publishes each block as soon as the store shows it. */
  readonly feed: CommitFeed
  readonly ranking: RankingHandle
  /** Symbols and names of tokens. */
  readonly names: NameIndex
  /** Null in a process that serves no stream. */
  readonly stream: StreamGateway | null
  /** Null if the process has no node for the RPC URL. */
  readonly rpcSockets?: RpcSocketGateway | null
  /** Null in a process that serves no webhooks. */
  readonly webhooks: WebhookServices | null
  /** Null if the process has no node to send transactions to. */
  readonly transactions: TransactionServices | null
  /** Empty in a process that does not get the fees of blocks. */
  readonly fees: FeeStatistics
  /** Null if the process has no node to read accounts from. */
  readonly accounts: AccountServices | null
  readonly rpc: RpcServices
  /** Announces that the whitelist of programs has changed; absent in a process that mirrors no programs. */
  readonly programsChanged?: (() => void) | undefined
  /** Announces a request for the holders of a token; absent in a process that stores no holder lists. */
  readonly holdersRequested?: (() => void) | undefined
  /** Announces that a tenant has changed its watched addresses; absent in a process that writes no ledger. */
  readonly watchedChanged?: (() => void) | undefined
  /** Indexed venues. */
  readonly venues: readonly VenueId[]
  readonly cash: CashList
  readonly decoding: DecodingReport
  readonly metrics: Metrics & { readonly mirror: MirrorMetrics }
  readonly logger: Logger
  readonly clock: Clock
  readonly version: string
  /** The kind of source that this process reads; null if it reads none. */
  readonly sourceKind: SourceKind | null
  /** Absent if `/docs` offers no demo key. */
  readonly demoKey?: Pick<DemoKeyFile, 'read'> | undefined
  /** Returns the status of a live source of blocks; null if the source is not live. */
  readonly source: () => SourceStatus | null
  /**
   * Returns the newest slot that this process's nodes report at the index's commitment; null before the first. Absent
   * if the process has no node.
   */
  readonly nodeHead?: (() => number | null) | undefined
  /** Returns the last slot of the past that this process's localnet generates; null once the past is complete. */
  readonly pastEnd?: (() => number | null) | undefined
  /** Tells whether Redis is configured and unavailable. */
  readonly redisAway: () => boolean
  /** The state of the recorded folder that this process reads; absent if it cannot read a folder. */
  readonly recorded?: RecordedReport
  /** Returns the supervision tree as plain JSON. */
  readonly tree: () => TreeBody
  readonly draining: () => boolean
  readonly bounds: HttpBounds
  /** Whether `/metrics` needs the admin key even from the local machine. */
  readonly metricsKeyRequired: boolean
  /** Bytes of memory for cached answers; by default, the largest useful amount. */
  readonly answerBytes?: number | undefined
  /** Bytes of memory for the rolled activity of mints; by default, the largest useful amount. */
  readonly windowBytes?: number | undefined
}
