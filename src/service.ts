import { join } from 'node:path'
import { refusedOnFullDisk } from '../actors/storage/disk-full.ts'
import { edge, type EdgeOptions } from '../actors/edge/edge.ts'
import { follower } from '../actors/chain/follower.ts'
import { ingest, type OpenIngest } from '../actors/chain/ingest.ts'
import { NOTHING_KEPT } from '../actors/chain/kept-run.ts'
import { leader } from '../actors/chain/leader.ts'
import { peers } from '../actors/storage/peers.ts'
import { ranking } from '../actors/chain/ranking.ts'
import { retention } from '../actors/storage/retention.ts'
import type { Run } from '../actors/supervision/process.ts'
import { store } from '../actors/storage/store.ts'
import { channels, type Channels } from '../actors/stream/channels.ts'
import { tenants, type Tenants } from '../actors/stream/tenants.ts'
import { supervise, type Supervision } from '../actors/supervision/supervisor.ts'
import { child, supervisor, type AnyUnit, type Unit } from '../actors/supervision/unit.ts'
import { reportDamage, type DamageReport } from '../storage/embedded/repair/report.ts'
import { repairStore, type RepairOptions, type RepairOutcome } from '../storage/embedded/repair/repair.ts'
import { openEmbeddedSnapshot } from '../storage/embedded/snapshot.ts'
import { openEmbeddedStorage, type EmbeddedStorageOptions } from '../storage/embedded/store.ts'
import { isOpenElsewhere } from '../storage/embedded/unopened.ts'
import type { Storage } from '../storage/port.ts'
import type { StartWait } from '../storage/scylla/start-wait.ts'
import { DemoKeyFile } from './access/demo-key.ts'
import { bootstrapKeys, type FirstKeys } from './access/bootstrap.ts'
import type { BlockSource } from './node/block-source.ts'
import { KEYS_MAX } from './access/key-directory.ts'
import { RateWindow } from './access/rate-window.ts'
import { SharedRate } from './access/shared-rate.ts'
import { pubkeyFromBase58 } from './chain/pubkey.ts'
import { CommitFeed } from './views/commit-feed.ts'
import type { Config } from './config/config.ts'
import type { Peers, RateCounter } from '../storage/coordination.ts'
import { DecodingReport } from './telemetry/decoding-report.ts'
import { StartRefused } from '../machines/start-refused.ts'
import { buildApp } from './http/app.ts'
import { httpBounds } from './http/bounds.ts'
import { isLoopbackName } from './http/host.ts'
import { operationsApp } from './http/operations-app.ts'
import { LiveRanking } from './views/live-ranking.ts'
import { CashList } from './market/cash.ts'
import { openFilesMax } from './http/open-files.ts'
import { memoryBudget } from './config/memory-budget.ts'
import { systemPorts, type Ports } from './ports.ts'
import { RecordedReport } from './recorded/report.ts'
import { chainOf, keepingOf } from './products/sources.ts'
import { addRecordedMetrics, addSourceMetrics } from './telemetry/source-metrics.ts'
import { type Logger } from './telemetry/logger.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { foldCandlesAgain } from './verify/candle-repair.ts'

const DAY_SECONDS = 86_400
/** Days that rows are kept unless told otherwise; null for ever. A localnet fills gigabytes a day that nobody needs. */
const RETENTION_DAYS = { localnet: 2, rpc: 90, yellowstone: 90, recorded: null } as const
/** More than passes between two looks at the horizon. Chosen. */
const LOG_MARGIN_SECONDS = 60

export interface ServiceDeps {
  readonly config: Config
  readonly logger: Logger
  readonly version: string
  /** Hears the keys that an empty store was given; they can be shown this once. */
  readonly onFirstKeys: (keys: FirstKeys) => void
  readonly onListening: (port: number) => void
  readonly ports?: Ports
  /** In place of the one that is configured. */
  readonly source?: Run<unknown, BlockSource>
  /** Hears where the node of a localnet listens. */
  readonly onLocalnet?: (rpcUrl: string) => void
  /** What is open already, for the first instances of the processes that own it. */
  readonly opened?: Opened
}

/** What a service stands on besides its own process. */
export interface Opened {
  readonly storage: Storage
  readonly peers: Peers
}

/** Where the embedded store lies. */
export function storeDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'store')
}

/** Verifies the files of the embedded store, also beside a service that has it open; changes nothing. Null where there is none. */
export const reportStoreDamage = (config: Config): Promise<DamageReport | null> =>
  reportDamage(storeDirectory(config))

