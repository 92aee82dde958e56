import { supervise, type Supervision } from '../actors/supervision/supervisor.ts'
import type { Run } from '../actors/supervision/process.ts'
import { StartRefused } from '../machines/start-refused.ts'
import type { FirstKeys } from './access/bootstrap.ts'
import { Capabilities } from './kernel/compose/capability.ts'
import type { Config } from './kernel/config/config.ts'
import { answerBytesMax, memoryBudget } from './kernel/config/memory-budget.ts'
import { limitRenderingMemory } from './kernel/http/rendering-memory.ts'
import { answerMemory } from './kernel/memory/answer-memory.ts'
import type { BlockSource } from './node/block-source.ts'
import { CLUSTER_PLACES, LOCAL_PLACES, processTurns, Turns } from './kernel/work/turns.ts'
import { sleep, systemPorts, type Ports } from './ports.ts'
import { DEPARTURE } from './fleet/capabilities.ts'
import { soloCoordination } from './store/coordination.ts'
import type { Opened } from './store/opening.ts'
import { errorsOf, productsOf, worksOf, type Kernel, type Product } from './kernel/compose/product.ts'
import { aroundStore } from './store/product.ts'
import { DecodingReport } from './ingest/decoding-report.ts'
import type { Logger } from './kernel/telemetry/logger.ts'
import { createMetrics, type MetricPeers } from './kernel/telemetry/metrics.ts'
import { CommitFeed } from './kernel/feed/commit-feed.ts'

export interface ServiceDeps {
  readonly config: Config
  /** Every product, in the order in which their units start. */
  readonly products: readonly Product[]
  readonly logger: Logger
  readonly version: string
  /** Called with the keys made on an empty store; they cannot be shown again. */
  readonly onFirstKeys: (keys: FirstKeys) => void
  readonly onListening: (port: number) => void
  readonly ports?: Ports
  /** Replaces the configured source. */
  readonly source?: Run<unknown, BlockSource>
  /** Called with the URL of the localnet's node. */
  readonly onLocalnet?: (rpcUrl: string) => void
  /** Resources that are already open, for the first instances of the processes that own them. */
  readonly opened?: Opened
  /** The processes that share the port with this one. */
  readonly peers?: MetricPeers
}

/**
 * Builds the service from the products of its roles, and starts it. Each level of the tree starts when the levels
 * outside it are ready, and restarts with them. The edge drains first; the store closes after all units that depend
 * on it. A drain begins after the configured delay, in which the service answers and its probes say that it leaves.
 */
export function startService(deps: ServiceDeps): Supervision {
  const { config, logger, version, ports = systemPorts, opened, source, onFirstKeys, onListening } = deps
  const { onLocalnet = () => undefined } = deps
  const decoding = new DecodingReport()
  const listening = Promise.withResolvers<void>()
  let isListening = false
  const capabilities = new Capabilities<Kernel>()
  const budget = memoryBudget(config)
  answerMemory.limit(answerBytesMax(config))
  limitRenderingMemory(budget.making)
  const kernel: Kernel = {
    ...{ config, logger, version, ports, onFirstKeys, onLocalnet, opened, source, decoding },
    onListening: (port) => {
      isListening = true
      listening.resolve()
      onListening(port)
    },
    isPortShared: deps.peers !== undefined,
    listening: listening.promise,
    metrics: createMetrics(deps.peers),
    budget,
    feed: new CommitFeed(),
    turns: new Turns(
      processTurns(ports.clock),
      config.storage === 'embedded' ? LOCAL_PLACES : CLUSTER_PLACES
    ),
    get: (capability) => capabilities.get(capability, kernel),
    products: productsOf(deps.products, config),
    works: worksOf(deps.products),
    errors: errorsOf(deps.products),
    soloCoordination: soloCoordination(),
    tree: () => supervision.tree(),
    sourceStatus: () => supervision.source('chain/source')
  }
  const units = kernel.products.flatMap((product) => product.units?.(kernel) ?? [])
  const root = aroundStore(kernel, units)
  for (const { metrics = [] } of deps.products) for (const group of metrics) kernel.get(group)
  const departure = kernel.get(DEPARTURE)
  capabilities.seal()
  const supervision = supervise(root, ports, undefined, (path, err) => {
    // A refused start fails every unit up to the service, and is logged once by its caller.
    if (err instanceof StartRefused) return
    logger.warn({ unit: path, err }, `${path === '' ? 'the service' : path} has a fault: ${err.message}`)
  })
  let drained: ReturnType<Supervision['drain']> | null = null
  const drain = async (): ReturnType<Supervision['drain']> => {
    departure.isAnnounced = true
    const over = new AbortController()
    // A balancer sends requests until it has seen that the process leaves.
    const delayMs = isListening ? config.drainDelaySeconds * 1_000 : 0
    if (delayMs > 0) await Promise.race([sleep(ports.clock, delayMs, over.signal), supervision.done])
    over.abort()
    return supervision.drain()
  }
  return { ...supervision, drain: () => (drained ??= drain()) }
}
