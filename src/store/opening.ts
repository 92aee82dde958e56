import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DamageReport } from '../../storage/embedded/repair/report.ts'
import type { RepairOptions, RepairOutcome } from '../../storage/embedded/repair/repair.ts'
import { openEmbeddedSnapshot } from '../../storage/embedded/snapshot.ts'
import { openEmbeddedStorage, type EmbeddedStorageOptions } from '../../storage/embedded/store.ts'
import { isOpenElsewhere } from '../../storage/embedded/unopened.ts'
import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { FactStore, Storage } from '../../storage/port.ts'
import type { StartWait } from '../../storage/scylla/start-wait.ts'
import type { ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import type { Config } from '../kernel/config/config.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import { KEYSPACE_LENGTH_MAX } from './settings.ts'
import { importBudget, memoryBudget } from '../kernel/config/memory-budget.ts'
import { logSecondsOf, retentionSecondsOf } from '../kernel/config/retention.ts'
import { systemPorts, type Ports } from '../ports.ts'
import { archivePlace, type ArchivePlace } from '../archive/archive-place.ts'
import type { StoredBlock } from '../market/stored-block.ts'
import { openCoordination } from './coordination.ts'
import { readTlsOptions } from './tls-files.ts'
import type { DatabaseFiles } from './backup/database-files.ts'
import type { Logger } from '../kernel/telemetry/logger.ts'

/** Open resources that a service shares with other processes. */
export interface Opened {
  readonly storage: Storage
  readonly peers: ClusterCoordination
}

/** Returns the directory of the embedded store. */
export function storeDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'store')
}

/**
 * Verifies the files of the embedded store, even while a service has it open; changes nothing. Resolves with null if
 * the store does not exist.
 */
export async function reportStoreDamage(config: Config): Promise<DamageReport | null> {
  const { reportDamage } = await import('../../storage/embedded/repair/report.ts')
  return reportDamage(storeDirectory(config))
}

/** Returns access to the files of embedded databases, for backups. */
export async function databaseFiles(): Promise<DatabaseFiles> {
  return (await import('../../storage/embedded/database-copy.ts')).DATABASE_FILES
}

/** Replaces a damaged embedded store by a new one with everything readable. */
export async function repairEmbeddedStore(
  config: Config,
  startOver: RepairOptions['startOver'],
  nowMs: number
): Promise<RepairOutcome> {
  const { repairStore } = await import('../../storage/embedded/repair/repair.ts')
  const { foldCandlesAgain } = await import('./verify/candle-repair.ts')
  return repairStore({
    directory: storeDirectory(config),
    startOver,
    nowMs,
    retentionSeconds: retentionSecondsOf(config),
    foldCandles: foldCandlesAgain
  })
}

/**
 * Opens the store. Rejects with STORAGE_UNAVAILABLE, for instance if another process has it open. Retries a cluster
 * for `startWait`. Does not retry an embedded store, because no other process starts it.
 */
export async function openStore(
  config: Config,
  ports: Ports = systemPorts,
  startWait?: StartWait
): Promise<Storage> {
  if (config.storage === 'embedded') return openEmbeddedStorage(embeddedOptionsOf(config))
  return openKeyspace(config, { ports, ...(startWait !== undefined && { startWait }) })
}

/** Opens the keyspace of a store; `options` replaces what follows from the configuration. */
async function openKeyspace(config: Config, options: Partial<ScyllaStorageOptions>): Promise<Storage> {
  const { records, indexes } = memoryBudget(config)
  // Imported only for a cluster: the driver costs 0.15 s of processor time and 20 MB.
  const { openScyllaStorage } = await import('../../storage/scylla/store.ts')
  return openScyllaStorage({
    ...(await scyllaTargetOf(config)),
    replication: config.scyllaReplication,
    hasTablets: config.scyllaTablets,
    retentionSeconds: config.role.includes('ingest') ? retentionSecondsOf(config) : 'as it is',
    logSeconds: config.role.includes('ingest') ? logSecondsOf(config) : 'as it is',
    committedBytesMax: records,
    indexBytesMax: indexes,
    ...options
  })
}