/** Replaces a damaged embedded store by one of what can be read of it. */
export const repairEmbeddedStore = (
  config: Config,
  startOver: RepairOptions['startOver'],
  nowMs: number
): Promise<RepairOutcome> =>
  repairStore({
    directory: storeDirectory(config),
    startOver,
    nowMs,
    retentionSeconds: retentionSecondsOf(config),
    foldCandles: foldCandlesAgain
  })

/**
 * Opens the store; rejects with STORAGE_UNAVAILABLE, as when another process has it open. A cluster is waited for as
 * `startWait` says, the embedded store is not: nobody starts it.
 */
export async function openStore(
  config: Config,
  ports: Ports = systemPorts,
  startWait?: StartWait
): Promise<Storage> {
  if (config.storage === 'embedded') return openEmbeddedStorage(embeddedOptionsOf(config))
  const logSeconds = logSecondsOf(config)
  const { records, indexes } = memoryBudget(config)
  // The driver takes 0.15 s of the processor and 20 MB, which are spared where there is no cluster.
  const { openScyllaStorage } = await import('../storage/scylla/store.ts')
  return openScyllaStorage({
    contactPoints: config.scyllaContactPoints,
    port: config.scyllaPort,
    datacenter: config.scyllaDatacenter,
    keyspace: config.scyllaKeyspace,
    username: config.scyllaUsername,
    password: config.scyllaPassword,
    replication: config.scyllaReplication,
    retentionSeconds: config.role.includes('ingest') ? retentionSecondsOf(config) : 'as it is',
    logSeconds: config.role.includes('ingest') ? logSeconds : 'as it is',
    committedBytesMax: records,
    indexBytesMax: indexes,
    ...(startWait !== undefined && { startWait }),
    ports
  })
}

/** Opens the store to read it beside the services that have it open: of an embedded one that is open, a snapshot. */
export async function openStoreToRead(config: Config, onSnapshot: () => void): Promise<Storage> {
  try {
    return await openStore({ ...config, role: ['gateway'] })
  } catch (error) {
    if (config.storage !== 'embedded' || !isOpenElsewhere(error)) throw error
    onSnapshot()
    return openEmbeddedSnapshot(embeddedOptionsOf(config))
  }
}

function embeddedOptionsOf(config: Config): EmbeddedStorageOptions {
  const { records, engine } = memoryBudget(config)
  return {
    directory: storeDirectory(config),
    retentionSeconds: retentionSecondsOf(config),
    logSeconds: logSecondsOf(config),
    hotBytesMax: records,
    engineBytes: engine
  }
}

/** How long rows are kept; null for ever. Beyond the days that are set, so that a replay of them finds all while it reads. */
function retentionSecondsOf(config: Config): number | null {
  const days = retentionDaysOf(config)
  return days === null ? null : days * DAY_SECONDS + LOG_MARGIN_SECONDS
}

const retentionDaysOf = ({ source, retentionDays }: Config): number | null =>
  retentionDays ?? RETENTION_DAYS[source]

/** How far back events can be replayed, which rows are needed for; null for all that is stored. */
function replaySecondsOf(config: Config): number | null {
  const days = retentionDaysOf(config)
  const kept = days === null ? Infinity : days * DAY_SECONDS
  const asked = config.source === 'recorded' ? Infinity : config.replayHorizonSeconds
  const seconds = Math.min(kept, asked)
  return seconds === Infinity ? null : seconds
}

/** The stream's events are kept for longer, so that a replay which begins at the horizon finds them while it reads. */
function logSecondsOf(config: Config): number | null {
  const seconds = replaySecondsOf(config)
  return seconds === null ? null : seconds + LOG_MARGIN_SECONDS
}

/**
 * Gets in touch with the other processes of the service, through Redis where one is configured. A Redis that is away is
 * waited for in the background; one that refuses, as for a wrong password, rejects with STORAGE_UNAVAILABLE.
 */
