import type { Invocation } from '../../kernel/cli/command.ts'
import { ServiceError } from '../../kernel/errors.ts'
import type { Config } from '../../kernel/config/config.ts'
import { findBackup, restoreBackup } from '../backup/restore-backup.ts'
import type { BackupManifest } from '../backup/manifest.ts'
import { openStoreToRead } from '../opening.ts'

/** Restores a backup into the data folder. Resolves with 1 if the folder is unchanged, or if the cluster lacks rows. */
export async function restore({
  config,
  operands,
  interrupted,
  stdout,
  stderr
}: Invocation): Promise<number> {
  try {
    const found = await findBackup(operands[0]!)
    const { manifest } = found
    const isOfCluster = manifest.keyspace !== null
    if (isOfCluster !== (config.storage !== 'embedded')) {
      stderr(
        `millrace: ${found.folder} is of ${isOfCluster ? 'a cluster' : 'an embedded store'}; set MILLRACE_STORAGE=${isOfCluster ? 'scylla' : 'embedded'}`
      )
      return 1
    }
    await restoreBackup(found, config.dataDir, interrupted)
    stdout(`${config.dataDir} has the backup of ${manifest.made}: ${manifest.files.length} files`)
    const lacking = await lackingRows(config, manifest.keyspace)
    if (lacking === null) return 0
    stderr(`millrace: ${lacking}`)
    return 1
  } catch (error) {
    if (interrupted.aborted) stderr('millrace: interrupted; rerun the command')
    else stderr(`millrace: ${error instanceof ServiceError ? error.detail : (error as Error).message}`)
    return 1
  }
}

/** Returns why a cluster does not have the rows of its snapshot; null if it has them. */
async function lackingRows(config: Config, keyspace: BackupManifest['keyspace']): Promise<string | null> {
  if (keyspace === null || keyspace.head === null) return null
  const storage = await openStoreToRead(config, () => undefined)
  try {
    const head = (await storage.blocks.head())?.slot ?? null
    if (head !== null && head >= keyspace.head && (await storage.blocks.has(keyspace.head))) return null
    return `the keyspace ${config.scyllaKeyspace} lacks slot ${keyspace.head}, the newest one of the backup (its newest is ${head ?? 'none'}); restore the snapshot on each node of the cluster (src/docs/fleet.md), and rerun this command with an empty data folder`
  } finally {
    await storage.close()
  }
}
