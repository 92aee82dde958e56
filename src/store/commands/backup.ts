import { stat } from 'node:fs/promises'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { ServiceError } from '../../kernel/errors.ts'
import type { Config } from '../../kernel/config/config.ts'
import { systemPorts } from '../../ports.ts'
import { version } from '../../version.ts'
import { makeBackup, removeOldBackups } from '../backup/make-backup.ts'
import type { BackupManifest } from '../backup/manifest.ts'
import { archivePlaceOf, databaseFiles, factsKeyspace, openStoreToRead, storeDirectory } from '../opening.ts'

/** Backs up the data folder. A service may write to it meanwhile. Resolves with 1 if there is no new backup. */
export async function backup(
  invocation: Invocation<{ readonly keep?: string | undefined }>
): Promise<number> {
  const { config, operands, options, interrupted, stdout, stderr } = invocation
  const count = countOf(options.keep)
  const into = operands[0]!
  const { dataDir } = config
  if (config.storage === 'embedded' && (await stat(storeDirectory(config)).catch(() => null)) === null) {
    stderr(`millrace: there is no store in ${storeDirectory(config)}; set its folder with --data-dir`)
    return 1
  }
  try {
    const keyspace = config.storage === 'embedded' ? null : await keyspaceOf(config)
    const nowMs = systemPorts.clock.now()
    const given = { dataDir, into, nowMs, version, keyspace, databaseFiles: await databaseFiles() }
    const made = await makeBackup({ ...given, signal: interrupted })
    const shared =
      made.linkedBytes === 0 ? '' : `, ${megabytes(made.linkedBytes)} of them shared with the backup before`
    stdout(`${made.folder}: ${made.files} files, ${megabytes(made.bytes)}${shared}`)
    if (count !== null)
      for (const name of await removeOldBackups(into, count)) stderr(`removed the backup ${name}`)
    if (keyspace !== null) for (const line of await keyspaceAdvice(config)) stderr(line)
    return 0
  } catch (error) {
    if (interrupted.aborted) stderr('millrace: interrupted; earlier backups are unchanged')
    else stderr(`millrace: ${error instanceof ServiceError ? error.detail : (error as Error).message}`)
    return 1
  }
}

function countOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new BadUsage(`--keep takes a number of backups from 1, not ${text}`)
  return Number(text)
}

async function keyspaceOf(config: Config): Promise<BackupManifest['keyspace']> {
  const storage = await openStoreToRead(config, () => undefined)
  try {
    return { name: config.scyllaKeyspace, head: (await storage.blocks.head())?.slot ?? null }
  } finally {
    await storage.close()
  }
}

/** Returns what an operator has to back up besides: the cluster's own snapshots. */
async function keyspaceAdvice(config: Config): Promise<readonly string[]> {
  const { config: archive } = await archivePlaceOf(config)
  const keyspaces = [...new Set([config.scyllaKeyspace, archive.scyllaKeyspace, factsKeyspace(config)])]
  return [
    'the backup has the files of this machine; the rows are in the cluster. Stop the ingest processes, then run on each of its nodes (src/docs/fleet.md):',
    ...keyspaces.map((name) => `  nodetool snapshot -t millrace ${name}`),
    'a keyspace that does not exist needs no snapshot; `millrace restore` checks the restored rows'
  ]
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
