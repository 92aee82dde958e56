import type { RequestListener } from 'node:http'
import type { FastifyPluginAsync } from 'fastify'
import type { Storage } from '../../../storage/port.ts'
import type { RateCounter, SocketPlaces } from '../../../storage/cluster/coordination.ts'
import type { CallWeights } from '../../access/call-weights.ts'
import type { KeyDirectory } from '../../access/key-directory.ts'
import type { TextSeal } from '../../access/text-seal.ts'
import type { Clock } from '../../ports.ts'
import type { Config } from '../config/config.ts'
import type { ServiceError } from '../errors.ts'
import type { CommitFeed } from '../feed/commit-feed.ts'
import type { CacheUse } from '../memory/second-chance-cache.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Turns } from '../work/turns.ts'
import type { HttpBounds } from './bounds.ts'
import type { SocketRoute } from './serve-socket.ts'

type Role = Config['role'][number]

/** Needs of the HTTP side, whatever it serves. Further needs of a product's routes are in its `routes/needs.ts`. */
export interface HttpKernel {
  readonly storage: Storage
  readonly keys: KeyDirectory
  /** Counts the calls of each key. */
  readonly limits: RateCounter
  /** Turns of tenants for the work of this process. */
  readonly turns: Turns
  /** Units that weighted calls cost; absent if each costs one unit. */
  readonly weights?: CallWeights
  /** Publishes each block as soon as the store shows it. */
  readonly feed: CommitFeed
  /**
   * Returns the newest slot that this process's nodes report at the index's commitment; null before the first. Absent
   * if the process has no node.
   */
  readonly nodeHead?: (() => number | null) | undefined
  readonly metrics: Metrics
  readonly logger: Logger
  readonly clock: Clock
  readonly version: string
  /** Whether requests are refused, because the process is about to stop. */
  readonly draining: () => boolean
  /**
   * Whether the process was asked to stop, and balancers are told so. It answers requests until it drains. By default, it
   * is leaving while it drains.
   */
  readonly leaving?: () => boolean
  /** Places of the sockets of keys over all processes; absent if this process counts them alone. */
  readonly socketPlaces?: SocketPlaces | null
  /** Roles of this process; absent if it has all. */
  readonly roles?: readonly Role[]
  /** Listed products that this process serves as a gateway; absent if it serves all, or is not one. */
  readonly products?: readonly string[]
  /** Returns the refusal of a request that leaves work which no process does, or null; absent if this process does all. */
  readonly absence?: (work: { readonly name: string; readonly role: Role }) => ServiceError | null
  readonly bounds: HttpBounds
  /** Whether `/metrics` needs the admin key even from the local machine. */
  readonly metricsKeyRequired: boolean
  /** Encrypts secrets in stored answers; absent in a process without a key for them. */
  readonly seal?: TextSeal | undefined
  /** Bytes of memory for cached answers; by default, the largest useful amount. */
  readonly answerBytes?: number | undefined
}

/** A cache of the HTTP side, as the process tree shows it. */
export interface ShownCache extends CacheUse {
  readonly size: number
}

/** The HTTP side while it is built, which routes use and add to. */
export interface HttpSide extends HttpKernel {
  /** Shows a cache in the process tree. `name` is that of one entry. */
  readonly showCache: (name: string, cache: ShownCache) => void
  /** Runs when the HTTP side closes. */
  readonly onClose: (end: () => void) => void
}

/** A step in front of the framework: returns a listener that answers some requests, and passes the others to `rest`. */
export type InFront = (
  http: HttpKernel,
  nextRequestId: () => string,
  rest: RequestListener
) => RequestListener

/** Additions of products to the HTTP side. */
export interface HttpParts {
  readonly routes: (side: HttpSide) => readonly FastifyPluginAsync[]
  readonly sockets: readonly SocketRoute[]
  /** Names of response headers that pages of other origins may read. */
  readonly exposed: readonly string[]
  readonly inFront: readonly InFront[]
}

/** Returns plugins that register the given ones with what they need. */
export const routesWith = <Needs extends object>(
  needs: Needs,
  plugins: readonly FastifyPluginAsync<Needs>[]
): readonly FastifyPluginAsync[] => plugins.map((plugin) => (app) => plugin(app, needs))
