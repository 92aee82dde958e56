import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { snapshotStore } from './engine-files/snapshot.ts'
import { checkStore } from './engine-files/store-check.ts'
import { fileStamp, tableStamps, trustedTables } from './engine-files/trusted-files.ts'

/** Copies of the engine's databases, for backups (`src/store/backup/database-files.ts`). */
export const DATABASE_FILES = {
  isDatabase: (directory: string): Promise<boolean> =>
    access(join(directory, 'CURRENT')).then(
      () => true,
      () => false
    ),

  async snapshotDatabase(directory: string): Promise<{ directory: string; remove(): Promise<void> }> {
    const place = `${directory}.snapshot-${process.pid}-backup`
    const remove = (): Promise<void> => rm(place, { recursive: true, force: true })
    if (await snapshotStore(directory, place)) return { directory: place, remove }
    await remove()
    throw new Error(`${directory} changes too fast, or its files are damaged`)
  },

  async damageOfCopy(directory: string, trusted: ReadonlySet<string>): Promise<string[]> {
    const { fatal, tables } = await checkStore(directory, trustedTables(directory, trusted))
    return [...fatal, ...tables.map(({ file }) => `${file} is damaged`)]
  },

  stampsOfTables: tableStamps,
  stampOf: fileStamp
} as const
