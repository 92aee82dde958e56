import type { Storage } from '../../storage/port.ts'
import type { DemoKeyFile } from '../access/demo-key.ts'
import type { KeyDirectory } from '../access/key-directory.ts'
import type { RateCounter } from '../../storage/coordination.ts'
import type { VenueId } from '../chain/venue-id.ts'
import type { CommitFeed } from '../views/commit-feed.ts'
import type { LiveRanking } from '../views/live-ranking.ts'
import type { TreeBody } from '../api/tree.ts'
import type { CashList } from '../market/cash.ts'
import type { DecodingReport } from '../telemetry/decoding-report.ts'
import type { SourceKind } from '../config/config.ts'
import type { Clock } from '../ports.ts'
import type { RecordedReport } from '../recorded/report.ts'
import type { SourceStatus } from '../node/source-status.ts'
import type { StreamDoor } from '../stream/door.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { HttpBounds } from './bounds.ts'

/** What the HTTP side needs of the rest. */
export interface AppDeps {
  readonly storage: Storage
  readonly keys: KeyDirectory
  /** Counts the calls of each key. */
  readonly limits: RateCounter
  /** Tells of blocks as soon as the storage shows them. */
  readonly feed: CommitFeed
  readonly ranking: LiveRanking
  /** Null in a process that serves no stream. */
  readonly stream: StreamDoor | null
  /** Those that are indexed. */
  readonly venues: readonly VenueId[]
  readonly cash: CashList
  readonly decoding: DecodingReport
  readonly metrics: Metrics
  readonly logger: Logger
  readonly clock: Clock
  readonly version: string
  /** Where this process takes blocks from; null where it takes none itself. */
  readonly sourceKind: SourceKind | null
  /** Absent where `/docs` offers no demo key. */
  readonly demoKey?: Pick<DemoKeyFile, 'read'> | undefined
  /** How the source of blocks does; null where this process has none of a live chain. */
  readonly source: () => SourceStatus | null
  /** Whether a Redis is configured and does not answer. */
  readonly redisAway: () => boolean
  /** The state of the recorded folder that this process reads; absent where it can read none. */
  readonly recorded?: RecordedReport
  /** The live supervision tree, as plain JSON. */
  readonly tree: () => TreeBody
  readonly draining: () => boolean
  readonly bounds: HttpBounds
  /** Whether `/metrics` needs the admin key from the machine itself, too. */
  readonly metricsKeyRequired: boolean
  /** For answers that are kept; left out, as much as is of use. */
  readonly answerBytes?: number | undefined
}
