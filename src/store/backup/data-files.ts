import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseFiles } from './database-files.ts'

/** Entries that are not backed up: locks, logs of the engine, snapshots, and what an interrupted command left. */
const LEFT_OUT = /^LOCK$|^LOG(\.old)?$|\.snapshot-|\.part$|\.new$|^filling$|^\.restoring$|\.damaged/
/** The store comes first. All other databases may be ahead of it, as after a crash. */
const FIRST = 'store'
/** The facts of an archive may be ahead of its store, which is folded from them. */
const LAST = 'archive/facts'

/** The content of a data folder, by relative paths with `/`. */
export interface DataFolder {
  /** Folders of databases, in the order in which their snapshots are taken. */
  readonly databases: readonly string[]
  /** Other files. */
  readonly files: readonly string[]
}

/** Lists the content of a data folder; both lists are empty if it does not exist. */
export async function dataFolder(
  dataDir: string,
  { isDatabase }: Pick<DatabaseFiles, 'isDatabase'>
): Promise<DataFolder> {
  const databases: string[] = []
  const files: string[] = []
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(dataDir, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (LEFT_OUT.test(entry.name)) continue
      if (entry.isFile()) files.push(path)
      else if (!entry.isDirectory()) continue
      else if (await isDatabase(join(dataDir, path))) databases.push(path)
      else await visit(path)
    }
  }
  await visit('')
  const rankOf = (path: string): number => (path === FIRST ? 0 : path === LAST ? 2 : 1)
  databases.sort((a, b) => rankOf(a) - rankOf(b))
  return { databases, files }
}

/** Tells whether a file of a snapshot is backed up. */
export const isBackedUp = (name: string): boolean => !LEFT_OUT.test(name)
