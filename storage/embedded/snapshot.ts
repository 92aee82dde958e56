import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ServiceError } from '../../src/errors.ts'
import type { Storage } from '../port.ts'
import { snapshotStore } from './engine-files/snapshot.ts'
import { openEmbeddedStorage, type EmbeddedStorageOptions } from './store.ts'

/**
 * Opens a snapshot of a store that another process has open. It lies next to the store, and is removed when it is closed.
 * Snapshots left by ended processes are removed first. Rejects with STORAGE_UNAVAILABLE.
 */
export async function openEmbeddedSnapshot(options: EmbeddedStorageOptions): Promise<Storage> {
  const { directory } = options
  await removeAbandoned(directory)
  const place = `${directory}.snapshot-${process.pid}`
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true })
  const refused = (reason: string): ServiceError =>
    new ServiceError(
      'STORAGE_UNAVAILABLE',
      `no snapshot of the store in ${directory} can be made: ${reason}; stop the service and try again`
    )
  try {
    const isTaken = await snapshotStore(directory, place).catch((error: Error) => {
      throw refused(error.message)
    })
    if (!isTaken) throw refused('its files change too fast')
    const storage = await openEmbeddedStorage({
      ...options,
      directory: place,
      isSnapshot: true,
      programAccountsDirectory: `${directory}.accounts`,
      holdersDirectory: `${directory}.holders`
    })
    return {
      ...storage,
      close: async () => {
        await storage.close()
        await remove()
      }
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function removeAbandoned(directory: string): Promise<void> {
  const parent = dirname(directory)
  for (const name of await readdir(parent)) {
    const [start, pid] = name.split('.snapshot-')
    if (start === basename(directory) && pid !== undefined && !isRunning(Number(pid)))
      await rm(join(parent, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
