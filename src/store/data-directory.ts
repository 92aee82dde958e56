import { chmod, mkdir, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../kernel/config/config.ts'
import { RESTORING } from './backup/restore-backup.ts'
import { openStoreToRead, storeDirectory } from './opening.ts'
import { localnetDirectory } from '../ingest/sources.ts'

/** Free disk space that a start requires. A localnet's first minute writes 60 MB, a minute of mainnet 20. */
const FREE_BYTES_MIN = 64 * 2 ** 20
const MIB = 2 ** 20

/**
 * Makes the data directory if it is missing. Returns why it is unusable, in one line; null if it is usable, or if nothing is
 * stored there. Called before anything is opened: a store or a localnet would fail late, after it has made keys or a day of
 * its market.
 */
export async function unusableDirectory(config: Config): Promise<string | null> {
  const { dataDir, storage, source, role } = config
  if (storage !== 'embedded' && !(source === 'localnet' && role.includes('ingest'))) return null
  const setting = `MILLRACE_DATA_DIR=${dataDir}`
  for (const path of [dataDir, storeDirectory(config), localnetDirectory(config)])
    if (await isNoDirectory(path))
      return `${path} is not a directory (${setting}); move it away, or set MILLRACE_DATA_DIR to another folder`
  if ((await kindOf(join(dataDir, RESTORING))) !== null)
    return `a restore into ${setting} was interrupted; rerun \`npx millrace restore\``
  const free = await freeBytes(resolve(dataDir))
  if (free !== null && free < FREE_BYTES_MIN) {
    const [found, least] = [free, FREE_BYTES_MIN].map((bytes) => `${Math.floor(bytes / MIB)} MB`)
    return `the disk of ${setting} is full: ${found} are free, and a start needs ${least}; free some space, or set MILLRACE_DATA_DIR to a folder on another disk`
  }
  const error = (await makeDirectory(resolve(dataDir))) ?? (await closeToOthers(resolve(dataDir)))
  return error && `${setting} cannot be created: ${error.message}; set it to a folder that can be created`
}

/**
 * Makes a directory and its missing parents. Does not use the option `recursive` of `mkdir`. That option never ends if a
 * directory exists but reports new entries as missing, as those of Linux's /proc do.
 */
async function makeDirectory(path: string): Promise<Error | null> {
  if (await isDirectory(path)) return null
  const error = dirname(path) === path ? null : await makeDirectory(dirname(path))
  if (error !== null) return error
  return mkdir(path).then(
    () => null,
    (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? null : error)
  )
}

/** Withdraws other users' rights to the data folder, which an earlier version or an operator may have granted. */
async function closeToOthers(path: string): Promise<null> {
  const { mode } = await stat(path)
  // A folder of another user, such as a mounted volume, cannot be changed and is used unchanged.
  if ((mode & 0o077) !== 0) await chmod(path, 0o700).catch(() => undefined)
  return null
}

/** Returns a refusal if the data folder would mix a localnet's market with another chain's blocks; null otherwise. */
export async function mixedDataRefusal(config: Config): Promise<string | null> {
  const wasLocalnet = await isDirectory(localnetDirectory(config))
  if (config.source !== 'localnet' && wasLocalnet)
    return `MILLRACE_DATA_DIR=${config.dataDir} holds a localnet; set it to another folder for ${config.source} blocks`
  if (config.source === 'localnet' && !wasLocalnet && (await hasBlock(config)))
    return `MILLRACE_DATA_DIR=${config.dataDir} holds blocks of another chain; set it to another folder for a localnet, or set MILLRACE_SOURCE`
  return null
}

/** Tells whether the embedded store of a data folder has a block. Without one, as after a start with a dead node, it has no chain. */
async function hasBlock(config: Config): Promise<boolean> {
  if (!(await isDirectory(storeDirectory(config)))) return false
  // A store that cannot be read may have blocks.
  const storage = await openStoreToRead(config, () => undefined).catch(() => null)
  if (storage === null) return true
  try {
    return (await storage.blocks.head()) !== null
  } finally {
    await storage.close()
  }
}

/** Returns the bytes that a path's disk has left for this user; null if the file system does not report them. */
async function freeBytes(path: string): Promise<number | null> {
  try {
    const { bavail, bsize, blocks } = await statfs(path)
    return blocks === 0 ? null : bavail * bsize
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return isMissing && dirname(path) !== path ? freeBytes(dirname(path)) : null
  }
}

const kindOf = (path: string): Promise<'directory' | 'other' | null> =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'directory' : 'other'),
    () => null
  )

const isDirectory = async (path: string): Promise<boolean> => (await kindOf(path)) === 'directory'
const isNoDirectory = async (path: string): Promise<boolean> => (await kindOf(path)) === 'other'