/** Opens the store for reading while services have it open: for an open embedded store, a snapshot. */
export async function openStoreToRead(config: Config, onSnapshot: () => void): Promise<Storage> {
  try {
    return await openStore({ ...config, role: ['gateway'] })
  } catch (error) {
    if (config.storage !== 'embedded' || !isOpenElsewhere(error)) throw error
    onSnapshot()
    return openEmbeddedSnapshot(embeddedOptionsOf(config))
  }
}

/** Seconds for which the archive stores the stream's events, which are never read there. */
const ARCHIVE_LOG_SECONDS = 60
/**
 * Blocks that an import flushes together to the tables of a cluster: rows that grow are written once for 51 s of the chain. Processes
 * that read the archive meanwhile have up to twice as many in memory; their bytes have the bound of any store.
 */
const ARCHIVE_FLUSH_BLOCKS = 128

/**
 * Returns the configuration of the archive's store: an embedded store in its own folder below the data folder, or the
 * keyspace that it has initially (`archivePlaceOf`). Like the store of a recorded source it retains all rows.
 */
export function archiveConfigOf(config: Config): Config {
  const dataDir = join(config.dataDir, 'archive')
  const scyllaKeyspace = `${config.scyllaKeyspace}_archive`
  return { ...config, dataDir, scyllaKeyspace, source: 'recorded', retentionDays: null }
}

/** Finds the archive's store: on a cluster it may be either of two keyspaces. Rejects with STORAGE_UNAVAILABLE. */
export async function archivePlaceOf(config: Config): Promise<ArchivePlace> {
  const archive = archiveConfigOf(config)
  if (config.storage === 'embedded') return { config: archive, generation: 0 }
  const open = (config: Config): Promise<Storage> => openStoreToRead(config, () => undefined)
  return archivePlace(archive, { isThere: isStoreThere, open })
}

/** Returns the file that an import writes whenever its blocks become readable. */
export function archiveStampFile(config: Pick<Config, 'dataDir'>): string {
  return join(config.dataDir, 'archive', 'imported.json')
}

/**
 * Opens the archive for an import, and creates it if it does not exist. Rejects with STORAGE_UNAVAILABLE as `openStore`
 * does, and if the archive's keyspace has no valid name.
 */
export async function openArchive(
  config: Config,
  ports: Ports = systemPorts,
  place?: ArchivePlace
): Promise<Storage> {
  checkKeyspaceName(archiveConfigOf(config))
  return openArchiveStore((place ?? (await archivePlaceOf(config))).config, ports)
}

/**
 * Opens one of the stores of an archive for an import, and creates it if it is missing. Rejects with
 * STORAGE_UNAVAILABLE.
 */
export async function openArchiveStore(store: Config, ports: Ports = systemPorts): Promise<Storage> {
  const archive = { ...store, role: ['ingest'] as Config['role'] }
  try {
    if (store.storage !== 'embedded')
      return await openKeyspace(archive, {
        ports,
        isArchive: true,
        logSeconds: ARCHIVE_LOG_SECONDS,
        flushBlocks: ARCHIVE_FLUSH_BLOCKS
      })
    const { records, engine } = importBudget(store)
    return await openEmbeddedStorage({
      ...embeddedOptionsOf(archive),
      ...{ logSeconds: ARCHIVE_LOG_SECONDS, hotBytesMax: records, engineBytes: engine, isArchive: true }
    })
  } catch (error) {
    throw isOpenElsewhere(error) ? importRunning(archive, error) : error
  }
}

function checkKeyspaceName({ storage, scyllaKeyspace }: Config): void {
  const { length } = scyllaKeyspace
  if (storage === 'embedded' || length <= KEYSPACE_LENGTH_MAX) return
  throw new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `the archive needs the keyspace ${scyllaKeyspace}, whose name has ${length} characters; a keyspace has ${KEYSPACE_LENGTH_MAX} at most: shorten MILLRACE_SCYLLA_KEYSPACE`
  )
}

const importRunning = ({ dataDir }: Config, cause: unknown): ServiceError =>
  new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `another import into ${dataDir} is running; wait until it ends`,
    { cause }
  )

/**
 * Opens the archive for reading, even while an import writes to it: the snapshot of an embedded store, or the
 * keyspace. Resolves with null if nothing was imported, and then does not create it. Rejects with
 * STORAGE_UNAVAILABLE.
 */
