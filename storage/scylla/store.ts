import { cursorAt } from '../../src/market/cursor.ts'
import { systemPorts } from '../../src/ports.ts'
import type { Ports } from '../../src/ports.ts'
import type { ScyllaCrashPoint } from '../crash-points.ts'
import type { Storage } from '../port.ts'
import { hasReferences } from './archived-trades.ts'
import type { TlsOptions } from '../tls-options.ts'
import type { ScyllaBase } from './base.ts'
import { blockStore } from './blocks.ts'
import { CqlClient } from './client.ts'
import { ARCHIVE_GROUP_BLOCKS_MAX, BLOCKS_TOGETHER_MAX } from './commit-group.ts'
import { ConditionalWrites } from './conditional-writes.ts'
import { coverageStore } from './coverage.ts'
import { DIVIDED_KINDS, type DividedKinds, type DocumentLayout } from './divided-kinds.ts'
import { documentStore } from './documents.ts'
import { hasEarlierDocuments } from './earlier-documents.ts'
import { copyEarlierAccess } from './earlier-access.ts'
import { startProblem } from './errors.ts'
import { Gaps } from './gaps.ts'
import { historyOf } from './history.ts'
import { HotValues } from './hot-values.ts'
import { CommitJournal } from './journal.ts'
import { KeptBlocks } from './kept-blocks.ts'
import type { Replication } from './keyspace.ts'
import { CqlLedgers } from './ledger.ts'
import { WatermarkReader } from './watermark-reader.ts'
import { recordTables, tableStores } from './record-stores.ts'
import { CqlHolders } from './holders.ts'
import { CqlProgramAccounts } from './program-accounts.ts'
import { rowHorizon } from './horizon.ts'
import { logTtlOf } from './retention.ts'
import type { Retention } from './retention.ts'
import { RowList } from './row-list.ts'
import { EXPIRING_TABLES, LOG_TABLES, slots, SLOTS_OWNER } from './row-lists.ts'
import { CqlQuestions } from './shared-questions.ts'
import { CqlSharedReadings } from './shared-readings.ts'
import { applySchema } from './schema.ts'
import { refuseOldServer, serverVersion } from './server-version.ts'
import { whenOpen } from './start-wait.ts'
import type { StartWait } from './start-wait.ts'
import { withMemtable } from './with-memtable.ts'
import { usageOf } from './usage.ts'
import { Visibility } from './visibility.ts'
import { BlockWriter } from './writer.ts'

/** Estimated bytes of records that the writer caches, so that it need not read the versions that it replaces. */
const COMMITTED_BYTES_MAX = 64 * 2 ** 20
const INDEX_BYTES_MAX = 128 * 2 ** 20
/** Tables of entries, most of which are of submissions and live as long as rows do. Each row states its own TTL. */
const ENTRY_TABLES = ['document_entries', 'document_entries_buckets']
/** Lists that find their rows by buckets. */
const LISTS = 11
/** Blocks that are flushed together, 13 s of the chain: a record that changes in each of them is written once. */
const FLUSH_BLOCKS = 32

export interface ScyllaStorageOptions {
  /** `host` or `host:port` of some nodes. */
  readonly contactPoints: readonly string[]
  /** CQL port of every node. */
  readonly port: number
  readonly datacenter: string
  /** Created if it is missing. */
  readonly keyspace: string
  readonly username: string | null
  readonly password: string | null
  /** Omitted for connections without TLS. */
  readonly tls?: TlsOptions
  /** As for the driver; tests on a busy machine set it. */
  readonly readRetryMs?: number
  readonly replication: Replication
  /** Whether a new keyspace has tablets, which ScyllaDB alone has. */
  readonly hasTablets?: boolean
  /** Time to live of trades and pool events. */
  readonly retentionSeconds: Retention
  /** Time to live of the log: as far as the stream's horizon reaches back from the head's block time. */
  readonly logSeconds: Retention
  /** Estimated bytes of records that the writer caches. */
  readonly committedBytesMax?: number
  /** Estimated bytes of the cached buckets of all lists. */
  readonly indexBytesMax?: number
  /** Kinds of documents that are divided; tests divide kinds of their own. */
  readonly divided?: DividedKinds
  /** A flush of blocks to the tables begins at this number of blocks; commits wait for it at twice as many. */
  readonly flushBlocks?: number
  /**
   * Whether the store is an archive, which refers to trades of wallets instead of repeating them. Default: whether it has such
   * references.
   */
  readonly isArchive?: boolean
  /** Wait of a start that may come before its servers, or at the same time as another process's. Absent means one try. */
  readonly startWait?: StartWait
  /** Called at each crash point; tests end the process there. */
  readonly reached?: (point: ScyllaCrashPoint) => void
  readonly ports?: Ports
}

/** A start that is tried once waits for nothing but another process that is changing the schema. */
const ONCE: StartWait = {
  ms: 120_000,
  waiting: () => undefined,
  end: new AbortController().signal
}

/**
 * Opens the store in a keyspace of a cluster; any number of processes may do so. Rejects with STORAGE_UNAVAILABLE, in one
 * line that says what to do. The reason is a cluster that cannot be reached within `startWait`, is too old, or refuses the
 * login, or a keyspace with a newer schema than this version knows.
 */
export async function openScyllaStorage(options: ScyllaStorageOptions): Promise<Storage> {
  const { startWait, ports = systemPorts } = options
  if (startWait === undefined) return tryToOpen(options, ONCE)
  return whenOpen(ports.clock, startWait, (rest) => tryToOpen(options, rest))
}

