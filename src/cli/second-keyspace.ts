import type { Config } from '../config/config.ts'
import { systemPorts } from '../ports.ts'
import {
  archiveKeyspaces,
  readStanding,
  recordStanding,
  type ArchivePlace
} from '../products/archive-place.ts'
import {
  archiveConfigOf,
  isStoreThere,
  openArchiveStore,
  openStoreToRead,
  removeKeyspace
} from '../products/opening.ts'
import type { Storage } from '../../storage/port.ts'
import type { SecondStore } from './second-store.ts'

/**
 * Milliseconds for which a replaced keyspace stays at least. Services find out within 30 s that it was replaced, and read it for
 * another 60 s at most.
 */
const REPLACED_STAYS_MS = 300_000

/**
 * The other one of an archive's two keyspaces.
 *
 * K1. One write, of its standing, makes it the archive. Services that start later open it.
 * K2. A second write tells services that have the first keyspace open. If the import ends between the two, the next import does
 *     it.
 * K3. Keyspaces cannot be renamed: the first one stays until a later import removes it.
 */
export class SecondKeyspace implements SecondStore {
  /** The archive's settings: its name stays, whichever keyspace it is. */
  readonly config: Config
  readonly #second: Config
  readonly #generation: number

  constructor(config: Config, place: ArchivePlace) {
    this.config = config
    this.#second = otherKeyspace(config, place)
    this.#generation = place.generation + 1
  }

  async open(): Promise<Storage> {
    const before = await this.#opened()
    if (before !== null) {
      if ((await readStanding(before))?.state === 'filling') return before
      // A replaced archive, or a keyspace whose standing was not recorded before an import ended.
      await before.close()
      await this.remove()
    }
    const storage = await openArchiveStore(this.#second)
    await recordStanding(storage, this.#standing('filling'))
    return storage
  }

  remove(): Promise<void> {
    return removeKeyspace(this.#second)
  }

  async succeed(archive: Storage, second: Storage): Promise<void> {
    await recordStanding(second, this.#standing('whole'))
    await markReplaced(archive, this.#generation - 1)
  }

  async replace(): Promise<void> {}

  async #opened(): Promise<Storage | null> {
    return (await isStoreThere(this.#second)) ? openArchiveStore(this.#second) : null
  }

  #standing(state: 'filling' | 'whole') {
    return { state, generation: this.#generation, sinceMs: systemPorts.clock.now(), isReplaced: false }
  }
}

/**
 * Finishes an interrupted replacement (K2), and removes the keyspace that is not the archive, unless services may still read it.
 * Resolves with the name of a keyspace that stays; null if there is none.
 */
export async function removeOtherKeyspace(
  config: Config,
  place: ArchivePlace,
  archive: Storage
): Promise<string | null> {
  const other = otherKeyspace(config, place)
  if (!(await isStoreThere(other))) return null
  if (place.generation > 0 && (await isReplaced(other, place.generation - 1))) {
    const { sinceMs } = (await readStanding(archive))!
    if (systemPorts.clock.now() - sinceMs < REPLACED_STAYS_MS) return other.scyllaKeyspace
  }
  await removeKeyspace(other)
  return null
}

/** Tells whether a keyspace was the archive before, and marks it as replaced; false for one that was being filled. */
async function isReplaced(keyspace: Config, generation: number): Promise<boolean> {
  const storage = await openStoreToRead(keyspace, () => undefined)
  try {
    const standing = await readStanding(storage)
    if (standing?.state === 'filling') return false
    if (standing?.isReplaced !== true) await markReplaced(storage, generation)
    return true
  } finally {
    await storage.close()
  }
}

function markReplaced(archive: Storage, generation: number): Promise<void> {
  const sinceMs = systemPorts.clock.now()
  return recordStanding(archive, { state: 'whole', generation, sinceMs, isReplaced: true })
}

function otherKeyspace(config: Config, place: ArchivePlace): Config {
  const [first, second] = archiveKeyspaces(archiveConfigOf(config))
  return place.config.scyllaKeyspace === first.scyllaKeyspace ? second : first
}
