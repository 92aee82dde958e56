import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunning } from '../../kernel/running-process.ts'
import type { DatabaseFiles } from './database-files.ts'
import { dataFolder, isBackedUp } from './data-files.ts'
import { copyDurably, linkFile, syncFolder } from './file-copy.ts'
import { MANIFEST, manifestText, readManifest, type BackupFile, type BackupManifest } from './manifest.ts'

/** Name of a finished backup: its time, so that names sort by time. */
const FINISHED = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/
/** A backup that is being made, with the process that makes it. */
const PARTIAL = /^\.partial-(\d+)$/

export interface BackupOptions {
  readonly dataDir: string
  /** Folder of all backups; it is created. */
  readonly into: string
  readonly nowMs: number
  readonly version: string
  readonly keyspace: BackupManifest['keyspace']
  readonly signal: AbortSignal
  readonly databaseFiles: DatabaseFiles
}

export interface BackupOutcome {
  /** Folder of the new backup. */
  readonly folder: string
  readonly files: number
  readonly bytes: number
  /** Bytes of files that are shared with the backup before. */
  readonly linkedBytes: number
}

/**
 * Backs up a data folder while a service may write to it.
 *
 * B1. The backup has each database at one moment, and the store's moment is the first.
 * B2. It appears under its name after all of it is durable and its checksums are verified. An interrupted backup changes no
 *     earlier one, and is removed by the next.
 * B3. A file that the backup before has with an equal stamp is linked from there, if the disk can link.
 *
 * Rejects with an Error in one line.
 */
export async function makeBackup(options: BackupOptions): Promise<BackupOutcome> {
  const { into, nowMs } = options
  await mkdir(into, { recursive: true, mode: 0o700 })
  await removePartial(into)
  const name = new Date(nowMs).toISOString().replaceAll(':', '-')
  const [before] = await backupsIn(into)
  if (before !== undefined && before >= name) throw new Error(`the backup ${before} is newer than the clock`)
  const partial = join(into, `.partial-${process.pid}`)
  await mkdir(partial, { mode: 0o700 })
  try {
    const making = new Making(options, partial, await previousOf(into, before))
    const outcome = await making.run()
    await rename(partial, join(into, name))
    await syncFolder(into)
    return { folder: join(into, name), ...outcome }
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** Returns the names of finished backups, newest first; empty if the folder does not exist. */
export async function backupsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => FINISHED.test(name))
    .sort()
    .reverse()
}

/** Removes all but the newest backups. Returns the names of the removed ones. */
export async function removeOldBackups(folder: string, count: number): Promise<readonly string[]> {
  const old = (await backupsIn(folder)).slice(count)
  for (const name of old) {
    // Without its manifest a half-removed backup cannot be restored.
    await rm(join(folder, name, MANIFEST), { force: true })
    await rm(join(folder, name), { recursive: true, force: true })
  }
  return old
}

interface Previous {
  readonly folder: string
  /** Files by path. */
  readonly files: ReadonlyMap<string, BackupFile>
}

async function previousOf(into: string, name: string | undefined): Promise<Previous | null> {
  if (name === undefined) return null
  const folder = join(into, name)
  const manifest = await readManifest(folder).catch(() => null)
  return manifest && { folder, files: new Map(manifest.files.map((file) => [file.path, file])) }
}

/** A backup that is being made. */
class Making {
  readonly #options: BackupOptions
  readonly #folder: string
  readonly #previous: Previous | null
  readonly #files: BackupFile[] = []
  #linkedBytes = 0

  constructor(options: BackupOptions, folder: string, previous: Previous | null) {
    this.#options = options
    this.#folder = folder
    this.#previous = previous
  }

  async run(): Promise<Omit<BackupOutcome, 'folder'>> {
    const { dataDir, nowMs, version, keyspace, databaseFiles } = this.#options
    const { databases, files } = await dataFolder(dataDir, databaseFiles)
    for (const path of databases) await this.#addDatabase(path)
    for (const path of files) await this.#add(join(dataDir, path), path)
    const made = new Date(nowMs).toISOString()
    await writeDurably(
      join(this.#folder, MANIFEST),
      manifestText({ version, made, databases: [...databases], keyspace, files: this.#files })
    )
    await syncFolder(this.#folder)
    return {
      files: this.#files.length,
      bytes: this.#files.reduce((sum, { bytes }) => sum + bytes, 0),
      linkedBytes: this.#linkedBytes
    }
  }

  async #addDatabase(path: string): Promise<void> {
    const { dataDir, databaseFiles } = this.#options
    const snapshot = await databaseFiles.snapshotDatabase(join(dataDir, path))
    const linked: string[] = []
    try {
      const names = (await readdir(snapshot.directory)).filter(isBackedUp).sort()
      for (const name of names) {
        const isLinked = await this.#add(join(snapshot.directory, name), `${path}/${name}`)
        if (isLinked) linked.push(name)
      }
    } finally {
      await snapshot.remove()
    }
    const directory = join(this.#folder, path)
    await syncFolder(directory)
    // Files of the backup before were verified then.
    const verified = new Set(
      await Promise.all(linked.map((name) => databaseFiles.stampOf(join(directory, name))))
    )
    const stamps = (await databaseFiles.stampsOfTables(directory)).filter((stamp) => verified.has(stamp))
    const [damage] = await databaseFiles.damageOfCopy(directory, new Set(stamps))
    if (damage !== undefined)
      throw new Error(
        `the copy of ${path} is damaged: ${damage}; check it with \`npx millrace verify --store\``
      )
  }

  /** Copies or links a file. Returns whether it was linked. */
  async #add(source: string, path: string): Promise<boolean> {
    const to = join(this.#folder, path)
    const stamp = (await this.#options.databaseFiles.stampOf(source)) ?? ''
    const known = this.#previous?.files.get(path)
    if (known?.stamp === stamp && (await linkFile(join(this.#previous!.folder, path), to))) {
      this.#files.push(known)
      this.#linkedBytes += known.bytes
      return true
    }
    this.#files.push({ path, ...(await copyDurably(source, to, this.#options.signal)), stamp })
    return false
  }
}

async function removePartial(into: string): Promise<void> {
  for (const name of await readdir(into)) {
    const pid = PARTIAL.exec(name)?.[1]
    if (pid === undefined) continue
    if (Number(pid) !== process.pid && isRunning(Number(pid)))
      throw new Error(`another backup into ${into} is running (process ${pid})`)
    await rm(join(into, name), { recursive: true, force: true })
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using handle = await open(path, 'wx', 0o600)
  await handle.writeFile(text)
  await handle.sync()
}