async function tryToOpen(options: ScyllaStorageOptions, lockWait: StartWait): Promise<Storage> {
  const ports = options.ports ?? systemPorts
  const { keyspace } = options
  const expiring = [
    { tables: [...EXPIRING_TABLES, ...ENTRY_TABLES], seconds: options.retentionSeconds },
    { tables: LOG_TABLES, seconds: logTtlOf(options.logSeconds) }
  ]
  try {
    // The keyspace may have to be created first, by a connection without a keyspace.
    const admin = await CqlClient.connect(options, null, ports)
    try {
      refuseOldServer(await serverVersion(admin))
      await applySchema(admin, {
        ...options,
        lockWait,
        expiring,
        clock: ports.clock,
        applying: () => options.reached?.('schema.applying')
      })
    } finally {
      await admin.close()
    }
    const client = await CqlClient.connect(options, keyspace, ports)
    try {
      return await openStorage(client, options)
    } catch (error) {
      await client.close()
      throw error
    }
  } catch (error) {
    throw startProblem(error, options)
  }
}

async function openStorage(client: CqlClient, options: ScyllaStorageOptions): Promise<Storage> {
  const reached = options.reached ?? (() => undefined)
  const visibility = new Visibility()
  const watermarkReader = new WatermarkReader(client, visibility)
  const base: ScyllaBase = {
    client,
    visibility,
    refresh: () => watermarkReader.refresh(),
    isArchive: options.isArchive ?? (await hasReferences(client)),
    retentionSeconds: knownOf(options.retentionSeconds),
    logTtlSeconds: knownOf(logTtlOf(options.logSeconds)),
    indexBytesMax: (options.indexBytesMax ?? INDEX_BYTES_MAX) / LISTS
  }
  await base.refresh()
  const slotList = new RowList(base, slots)
  const gaps = new Gaps(base)
  const tables = recordTables(base)
  const { committedBytesMax = COMMITTED_BYTES_MAX } = options
  const writer = new BlockWriter(base, {
    reached,
    watermarkReader,
    committedBytesMax,
    flushBlocks: options.flushBlocks ?? FLUSH_BLOCKS,
    async stage(commit) {
      // A slot gives the number of its own commit: commits are numbered consecutively up to the last.
      const { slots } = commit.blocks
      const numbers = new Map(slots.map((row, i) => [row, commit.number - slots.length + 1 + i]))
      slotList.stage(
        commit,
        slots,
        () => SLOTS_OWNER,
        (row) => numbers.get(row)!
      )
      await Promise.all(Object.values(tables).map((table) => table.stage(commit)))
    }
  })
  const conditionalWrites = new ConditionalWrites(client)
  const layout: DocumentLayout = {
    divided: options.divided ?? DIVIDED_KINDS,
    hasEarlier: await hasEarlierDocuments(client)
  }
  const hotValues = new HotValues(client, (options.ports ?? systemPorts).clock, layout)
  const documents = documentStore(client, conditionalWrites, hotValues, layout)
  await copyEarlierAccess(client, options.keyspace, documents)
  const blocks = blockStore(base, slotList, writer)
  let closing: Promise<void> | null = null
  const close = async (): Promise<void> => {
    // Waiting writes are sent before the client refuses further tries.
    const hotValuesWritten = hotValues.close()
    client.beginClose()
    await Promise.all([writer.close(), conditionalWrites.idle(), hotValuesWritten])
    reached('close.drained')
    await client.close()
  }
  return {
    blocks,
    ...withMemtable(base, tableStores(tables)),
    coverage: coverageStore(client, gaps, conditionalWrites, () =>
      rowHorizon(client, options.keyspace, blocks)
    ),
    documents,
    programAccounts: new CqlProgramAccounts(client),
    holders: new CqlHolders(client),
    ledger: new CqlLedgers(client),
    history: historyOf(writer, new KeptBlocks(base), base, async (commit, amendment, edit) => {
      const { put, remove } = amendment.slots
      slotList.stage(commit, put, () => SLOTS_OWNER)
      slotList.removeAt(
        commit,
        remove.map((slot) => ({ owner: SLOTS_OWNER, cursor: cursorAt(slot, 0) }))
      )
      await Promise.all([
        ...Object.values(tables).map((table) => table.amend(commit, amendment)),
        gaps.amend(commit, edit)
      ])
    }),
    isShared: true,
    commitGroupMax: base.isArchive ? ARCHIVE_GROUP_BLOCKS_MAX : BLOCKS_TOGETHER_MAX,
    journal: new CommitJournal(base, slotList),
    usage: () => usageOf(client, options.keyspace),
    // Rows have a time to live.
    sweeper: null,
    damage: [],
    losses: null,
    get recordCache() {
      return { bytes: writer.recordBytes, bytesMax: committedBytesMax }
    },
    accountPages: null,
    readings: new CqlSharedReadings(client),
    questions: new CqlQuestions(client),
    get waitingReads() {
      return client.waitingReads
    },
    get outage() {
      return client.outages.current
    },
    get answeredAtMs() {
      return client.outages.answeredAtMs
    },
    failed: new Promise(() => undefined),
    close: () => (closing ??= close())
  }
}

/** `as it is` is for a process that writes no rows. */
const knownOf = (retention: Retention): number | null => (retention === 'as it is' ? null : retention)
