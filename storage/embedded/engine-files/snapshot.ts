import { copyFile, link, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DAMAGE_FILE } from './isolation.ts'
import { readStoreFiles, tableFile } from './store-check.ts'

const TABLE = /^\d+\.(ldb|sst)$/
const LOG = /^\d+\.log$/
const LISTS = new RegExp(`^(CURRENT|MANIFEST-\\d+|${DAMAGE_FILE})$`)
/** Each try lasts milliseconds, and fails only where a compaction made and removed a table meanwhile. */
const TRIES_MAX = 20

/**
 * Puts a store as it is at some moment of the call into a folder of the same file system, while another process writes
 * to it. Tables, which never change, are linked; logs and the manifest are copied. Resolves to false where tables were
 * removed during each try.
 */
export async function snapshotStore(directory: string, into: string): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    await rm(into, { recursive: true, force: true })
    await mkdir(into)
    await linkTables(directory, into)
    // Logs before the manifest: one that is missing here is in tables of that manifest, or is newer than the snapshot.
    await copyAll(directory, into, LOG)
    await copyAll(directory, into, LISTS)
    await linkTables(directory, into)
    if (await isWhole(into)) return true
  }
  return false
}

/** Whether a snapshot has every table of its manifest. */
async function isWhole(into: string): Promise<boolean> {
  const files = await readStoreFiles(into, false)
  if (typeof files === 'string') return false
  const there = new Set(await readdir(into))
  for (const number of files.tables.keys()) if (!there.has(await tableFile(into, number))) return false
  return true
}

async function linkTables(directory: string, into: string): Promise<void> {
  const there = new Set(await readdir(into))
  const names = await readdir(directory)
  for (const name of names.filter((name) => TABLE.test(name) && !there.has(name)))
    await link(join(directory, name), join(into, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return
      // Some file systems have no links.
      return copyFile(join(directory, name), join(into, name)).catch(ignoreAbsent)
    })
}

async function copyAll(directory: string, into: string, names: RegExp): Promise<void> {
  const found = (await readdir(directory)).filter((name) => names.test(name)).sort()
  for (const name of found) await copyFile(join(directory, name), join(into, name)).catch(ignoreAbsent)
}

/** Files that go while they are copied are no longer of the store. */
function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
