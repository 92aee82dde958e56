import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'
import type { Config } from '../config/config.ts'
import { periodAt, type DecodingPeriod } from '../market/decoding-period.ts'
import { readDecodingPeriods } from '../node/decoding-periods.ts'
import { archiveConfigOf, archiveStampFile, openArchive, storeDirectory } from '../products/opening.ts'
import type { Storage } from '../../storage/port.ts'

/** Slots whose rows are read at once: about 2 MB. */
const SLOTS_PER_READ = 10_000

/**
 * Folds an embedded archive again in a second store beside it, with venues that the first one lacks.
 *
 * F1. The second store replaces the first only after it has all of its blocks. Until then the archive is as it was.
 * F2. An interrupted filling continues with the next import of the same folder and venues.
 * F3. No venue is lost: the second store has the venues of the first one, and the wanted ones.
 */
export class ArchiveFilling {
  /** Settings with which blocks are imported into the second store. */
  readonly config: Config
  readonly storage: Storage
  readonly #archive: Config

  private constructor(archive: Config, config: Config, storage: Storage) {
    this.#archive = archive
    this.config = config
    this.storage = storage
  }

  /**
   * Opens the second store. Null where the archive cannot be folded again: on a cluster, from a folder that does not have all of
   * its blocks, and if its venues are unknown while only some are wanted.
   */
  static async open(
    config: Config,
    storage: Storage,
    folder: readonly number[]
  ): Promise<ArchiveFilling | null> {
    const venues = await venuesOf(storage, config.venues)
    if (config.storage !== 'embedded' || venues === null) return null
    const inFolder = new Set(folder)
    for await (const slot of slotsOf(storage)) if (!inFolder.has(slot)) return null
    const own: Config = { ...config, dataDir: fillingDirectory(config), venues }
    const before = await openArchive(own)
    if ((await readDecodingPeriods(before)).every((period) => period.venues.join() === venues.join()))
      return new ArchiveFilling(config, own, before)
    // An interrupted filling with other venues is of no use.
    await before.close()
    await rm(own.dataDir, { recursive: true })
    return new ArchiveFilling(config, own, await openArchive(own))
  }

  /** Tells whether the second store has all blocks of the first one. */
  async isComplete(archive: Storage): Promise<boolean> {
    for await (const slot of slotsOf(archive)) if (!(await this.storage.blocks.has(slot))) return false
    return true
  }

  /** Puts the second store in place of the first. Both must be closed. */
  async replace(): Promise<void> {
    const directory = storeDirectory(archiveConfigOf(this.#archive))
    await rename(directory, replacedDirectory(directory))
    await rename(storeDirectory(archiveConfigOf(this.config)), directory)
    // Services open the archive again when this file changes.
    await rename(archiveStampFile(this.config), archiveStampFile(this.#archive))
    await rm(replacedDirectory(directory), { recursive: true })
    await rm(this.config.dataDir, { recursive: true, force: true })
  }
}

/** Puts the archive back whose replacement was interrupted, and removes one that was replaced. */
export async function recoverArchive(config: Config): Promise<void> {
  if (config.storage !== 'embedded') return
  const directory = storeDirectory(archiveConfigOf(config))
  const replaced = replacedDirectory(directory)
  if (!(await isThere(replaced))) return
  if (await isThere(directory)) await rm(replaced, { recursive: true })
  else await rename(replaced, directory)
}

/** Removes what an interrupted filling left, once the archive lacks nothing. */
export async function removeFilling(config: Config): Promise<void> {
  if (config.storage === 'embedded') await rm(fillingDirectory(config), { recursive: true, force: true })
}

const fillingDirectory = (config: Config): string => join(archiveConfigOf(config).dataDir, 'filling')
const replacedDirectory = (directory: string): string => `${directory}.replaced`
const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null

/** Returns the venues of an archive and the wanted ones; null if those of the archive are unknown and only some are wanted. */
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
