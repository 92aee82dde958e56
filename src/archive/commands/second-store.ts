import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../kernel/config/config.ts'
import { archiveConfigOf, archiveStampFile, openArchive, storeDirectory } from '../../store/opening.ts'
import type { Storage } from '../../../storage/port.ts'

/** The store in which an archive is folded again, and which replaces it. */
export interface SecondStore {
  /** The archive's settings, changed so that files of the import lie beside it. */
  readonly config: Config
  /** Opens the store, and makes it if it does not exist. Remains of another operation are removed. */
  open(): Promise<Storage>
  /** Removes the store, which must be closed. */
  remove(): Promise<void>
  /** Makes the store the archive while both are open, if that is possible. */
  succeed(archive: Storage, second: Storage): Promise<void>
  /** Makes the store the archive once both are closed, if that is required. */
  replace(): Promise<void>
}

/** A second embedded store, in a folder of its own within the archive's. */
export class SecondDirectory implements SecondStore {
  readonly config: Config
  readonly #archive: Config

  constructor(archive: Config) {
    this.#archive = archive
    this.config = { ...archive, dataDir: join(archiveConfigOf(archive).dataDir, 'filling') }
  }

  open(): Promise<Storage> {
    return openArchive(this.config)
  }

  remove(): Promise<void> {
    return rm(this.config.dataDir, { recursive: true, force: true })
  }

  async succeed(): Promise<void> {}

  async replace(): Promise<void> {
    const directory = storeDirectory(archiveConfigOf(this.#archive))
    await rename(directory, replacedDirectory(directory))
    await rename(storeDirectory(archiveConfigOf(this.config)), directory)
    // Services reopen the archive when this file changes.
    await rename(archiveStampFile(this.config), archiveStampFile(this.#archive)).catch(() => undefined)
    await rm(replacedDirectory(directory), { recursive: true })
    await this.remove()
  }
}

/** Restores an embedded archive whose replacement was interrupted, and removes one that was replaced. */
export async function recoverArchive(config: Config): Promise<void> {
  if (config.storage !== 'embedded') return
  const directory = storeDirectory(archiveConfigOf(config))
  const replaced = replacedDirectory(directory)
  if (!(await isThere(replaced))) return
  if (await isThere(directory)) await rm(replaced, { recursive: true })
  else await rename(replaced, directory)
}

const replacedDirectory = (directory: string): string => `${directory}.replaced`
const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null
