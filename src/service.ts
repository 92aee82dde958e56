import { join } from 'node:path'
import { edge } from '../actors/edge.ts'
import { ingest } from '../actors/ingest.ts'
import { ranking } from '../actors/ranking.ts'
import type { Run } from '../actors/process.ts'
import { recordedSource } from '../actors/source.ts'
import { store } from '../actors/store.ts'
import { supervise, type Supervision } from '../actors/supervisor.ts'
import { child, supervisor } from '../actors/unit.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import type { Storage } from '../storage/port.ts'
import { bootstrapKeys, type FirstKeys } from './access/bootstrap.ts'
import type { BlockSource } from './block-source.ts'
import { KEYS_MAX } from './access/key-directory.ts'
import { RateWindow } from './access/rate-window.ts'
import { pubkeyFromBase58 } from './chain/pubkey.ts'
import { CommitFeed } from './commit-feed.ts'
import type { Config } from './config.ts'
import { DecodingReport } from './decoding-report.ts'
import { LiveRanking } from './live-ranking.ts'
import { CashList } from './market/cash.ts'
import { systemPorts, type Ports } from './ports.ts'
import { createMetrics, type Logger } from './telemetry.ts'

export interface ServiceDeps {
  readonly config: Config & { readonly recordedDir: string }
  readonly logger: Logger
  readonly version: string
  /** Hears the keys that an empty store was given; they can be shown this once. */
  readonly onFirstKeys: (keys: FirstKeys) => void
  readonly onListening: (port: number) => void
  readonly ports?: Ports
  /** In place of the recorded folder. */
  readonly source?: Run<unknown, BlockSource>
}

/** Where the store lies. */
export function storeDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'store')
}

/** Opens the store; rejects with STORAGE_UNAVAILABLE, as when another process has it open. */
export function openStore(config: Pick<Config, 'dataDir'>): Promise<Storage> {
  return openEmbeddedStorage({ directory: storeDirectory(config) })
}

/**
 * Composes and starts the service: storage ⊃ chain (source ⊃ ingest) ⊃ views (ranking) ⊃ edge. Each level is started when
 * those outside it are ready, and is restarted with them; but a view that crashes is restarted alone. The edge drains
 * first, the store closes last.
 */
export function startService(deps: ServiceDeps): Supervision {
  const { config, logger, version, onFirstKeys, onListening, ports = systemPorts } = deps
  const { clock } = ports
  const feed = new CommitFeed()
  const live = new LiveRanking()
  const cash = new CashList(config.usdMints.map(pubkeyFromBase58))
  const decoding = new DecodingReport()
  const metrics = createMetrics(decoding)
  const recorded = { directory: config.recordedDir, speed: config.recordedSpeed }
  const source = deps.source ?? recordedSource(recorded, { clock, logger })
  const fold = { cash, startingSolUsd: config.solUsd, venues: new Set(config.venues) }

  const prepareStore = async (storage: Storage): Promise<void> => {
    const made = await bootstrapKeys(storage, config.adminKey, clock.now())
    if (made !== null) onFirstKeys(made)
  }
  // Beside the edge, so that a minute's counts outlive a restart of it.
  const limits = new RateWindow(KEYS_MAX)
  const http = {
    limits,
    feed,
    ranking: live,
    venues: config.venues,
    cash,
    decoding,
    metrics,
    logger,
    clock,
    version,
    tree: () => supervision.tree()
  }
  const tree = supervisor('service', 'rest_for_one', [
    child(
      'storage',
      store(() => openStore(config), prepareStore)
    ),
    supervisor('chain', 'rest_for_one', [
      child('source', source),
      child('ingest', ingest({ fold, feed, decoding, metrics, logger, clock }))
    ]),
    supervisor('views', 'one_for_one', [child('ranking', ranking({ feed, live, logger }))]),
    child('edge', edge({ ...config, ratePerMinute: config.rateLimitPerMinute, onListening }, http))
  ])
  const supervision = supervise(tree, ports, undefined, (path, err) =>
    logger.warn({ unit: path, err }, `${path === '' ? 'the service' : path} has a fault: ${err.message}`)
  )
  return supervision
}
