import { join } from 'node:path'
import { reportDamage, type DamageReport } from '../../storage/embedded/repair/report.ts'
import { repairStore, type RepairOptions, type RepairOutcome } from '../../storage/embedded/repair/repair.ts'
import { openEmbeddedSnapshot } from '../../storage/embedded/snapshot.ts'
import { openEmbeddedStorage, type EmbeddedStorageOptions } from '../../storage/embedded/store.ts'
import { isOpenElsewhere } from '../../storage/embedded/unopened.ts'
import type { Peers } from '../../storage/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import type { StartWait } from '../../storage/scylla/start-wait.ts'
import { KEYS_MAX } from '../access/key-directory.ts'
import { RateWindow } from '../access/rate-window.ts'
import { SharedRate } from '../access/shared-rate.ts'
import type { Config } from '../config/config.ts'
import { memoryBudget } from '../config/memory-budget.ts'
import { logSecondsOf, retentionSecondsOf } from '../config/retention.ts'
import { systemPorts, type Ports } from '../ports.ts'
import type { Logger } from '../telemetry/logger.ts'
import { foldCandlesAgain } from '../verify/candle-repair.ts'

/** The resources of a service outside its own process. */
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
  const { openScyllaStorage } = await import('../../storage/scylla/store.ts')
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
    return noPeers()
  }
  const [{ RedisConnection }, { RedisHints }, { RedisLeases }, { RedisRateCounter }] = await Promise.all([
    import('../../storage/redis/connection.ts'),
    import('../../storage/redis/hints.ts'),
    import('../../storage/redis/leases.ts'),
    import('../../storage/redis/rate-counter.ts')
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

/** The peers of a process that has none: it counts calls by itself. */
export function noPeers(): Peers {
  const limits = new RateWindow(KEYS_MAX)
  return { leases: null, commits: null, keys: null, limits, outage: null, close: async () => undefined }
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
