import { systemPorts } from '../../src/ports.ts'
import type { Clock } from '../../src/ports.ts'
import type { Storage } from '../port.ts'
import type { CrashPoint } from '../crash-points.ts'
import { blockStore } from './blocks.ts'
import { coverageStore } from './coverage.ts'
import { Database } from './database.ts'
import { DocumentGroups } from './document-group.ts'
import { documentStore } from './documents.ts'
import { moveEarlierAccess } from './earlier-access.ts'
import { historyOf } from './history.ts'
import { HolderDatabase } from './holders.ts'
import { LedgerTable } from './ledger.ts'
import { ProgramAccountDatabase } from './program-accounts.ts'
import { recordTables, recordStores } from './record-stores.ts'
import type { TrustedFiles } from './engine-files/store-check.ts'
import { EmbeddedLosses } from './repair/losses.ts'
import { RowSweeper } from './sweeper.ts'
import { usageOf } from './usage.ts'
import { hasReferences } from './wallet-references.ts'

/** Default for the estimated bytes of cached records. */
const HOT_BYTES_MAX = 64 * 2 ** 20

export interface EmbeddedStorageOptions {
  /** Created if it does not exist. One process at a time may have it open. */
  readonly directory: string
  /** The cap of values in memory, estimated bytes. */
  readonly hotBytesMax?: number
  /** Bytes for the engine's buffers. Default: the largest size that is of use. */
  readonly engineBytes?: number
  /** Retention of the log, counted back from the head's block time. Null, the default, means for ever. */
  readonly logSeconds?: number | null
  /** Whether a crash of the machine may undo writes; for a store that is then recreated. */
  readonly isScratch?: boolean
  /**
   * Whether an archive writes the store: tables are compressed, and wallets' lists refer to trades. Other rows stay readable,
   * and any process reads the store without this.
   */
  readonly isArchive?: boolean
  /** Retention of rows, counted back from the head's block time. Null, the default, means for ever. */
  readonly retentionSeconds?: number | null
  /** Called at each crash point; tests end the process there. */
  readonly reached?: (point: CrashPoint) => void
  /** Whether mirrored accounts that another process has open are read from a snapshot. */
  readonly isSnapshot?: boolean
  /** Files of a snapshot that need no check. */
  readonly trusted?: TrustedFiles
  /** Directory of the mirrored accounts; by default beside the store's. */
  readonly programAccountsDirectory?: string
  /** Bytes of mirrored accounts that are also in memory, for scans. */
  readonly accountPageBytes?: number
  /** Directory of the holder lists; by default beside the store's. */
  readonly holdersDirectory?: string
  /** Clock of the documents, which expire. */
  readonly clock?: Clock
}

/**
 * Opens the store in a directory. Rejects with STORAGE_UNAVAILABLE if another process has it open, if this version does not
 * know its format, or if it cannot be read.
 */
export async function openEmbeddedStorage(options: EmbeddedStorageOptions): Promise<Storage> {
  const { hotBytesMax = HOT_BYTES_MAX, clock = systemPorts.clock } = options
  const database = await Database.open({
    directory: options.directory,
    hotBytesMax,
    engineBytes: options.engineBytes,
    isScratch: options.isScratch,
    isArchive: options.isArchive,
    trusted: options.trusted,
    reached: options.reached ?? (() => undefined)
  })
  try {
    await moveEarlierAccess(database, clock)
  } catch (error) {
    await database.close()
    throw error
  }
  const losses = await EmbeddedLosses.open(database, options.directory, (directory) =>
    openEmbeddedStorage({ directory, isScratch: true })
  )
  const sweeper = options.retentionSeconds == null ? null : new RowSweeper(database, options.retentionSeconds)
  const isReferred = options.isArchive === true || (await hasReferences(database))
  const tables = recordTables(database, options.logSeconds ?? null, isReferred)
  const groups = new DocumentGroups(database, clock)
  const { isSnapshot = false, directory } = options
  const { programAccountsDirectory = `${directory}.accounts`, holdersDirectory = `${directory}.holders` } =
    options
  const programAccounts = new ProgramAccountDatabase(programAccountsDirectory, {
    isSnapshot,
    pageBytesMax: options.accountPageBytes
  })
  const holders = new HolderDatabase(holdersDirectory, { isSnapshot })
  const ledger = new LedgerTable(database, clock)
  groups.sweep()
  // A store that does not sweep serves the same rows.
  ledger.sweep().catch(() => undefined)
  return {
    blocks: blockStore(database, tables),
    history: historyOf(database, tables),
    ...recordStores(tables),
    coverage: coverageStore(database),
    documents: documentStore(database, groups, clock),
    programAccounts,
    holders,
    ledger,
    isShared: false,
    commitGroupMax: Infinity,
    journal: null,
    get recordCache() {
      return { bytes: database.recordBytes, bytesMax: hotBytesMax }
    },
    accountPages: programAccounts.pageMemory,
    readings: null,
    questions: null,
    waitingReads: null,
    usage: () => usageOf(database, { programAccounts, holders }, options),
    // Lost records are recomputed from the remaining rows.
    sweeper: sweeper && {
      step: async () => (losses === null || losses.isSettled ? sweeper.step() : false)
    },
    outage: null,
    answeredAtMs: null,
    get damage() {
      return database.damaged.lines
    },
    get losses() {
      return losses?.isSettled === false ? losses : null
    },
    failed: database.failed,
    close: async () => {
      groups.close()
      await Promise.all([database.close(), programAccounts.close(), holders.close()])
    }
  }
}