export async function openPeers(
  { storage, redisUrl, scyllaKeyspace }: Config,
  logger: Pick<Logger, 'info' | 'warn'>,
  ports: Ports = systemPorts
): Promise<Peers> {
  const { clock } = ports
  if (storage === 'embedded' || redisUrl === null) {
    const limits = new RateWindow(KEYS_MAX)
    return { leases: null, commits: null, keys: null, limits, outage: null, close: async () => undefined }
  }
  const [{ RedisConnection }, { RedisHints }, { RedisLeases }, { RedisRateCounter }] = await Promise.all([
    import('../storage/redis/connection.ts'),
    import('../storage/redis/hints.ts'),
    import('../storage/redis/leases.ts'),
    import('../storage/redis/rate-counter.ts')
  ])
  // One Redis may serve several services, each of which has a keyspace of its own.
  const prefix = `millrace:${scyllaKeyspace}:`
  const connection = await RedisConnection.open({ ...ports, url: redisUrl, prefix, logger })
  const hints = new RedisHints(connection, { clock })
  return {
    leases: new RedisLeases(connection, { clock }),
    commits: hints.commits,
    keys: hints.keys,
    limits: new SharedRate(new RedisRateCounter(connection), { clock, namesMax: KEYS_MAX }),
    get outage() {
      return connection.outage
    },
    async close() {
      await hints.close()
      await connection.close()
    }
  }
}

/**
 * Opens the store, where `end` is given waiting for it as long as the configuration says, and gets in touch with the
 * others; when either fails, neither stays open. Redis is not waited for: a process can do without it for a while.
 */
export async function openAll(
  config: Config,
  logger: Pick<Logger, 'info' | 'warn'>,
  end?: AbortSignal
): Promise<Opened> {
  const peers = await openPeers(config, logger)
  try {
    const startWait = end === undefined ? undefined : startWaitOf(config, logger, end)
    return { peers, storage: await openStore(config, systemPorts, startWait) }
  } catch (error) {
    await peers.close()
    throw error
  }
}

function startWaitOf(
  { startupWaitSeconds }: Config,
  logger: Pick<Logger, 'warn'>,
  end: AbortSignal
): StartWait {
  const waiting = (reason: string): void =>
    logger.warn(`the start waits up to ${startupWaitSeconds} s (MILLRACE_STARTUP_WAIT_SECONDS): ${reason}`)
  return { ms: startupWaitSeconds * 1_000, waiting, end }
}

/**
 * Composes and starts the service. On a store that it has alone: storage ⊃ chain (source ⊃ ingest) ⊃ views (ranking) ⊃
 * channels ⊃ tenants ⊃ edge. On one that other processes have, too: peers ⊃ storage ⊃ chain ⊃ views ⊃ channels ⊃ tenants ⊃ edge, of which a process has what its
 * roles are for. Each level is started when those outside it are ready, and is restarted with them; but a view that
 * crashes is restarted alone. The edge drains first, the store closes after all that stands on it.
 */
