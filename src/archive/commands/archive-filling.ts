import { VENUE_IDS, type VenueId } from '../../chain/venue-id.ts'
import type { Config } from '../../kernel/config/config.ts'
import { periodAt, type DecodingPeriod } from '../../market/decoding-period.ts'
import { readDecodingPeriods } from '../../ingest/decoding-periods.ts'
import type { ArchivePlace } from '../archive-place.ts'
import type { Storage } from '../../../storage/port.ts'
import { removeOtherKeyspace, SecondKeyspace } from './second-keyspace.ts'
import { SecondDirectory, type SecondStore } from './second-store.ts'

/** Slots whose rows are read at once: about 2 MB. */
const SLOTS_PER_READ = 10_000

/**
 * Folds an archive again in a second store beside the archive, with venues that the archive lacks.
 *
 * F1. The second store replaces the first only after it has all blocks of the first. Until then the archive is unchanged.
 * F2. An interrupted filling continues with the next import of its folder and venues.
 * F3. No venue is lost: the second store has the venues of the first one, and the wanted ones.
 */
export class ArchiveFilling {
  /** Settings with which blocks are imported into the second store. */
  readonly config: Config
  readonly storage: Storage
  readonly #second: SecondStore

  private constructor(second: SecondStore, venues: VenueId[], storage: Storage) {
    this.#second = second
    this.config = { ...second.config, venues }
    this.storage = storage
  }

  /**
   * Opens the second store. Resolves with null if the archive cannot be folded again: the folder lacks some of its blocks,
   * or the archive's venues are unknown while only some venues are wanted.
   */
  static async open(
    config: Config,
    place: ArchivePlace,
    storage: Storage,
    folder: readonly number[]
  ): Promise<ArchiveFilling | null> {
    const venues = await venuesOf(storage, config.venues)
    if (venues === null) return null
    const inFolder = new Set(folder)
    for await (const slot of slotsOf(storage)) if (!inFolder.has(slot)) return null
    const second =
      config.storage === 'embedded' ? new SecondDirectory(config) : new SecondKeyspace(config, place)
    const before = await second.open()
    if ((await readDecodingPeriods(before)).every((period) => period.venues.join() === venues.join()))
      return new ArchiveFilling(second, venues, before)
    // An interrupted filling with other venues is useless.
    await before.close()
    await second.remove()
    return new ArchiveFilling(second, venues, await second.open())
  }

  /** Tells whether the second store has all blocks of the first one. */
  async isComplete(archive: Storage): Promise<boolean> {
    for await (const slot of slotsOf(archive)) if (!(await this.storage.blocks.has(slot))) return false
    return true
  }

  /** Makes the second store the archive: the steps that are possible while both stores are open. */
  succeed(archive: Storage): Promise<void> {
    return this.#second.succeed(archive, this.storage)
  }

  /** Puts the second store in place of the first: the steps that require both stores to be closed. */
  replace(): Promise<void> {
    return this.#second.replace()
  }
}

/**
 * Removes the remains of a filling, once the archive is complete. Resolves with a keyspace that stays for a while; null if
 * no keyspace stays.
 */
export async function removeFilling(config: Config, place: ArchivePlace): Promise<string | null> {
  if (config.storage !== 'embedded') return removeOtherKeyspace(config, place)
  await new SecondDirectory(config).remove()
  return null
}

/** Returns the archive's venues and the wanted ones; null if the archive's are unknown and only some are wanted. */
async function venuesOf(storage: Storage, wanted: readonly VenueId[]): Promise<VenueId[] | null> {
  const [periods, first] = await Promise.all([readDecodingPeriods(storage), storage.blocks.firstSince(0)])
  const isUnknown = first !== null && periodAt(periods, first) === null
  if (isUnknown && wanted.length < VENUE_IDS.length) return null
  const decoded = new Set([...wanted, ...periods.flatMap(({ venues }: DecodingPeriod) => venues)])
  return VENUE_IDS.filter((venue) => decoded.has(venue))
}

/** Yields the stored slots, ascending. */
async function* slotsOf({ blocks }: Storage): AsyncGenerator<number> {
  const [first, head] = await Promise.all([blocks.firstSince(0), blocks.head()])
  if (first === null || head === null) return
  for (let from = first; from <= head.slot; from += SLOTS_PER_READ)
    for (const { slot } of await blocks.between(from, Math.min(head.slot, from + SLOTS_PER_READ - 1)))
      yield slot
}
