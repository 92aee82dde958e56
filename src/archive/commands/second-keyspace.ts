import type { Config } from '../../kernel/config/config.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { systemPorts } from '../../ports.ts'
import {
  archiveKeyspaces,
  readStanding,
  recordStanding,
  type ArchiveKeyspaceStanding,
  type ArchivePlace
} from '../archive-place.ts'
import {
  archiveConfigOf,
  isStoreThere,
  openArchiveStore,
  openStoreToRead,
  removeKeyspace
} from '../../store/opening.ts'
import type { Storage } from '../../../storage/port.ts'
import type { SecondStore } from './second-store.ts'

/**
 * Minimum milliseconds for which a replaced keyspace stays. Services detect the replacement within 30 s, and read the
 * keyspace for another 60 s at most.
 */
const REPLACED_STAYS_MS = 300_000

/**
 * The second of an archive's two keyspaces.
 *
 * K1. One write, of its standing, makes it the archive. Services that start later open it.
 * K2. A second write notifies services that have the first keyspace open. If the import ends between the two writes, the
 *     next import makes the second one.
 * K3. Keyspaces cannot be renamed: the first one stays until a later import removes it.
 */
export class SecondKeyspace implements SecondStore {
  /** The archive's settings: their keyspace name stays, whichever keyspace is the archive. */
  readonly config: Config
  readonly #place: ArchivePlace
  readonly #second: Config

  constructor(config: Config, place: ArchivePlace) {
    this.config = config
    this.#place = place
    this.#second = otherKeyspace(config, place)
  }

  /** Opens the keyspace. Rejects with STORAGE_UNAVAILABLE while services may read it because it was the archive before. */
  async open(): Promise<Storage> {
    const use = (await isStoreThere(this.#second)) ? await useOf(this.#second, this.#place) : 'none'
    if (use === 'read')
      throw new ServiceError(
        'STORAGE_UNAVAILABLE',
        `services may still read the keyspace ${this.#second.scyllaKeyspace}, in which the archive was until now; rerun the ` +
          `import in ${REPLACED_STAYS_MS / 60_000} minutes`
      )
    if (use !== 'filling') await this.remove()
    const storage = await openArchiveStore(this.#second)
    if (use !== 'filling') await recordStanding(storage, this.#standing('filling'))
    return storage
  }

  remove(): Promise<void> {
    return removeKeyspace(this.#second)
  }

  async succeed(archive: Storage, second: Storage): Promise<void> {
    await recordStanding(second, this.#standing('whole'))
    await markReplaced(archive, this.#place.generation)
  }

  async replace(): Promise<void> {}

  #standing(state: 'filling' | 'whole') {
    const generation = this.#place.generation + 1
    return { state, generation, sinceMs: systemPorts.clock.now(), isReplaced: false }
  }
}

/**
 * Finishes an interrupted replacement (K2), and removes the keyspace that is not the archive, unless services may still
 * read it. Resolves with the name of that keyspace if it stays, else with null.
 */
export async function removeOtherKeyspace(config: Config, place: ArchivePlace): Promise<string | null> {
  const other = otherKeyspace(config, place)
  if (!(await isStoreThere(other))) return null
  if ((await useOf(other, place)) === 'read') return other.scyllaKeyspace
  await removeKeyspace(other)
  return null
}

/**
 * Returns the use of the keyspace that is not the archive. `read`: it was the archive, and services may still read it. They
 * are notified now if they were not before (K2).
 */
async function useOf(keyspace: Config, place: ArchivePlace): Promise<'filling' | 'read' | 'none'> {
  const storage = await openStoreToRead(keyspace, () => undefined)
  try {
    let standing = await readStanding(storage)
    if (standing?.state === 'filling') return 'filling'
    // Before the first replacement, this can only be a keyspace of an import that ended before it recorded its standing.
    if (place.generation === 0) return 'none'
    if (standing?.isReplaced !== true) standing = await markReplaced(storage, place.generation - 1)
    return systemPorts.clock.now() - standing.sinceMs < REPLACED_STAYS_MS ? 'read' : 'none'
  } finally {
    await storage.close()
  }
}

async function markReplaced(archive: Storage, generation: number): Promise<ArchiveKeyspaceStanding> {
  const sinceMs = systemPorts.clock.now()
  const standing = { state: 'whole', generation, sinceMs, isReplaced: true } as const
  await recordStanding(archive, standing)
  return standing
}

function otherKeyspace(config: Config, place: ArchivePlace): Config {
  const [first, second] = archiveKeyspaces(archiveConfigOf(config))
  return place.config.scyllaKeyspace === first.scyllaKeyspace ? second : first
}
