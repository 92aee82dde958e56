import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { copyDurably, syncFolder } from './file-copy.ts'
import { MANIFEST, readManifest, type BackupManifest } from './manifest.ts'
import { backupsIn } from './make-backup.ts'

/** Folder of a restore that has not ended. While it exists, no service starts. */
export const RESTORING = '.restoring'
/** Moved last: with it, the folder is complete. */
const LAST = 'store'

export interface FoundBackup {
  readonly folder: string
  readonly manifest: BackupManifest
}

/**
 * Finds a backup: the folder itself, or the newest backup in the folder. Rejects with an Error in one line without a usable
 * manifest.
 */
export async function findBackup(folder: string): Promise<FoundBackup> {
  const own = await readManifest(folder)
  if (own !== null) return { folder, manifest: own }
  for (const name of await backupsIn(folder)) {
    const manifest = await readManifest(join(folder, name))
    if (manifest !== null) return { folder: join(folder, name), manifest }
  }
  throw new Error(`${folder} has no backup: no folder with a ${MANIFEST}`)
}

/**
 * Copies a backup into a data folder, and verifies each file. All of it appears, or none: files are copied beside and then
 * moved. An interrupted restore is completed by another one. Rejects with an Error in one line.
 */
export async function restoreBackup(
  { folder, manifest }: FoundBackup,
  dataDir: string,
  signal: AbortSignal
): Promise<void> {
  const restoring = join(dataDir, RESTORING)
  const entries = [...new Set(manifest.files.map(({ path }) => path.split('/')[0]!))].sort(
    (a, b) => Number(a === LAST) - Number(b === LAST)
  )
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const isContinued = (await stat(restoring).catch(() => null)) !== null
  const present = await readdir(dataDir)
  const taken = present.find((name) => name !== RESTORING && (entries.includes(name) || name === LAST))
  if (taken !== undefined && !isContinued)
    throw new Error(`${join(dataDir, taken)} exists; move it away, or restore into another folder`)
  // No service has run since the interrupted restore, which has moved these entries.
  for (const name of present.filter((name) => entries.includes(name)))
    await rm(join(dataDir, name), { recursive: true })
  await rm(restoring, { recursive: true, force: true })
  await mkdir(restoring, { mode: 0o700 })
  for (const { path, bytes, sha256 } of manifest.files) {
    const copied = await copyDurably(join(folder, path), join(restoring, path), signal).catch(
      (error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new Error(`${join(folder, path)} is missing`) : error
      }
    )
    if (copied.bytes !== bytes || copied.sha256 !== sha256)
      throw new Error(`${join(folder, path)} is damaged: its checksum differs; use another backup`)
  }
  for (const directory of manifest.databases) await syncFolder(join(restoring, directory))
  for (const name of entries) await rename(join(restoring, name), join(dataDir, name))
  await rm(restoring, { recursive: true })
  await syncFolder(dataDir)
}
