import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ServiceError } from '../../src/errors.ts'
import type { Storage } from '../port.ts'
import { snapshotStore } from './engine-files/snapshot.ts'
import { openEmbeddedStorage, type EmbeddedStorageOptions } from './store.ts'

/** Folders of this process's open snapshots. */
const places = new Set<string>()
let count = 0

/**
 * Opens a snapshot of a store that another process has open. It lies next to the store, and is removed when it is closed.
 * Snapshots left by ended processes are removed first. Rejects with STORAGE_UNAVAILABLE.
 */
export async function openEmbeddedSnapshot(options: EmbeddedStorageOptions): Promise<Storage> {
  const { directory } = options
  await removeAbandoned(directory)
  const place = `${directory}.snapshot-${process.pid}-${++count}`
  places.add(place)
  const remove = (): Promise<void> => {
    places.delete(place)
    return rm(place, { recursive: true, force: true })
  }
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
    const [start, maker] = name.split('.snapshot-')
    if (start !== basename(directory) || maker === undefined) continue
    const place = join(parent, name)
    // In a container an ended process may have had the same id.
    const isUsed = maker.startsWith(`${process.pid}-`)
      ? places.has(place)
      : isRunning(Number.parseInt(maker, 10))
    if (!isUsed) await rm(place, { recursive: true, force: true })
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
