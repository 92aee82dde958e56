import { supervise, type Supervision } from '../actors/supervision/supervisor.ts'
import type { Run } from '../actors/supervision/process.ts'
import { StartRefused } from '../machines/start-refused.ts'
import { ServedArchive } from './archive/served-archive.ts'
import { KeySockets } from './access/key-sockets.ts'
import type { FirstKeys } from './access/bootstrap.ts'
import { pubkeyFromBase58 } from './chain/pubkey.ts'
import type { Config } from './config/config.ts'
import { answerBytesMax, memoryBudget } from './config/memory-budget.ts'
import { answerMemory } from './memory/answer-memory.ts'
import { CashList } from './market/cash.ts'
import type { BlockSource } from './node/block-source.ts'
import { CLUSTER_PLACES, LOCAL_PLACES, processTurns, Turns } from './work/turns.ts'
import { systemPorts, type Ports } from './ports.ts'
import { demoKeyFileOf } from './products/access.ts'
import { openHandles } from './products/handles.ts'
import { soloCoordination, type Opened } from './products/opening.ts'
import type { ServiceParts } from './products/product.ts'
import { productsOf } from './products/products.ts'
import { aroundStore } from './products/store.ts'
import { RecordedReport } from './recorded/report.ts'
import { DecodingReport } from './telemetry/decoding-report.ts'
import type { Logger } from './telemetry/logger.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { WatchedSignatures } from './transactions/block-sightings.ts'
import { CommittedBlocks } from './node/committed-blocks.ts'
import { LocalTracking } from './transactions/local-tracking.ts'
import { PriorityFees } from './transactions/priority-fees.ts'
import { TenantEvents } from './stream/tenant-events.ts'
import { HolderBlocks } from './holders/holder-blocks.ts'
import { LedgerBlocks } from './revenue/ledger-blocks.ts'
import { ChainWatch } from './program-accounts/chain-watch.ts'
import { TransferFees } from './accounts/transfer-fees.ts'
import { LocalDeliveries } from './webhooks/local-deliveries.ts'
import { Announcements } from './views/announcements.ts'
import { CommitFeed } from './views/commit-feed.ts'
import { NameIndex } from './views/name-index.ts'
import { RankingHandle } from './views/ranking-handle.ts'

export interface ServiceDeps {
  readonly config: Config
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
}

/**
 * Builds the service from the products of its roles, and starts it. Each level of the tree starts when the levels
 * outside it are ready, and restarts with them. The edge drains first; the store closes after all units that depend
 * on it.
 */
export function startService(deps: ServiceDeps): Supervision {
  const { config, logger, ports = systemPorts, onLocalnet = () => undefined, opened, source } = deps
  const decoding = new DecodingReport()
  const feed = new CommitFeed()
  const committedBlocks = new CommittedBlocks(feed)
  const sightings = new WatchedSignatures(feed)
  const fees = new PriorityFees()
  const cash = new CashList(config.usdMints.map(pubkeyFromBase58))
  const budget = memoryBudget(config)
  answerMemory.limit(answerBytesMax(config))
  committedBlocks.subscribe(sightings)
  committedBlocks.subscribe(fees)
  const holderBlocks = new HolderBlocks(feed)
  committedBlocks.subscribe(holderBlocks)
  const ledgerBlocks = new LedgerBlocks(feed)
  committedBlocks.subscribe(ledgerBlocks)
  let localnetUrl: string | null = null
  let localnetPastEnd: number | null = null
  const listening = Promise.withResolvers<void>()
  const service: ServiceParts = {
    ...deps,
    ports,
    handles: openHandles(),
    listening: listening.promise,
    onListening: (port) => {
      listening.resolve()
      deps.onListening(port)
    },
    onLocalnet: (url, pastEnd) => {
      localnetPastEnd = pastEnd
      localnetUrl = url
      onLocalnet(url)
    },
    localnetUrl: () => localnetUrl,
    localnetPastEnd: () => localnetPastEnd,
    opened,
    source,
    decoding,
    metrics: createMetrics(decoding),
    budget,
    feed,
    turns: new Turns(
      processTurns(ports.clock),
      config.storage === 'embedded' ? LOCAL_PLACES : CLUSTER_PLACES
    ),
    committedBlocks,
    sightings,
    fees,
    ranking: new RankingHandle(),
    archive: new ServedArchive(),
    names: new NameIndex({ bytesMax: budget.names, cash }),
    cash,
    deliveries: new LocalDeliveries(),
    chainWatch: new ChainWatch(feed, committedBlocks),
    programsChanged: new Announcements(),
    transferFees: new TransferFees(ports.clock),
    holderBlocks,
    ledgerBlocks,
    holdersRequested: new Announcements(),
    watchedChanged: new Announcements(),
    tracking: new LocalTracking(),
    tenantEvents: new TenantEvents(),
    sockets: new KeySockets(),
    recorded: new RecordedReport(),
    demoKey: demoKeyFileOf(config),
    products: productsOf(config),
    soloCoordination: soloCoordination(),
    tree: () => supervision.tree(),
    sourceStatus: () => supervision.source('chain/source')
  }
  const units = service.products.flatMap((product) => product.units?.(service) ?? [])
  const supervision = supervise(aroundStore(service, units), ports, undefined, (path, err) => {
    // A refused start fails every unit up to the service, and is logged once by its caller.
    if (err instanceof StartRefused) return
    logger.warn({ unit: path, err }, `${path === '' ? 'the service' : path} has a fault: ${err.message}`)
  })
  for (const product of service.products) product.metrics?.(service)
  return supervision
}