export async function openArchiveToRead(config: Config): Promise<Storage | null> {
  const { config: archive } = await archivePlaceOf(config)
  if (!(await isStoreThere(archive))) return null
  if (config.storage === 'embedded')
    return openEmbeddedSnapshot({ ...embeddedOptionsOf(archive), isArchive: true })
  return openKeyspace({ ...archive, role: ['gateway'] }, { isArchive: true })
}

/**
 * Opens the facts that the archive is folded from, and creates them if they do not exist: a folder beside the archive's
 * store, or a keyspace of their own. Rejects with STORAGE_UNAVAILABLE, for instance while another import has them open.
 */
export async function openArchiveFacts(config: Config): Promise<FactStore> {
  const archive = archiveConfigOf(config)
  if (config.storage !== 'embedded') {
    checkKeyspaceName(archive)
    const keyspace = factsKeyspace(config)
    const { openCqlFacts } = await import('../../storage/scylla/facts.ts')
    return openCqlFacts({
      ...(await scyllaTargetOf(config)),
      keyspace,
      replication: config.scyllaReplication,
      hasTablets: config.scyllaTablets
    })
  }
  const { openEmbeddedFacts } = await import('../../storage/embedded/facts.ts')
  return openEmbeddedFacts(archiveFactsDirectory(config)).catch((error: unknown) => {
    throw isOpenElsewhere(error) ? importRunning(archive, error) : error
  })
}

/** Returns the directory of the embedded archive's facts. */
export const archiveFactsDirectory = (config: Config): string =>
  join(archiveConfigOf(config).dataDir, 'facts')

/** Returns the keyspace of the archive's facts on a cluster. */
export const factsKeyspace = ({ scyllaKeyspace }: Config): string => `${scyllaKeyspace}_facts`

/** Reads the blocks of an embedded archive from its rows, by slot. No process may have its store open. */
export async function* archivedBlocks(archive: Config): AsyncGenerator<StoredBlock> {
  const { readStoredBlocks } = await import('../../storage/embedded/repair/stored-blocks.ts')
  yield* readStoredBlocks(storeDirectory(archive))
}

/** Returns whether the store exists: the folder of an embedded one, or the keyspace. Rejects with STORAGE_UNAVAILABLE. */
export async function isStoreThere(config: Config): Promise<boolean> {
  if (config.storage === 'embedded') return (await stat(storeDirectory(config)).catch(() => null)) !== null
  if (config.scyllaKeyspace.length > KEYSPACE_LENGTH_MAX) return false
  const { isKeyspaceThere } = await import('../../storage/scylla/keyspace-lookup.ts')
  return isKeyspaceThere(await scyllaTargetOf(config), systemPorts)
}

/** Removes the keyspace of a store with all its data, if it exists. Rejects with STORAGE_UNAVAILABLE. */
export async function removeKeyspace(config: Config): Promise<void> {
  const { dropKeyspace } = await import('../../storage/scylla/keyspace-lookup.ts')
  return dropKeyspace(await scyllaTargetOf(config), systemPorts)
}

/** Returns the address, the credentials and the certificates of the cluster. Rejects with STORAGE_UNAVAILABLE. */
async function scyllaTargetOf(config: Config) {
  const tls = config.scyllaTls ? { tls: await readTlsOptions('scylla', config) } : {}
  return {
    ...tls,
    contactPoints: config.scyllaContactPoints,
    port: config.scyllaPort,
    datacenter: config.scyllaDatacenter,
    keyspace: config.scyllaKeyspace,
    username: config.scyllaUsername,
    password: config.scyllaPassword
  }
}

function embeddedOptionsOf(config: Config): EmbeddedStorageOptions {
  const { records, engine, programAccounts } = memoryBudget(config)
  return {
    directory: storeDirectory(config),
    retentionSeconds: retentionSecondsOf(config),
    logSeconds: logSecondsOf(config),
    hotBytesMax: records,
    engineBytes: engine,
    accountPageBytes: programAccounts
  }
}

/**
 * Opens the store and connects to the peers; if either fails, both are closed. If `end` is given, retries the store
 * for as long as the configuration allows. Does not wait for Redis, because a process can work temporarily without
 * Redis.
 */
export async function openAll(
  config: Config,
  logger: Pick<Logger, 'info' | 'warn'>,
  end?: AbortSignal
): Promise<Opened> {
  const peers = await openCoordination(config, logger)
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