export function startService(deps: ServiceDeps): Supervision {
  const { config, logger, version, ports = systemPorts, opened } = deps
  const { clock } = ports
  const feed = new CommitFeed()
  const live = new LiveRanking()
  const cash = new CashList(config.usdMints.map(pubkeyFromBase58))
  const decoding = new DecodingReport()
  const metrics = createMetrics(decoding)
  const fold = { cash, startingSolUsd: config.solUsd, venues: new Set(config.venues) }
  const keeping = deps.source === undefined ? keepingOf(config) : NOTHING_KEPT
  const budget = memoryBudget(config)
  const chain = { fold, keeping, feed, decoding, metrics, logger, clock, marketBytes: budget.market }
  const { onLocalnet = () => undefined, source } = deps
  const recorded = new RecordedReport()
  const chainThat = <Needs extends object>(ingests: Run<Needs, OpenIngest>): Unit<Omit<Needs, 'source'>> => {
    if (source === undefined) return chainOf(config, ingests, { ...ports, logger, onLocalnet, recorded })
    return supervisor('chain', 'rest_for_one', [child('source', source), child('ingest', ingests)]) as AnyUnit
  }
  const demoKey = demoKeyFileOf(config)
  const prepareStore = (storage: Storage): Promise<void> =>
    refusedOnFullDisk(config.dataDir, async () => {
      const made = await bootstrapKeys(storage, config.adminKey, clock.now())
      if (made === null) return
      deps.onFirstKeys(made)
      await demoKey?.write(made.demo)
    })
  const openStorage = firstOf(opened?.storage, () => openStore(config, ports))
  const storage = child('storage', store(openStorage, prepareStore, { clock, logger, metrics }))
  const views = supervisor('views', 'one_for_one', [child('ranking', ranking({ feed, live, logger, clock }))])
  const http = {
    feed,
    ranking: live,
    venues: config.venues,
    cash,
    decoding,
    metrics,
    logger,
    clock,
    version,
    bounds: httpBounds(openFilesMax()),
    metricsKeyRequired: config.metricsKeyRequired,
    sourceKind: config.role.includes('ingest') ? config.source : null,
    demoKey,
    recorded,
    answerBytes: budget.answers,
    tree: () => supervision.tree(),
    source: () => supervision.source('chain/source')
  }
  const told = { feed, cash, clock, horizonSeconds: replaySecondsOf(config), replayBytes: budget.replays }
  const stream = child('channels', channels(told))
  const tenantsWith = <Needs extends object>(limitsOf: (needs: Needs) => RateCounter) =>
    child('tenants', tenants<Needs & HasChannels>(ports, limitsOf))
  const listening = {
    host: config.host,
    port: config.port,
    ratePerMinute: config.rateLimitPerMinute,
    onListening: deps.onListening,
    clock
  }

  const alone = () => {
    // Beside the edge, so that a minute's counts outlive a restart of it.
    const limits = new RateWindow(KEYS_MAX)
    const build: EdgeOptions<HasStorage & HasTenants>['build'] = ({ storage, tenants }, own) =>
      buildApp({ ...http, ...own, storage, limits, redisAway: () => false, stream: tenants })
    const clients = tenantsWith(() => limits)
    const door = child('edge', edge<HasStorage & HasTenants>({ ...listening, keyHints: () => null, build }))
    // Last, as nothing stands on it: its crash restarts nothing else.
    const sweep = child('retention', retention({ clock }))
    const inside = [storage, chainThat(ingest(chain)), views, stream, clients, door, sweep] as const
    return supervisor('service', 'rest_for_one', inside)
  }
  const amongPeers = () => {
    const chainOfMany: Unit<HasStorage & HasPeers> = config.role.includes('ingest')
      ? chainThat(leader(chain))
      : supervisor('chain', 'rest_for_one', [child('follower', follower(chain))])
    const openPeersOnce = firstOf(opened?.peers, () => openPeers(config, logger, ports))
    const others = child('peers', peers(openPeersOnce, { clock, metrics }))
    const keyHints = ({ peers }: HasPeers) => peers.keys
    const shared = ({ peers }: HasPeers) => ({
      limits: peers.limits,
      redisAway: () => peers.outage !== null
    })
    if (!config.role.includes('gateway')) {
      const build: EdgeOptions<HasStorage & HasPeers>['build'] = (needs, own) =>
        operationsApp({ ...http, ...own, ...shared(needs), storage: needs.storage })
      const door = child('edge', edge({ ...listening, keyHints, build }))
      return supervisor('service', 'rest_for_one', [others, storage, chainOfMany, door])
    }
    const build: EdgeOptions<HasStorage & HasPeers & HasTenants>['build'] = (needs, own) =>
      buildApp({ ...http, ...own, ...shared(needs), storage: needs.storage, stream: needs.tenants })
    const clients = tenantsWith<HasPeers>(({ peers }) => peers.limits)
    const door = child('edge', edge({ ...listening, keyHints, build }))
    const inside = [others, storage, chainOfMany, views, stream, clients, door] as const
    return supervisor('service', 'rest_for_one', inside)
  }

  const tree = config.storage === 'embedded' ? alone() : amongPeers()
  const supervision = supervise(tree, ports, undefined, (path, err) => {
    // It fails each unit up to the service, and whoever started that tells it once.
    if (err instanceof StartRefused) return
    logger.warn({ unit: path, err }, `${path === '' ? 'the service' : path} has a fault: ${err.message}`)
  })
  addSourceMetrics(metrics.registry, () => supervision.source('chain/source'))
  addRecordedMetrics(metrics.registry, recorded)
  return supervision
}

/** Where a localnet on loopback keeps its demo key; undefined for every other service. */
export function demoKeyFileOf({
  source,
  role,
  host,
  dataDir
}: Pick<Config, 'source' | 'role' | 'host' | 'dataDir'>): DemoKeyFile | undefined {
  if (source !== 'localnet' || !role.includes('ingest') || !isLoopbackName(host)) return undefined
  return new DemoKeyFile(join(dataDir, 'demo-key'))
}

interface HasTenants {
  readonly tenants: Tenants
}

interface HasChannels {
  readonly channels: Channels
}

interface HasStorage {
  readonly storage: Storage
}

interface HasPeers {
  readonly peers: Peers
}

/** Opens something, the first time by what is open already. */
function firstOf<T>(opened: T | undefined, open: () => Promise<T>): () => Promise<T> {
  let left = opened
  return async () => {
    const first = left
    left = undefined
    return first ?? open()
  }
}
