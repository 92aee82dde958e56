import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { isRunning } from '../../src/kernel/running-process.ts'
import type { Storage } from '../port.ts'
import { snapshotStore } from './engine-files/snapshot.ts'
import { readStoreFiles } from './engine-files/store-check.ts'
import { listedStamps, tableStamps, trustedTables } from './engine-files/trusted-files.ts'
import { unopenable } from './opening-check.ts'
import { openEmbeddedStorage, type EmbeddedStorageOptions } from './store.ts'

/** Folders of this process's open snapshots. */
const places = new Set<string>()
let count = 0
/** Stamps of the tables in the last sound snapshot of each store. */
const soundTables = new Map<string, readonly string[]>()

/**
 * Opens a snapshot of a store that another process has open. It lies next to the store, and is removed when it is closed.
 * Snapshots left by ended processes are removed first. Rejects with STORAGE_UNAVAILABLE.
 *
 * Tables are checked once: they never change, and a snapshot links them. A check takes 2 s of a core for each GB, and a
 * service takes a snapshot every half minute while an archive grows.
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
      ERRORS.STORAGE_UNAVAILABLE,
      `no snapshot of the store in ${directory} can be made: ${reason}; stop the service and retry`
    )
  try {
    const sound = new Set([...(soundTables.get(directory) ?? []), ...(await listedStamps(directory))])
    const isTaken = await snapshotStore(directory, place).catch((error: Error) => {
      throw refused(error.message)
    })
    if (!isTaken) {
      const files = await readStoreFiles(directory, false)
      throw typeof files === 'string' ? unopenable(directory, [files]) : refused('its files change too fast')
    }
    const stamps = await tableStamps(place)
    const storage = await openEmbeddedStorage({
      ...options,
      directory: place,
      trusted: trustedTables(place, sound),
      isSnapshot: true,
      programAccountsDirectory: `${directory}.accounts`,
      holdersDirectory: `${directory}.holders`
    })
    if (storage.damage.length === 0) soundTables.set(directory, stamps)
    const close = async (): Promise<void> => {
      await storage.close()
      await remove()
    }
    // Not spread, because a read may find damage later.
    const own = { ...Object.getOwnPropertyDescriptors(storage), close: { value: close } }
    return Object.defineProperties({}, own) as Storage
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
