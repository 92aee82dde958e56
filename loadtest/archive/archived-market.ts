import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { configOf } from '../../src/configuration.ts'
import { openStore } from '../../src/store/opening.ts'
import { CqlCluster } from '../../test/servers/cql-cluster.ts'
import { clusterEnvironment } from '../../test/service/cluster.ts'
import { diskBytes } from '../disk-bytes.ts'
import { ensureMarketStore, fillWithMarket } from '../market-store.ts'
import type { MarketSize } from '../market/population.ts'
import type { MeasuredProcess } from '../measured-process.ts'
import { serveMarket } from '../served-market.ts'
import { startService, WITHOUT_LIMITS } from '../service-process.ts'
import { workingCopy } from '../working-copy.ts'
import { mebibytesByTable } from './keyspace-tables.ts'

/** A live market on one kind of store, with an archive behind it that may be left out. */
export interface ArchivedMarket {
  /** Folder for files of its own, removed at the end. */
  readonly scratch: string
  /** Imports a file of trade rows, as a user does. */
  importFile(file: string): Promise<void>
  /** Starts a service on the live rows. */
  serve(isArchived: boolean): Promise<MeasuredProcess>
  /** Returns the bytes on disk of the archive without the facts that it was folded from. */
  archiveBytes(): Promise<number>
  end(): Promise<void>
}

/** Heap of the CQL server: with that of tests, a node stopped answering at two million trades. */
const HEAP_MIB = 1_024
const CLI = join(import.meta.dirname, '../../src/kernel/cli/millrace.js')

async function importInto(
  dataDir: string,
  env: Readonly<Record<string, string>>,
  file: string
): Promise<void> {
  const child = spawn(process.execPath, [CLI, 'archive', 'import', file, '--data-dir', dataDir], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`the import ended with ${code}`)
}

/** Builds the market on the embedded store below a directory, unless it is there, and works on a copy of it. */
export async function embeddedMarket(directory: string, size: MarketSize): Promise<ArchivedMarket> {
  await ensureMarketStore(directory, size, (line) => console.error(line))
  const scratch = workingCopy(directory)
  mkdirSync(join(scratch, 'nothing'))
  const [archive, away] = [join(scratch, 'archive'), join(scratch, 'archive-away')]
  return {
    scratch,
    importFile: (file) => importInto(scratch, {}, file),
    serve(isArchived) {
      if (isArchived !== existsSync(archive))
        renameSync(isArchived ? away : archive, isArchived ? archive : away)
      return serveMarket(scratch, 'quiet')
    },
    archiveBytes: async () => diskBytes(join(archive, 'store')),
    end: async () => rmSync(scratch, { recursive: true, force: true })
  }
}

/** Builds the market in two keyspaces of a new CQL server with one node, of which one gets the archive. */
export async function clusterMarket(directory: string, size: MarketSize): Promise<ArchivedMarket> {
  mkdirSync(directory, { recursive: true })
  const scratch = mkdtempSync(join(directory, 'working-'))
  const cluster = await CqlCluster.start({ fast: true, disposable: true, heapMib: HEAP_MIB })
  const [archived, bare] = ['archived', 'bare'].map((keyspace) => {
    const dataDir = join(scratch, keyspace)
    mkdirSync(join(dataDir, 'nothing'), { recursive: true })
    return { dataDir, env: clusterEnvironment(cluster, keyspace, null) }
  }) as [Side, Side]
  for (const { dataDir, env } of [archived, bare]) {
    const reading = configOf({}, { ...env, MILLRACE_DATA_DIR: dataDir, MILLRACE_SOURCE: 'recorded' })
    if (reading.kind === 'invalid') throw new Error(reading.problems.join('; '))
    const storage = await openStore(reading.config)
    try {
      await fillWithMarket(storage, size, 1, (line) => console.error(line))
    } finally {
      await storage.close()
    }
  }
  return {
    scratch,
    importFile: (file) => importInto(archived.dataDir, archived.env, file),
    serve(isArchived) {
      const { dataDir, env } = isArchived ? archived : bare
      const flags = ['--source', 'recorded', '--recorded-dir', join(dataDir, 'nothing')]
      return startService(dataDir, flags, { env: { ...WITHOUT_LIMITS, ...env } })
    },
    archiveBytes: () => keyspaceBytes(cluster, 'archived_archive'),
    async end() {
      await cluster.end()
      rmSync(scratch, { recursive: true, force: true })
    }
  }
}

interface Side {
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
}

/** Returns the bytes of a keyspace's tables but for the journal, whose deleted rows stay until a compaction. */
async function keyspaceBytes(cluster: CqlCluster, keyspace: string): Promise<number> {
  const { journal: _, ...tables } = await mebibytesByTable(cluster, keyspace)
  return Object.values(tables).reduce((sum, each) => sum + each, 0) * 2 ** 20
}
