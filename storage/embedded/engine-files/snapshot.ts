import { copyFile, link, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DAMAGE_FILE } from './isolation.ts'
import { readStoreFiles, tableFile } from './store-check.ts'

const TABLE = /^\d+\.(ldb|sst)$/
const LOG = /^\d+\.log$/
const LISTS = new RegExp(`^(CURRENT|MANIFEST-\\d+|${DAMAGE_FILE})$`)
/** Maximum tries. Each lasts milliseconds, and fails only if a compaction made and removed a table meanwhile. */
const TRIES_MAX = 20

/**
 * Writes the state of a store at some moment of the call to a folder of the same file system, while another process writes
 * to the store. Tables, which never change, are linked; logs and the manifest are copied. Resolves to false if tables were
 * removed during each try.
 */
export async function snapshotStore(directory: string, into: string): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    await rm(into, { recursive: true, force: true })
    await mkdir(into)
    await linkAll(directory, into, await namesIn(directory, TABLE))
    // Logs before the manifest: one that is missing here is in tables of that manifest, or is newer than the snapshot.
    await copyAll(directory, into, LOG)
    await copyAll(directory, into, LISTS)
    if (await linkAsListed(directory, into)) return true
  }
  return false
}

/** Removes the tables from a snapshot that its manifest does not list; resolves to whether all listed ones exist. */
async function linkAsListed(directory: string, into: string): Promise<boolean> {
  const files = await readStoreFiles(into, false)
  if (typeof files === 'string') return false
  const linked = await namesIn(into, TABLE)
  // The engine would give the number of an unlisted table to a new one, and write into the shared file.
  for (const name of linked) if (!files.tables.has(Number.parseInt(name, 10))) await rm(join(into, name))
  const there = new Set(linked.map((name) => Number.parseInt(name, 10)))
  const missing = [...files.tables.keys()].filter((number) => !there.has(number))
  await linkAll(directory, into, await Promise.all(missing.map((number) => tableFile(directory, number))))
  return (await namesIn(into, TABLE)).length === files.tables.size
}

async function namesIn(directory: string, names: RegExp): Promise<string[]> {
  // A folder that changes while it is read can give a name twice.
  return [...new Set(await readdir(directory))].filter((name) => names.test(name)).sort()
}

async function linkAll(directory: string, into: string, names: readonly string[]): Promise<void> {
  for (const name of names) await link(join(directory, name), join(into, name)).catch(ignoreAbsent)
}

async function copyAll(directory: string, into: string, names: RegExp): Promise<void> {
  for (const name of await namesIn(directory, names))
    await copyFile(join(directory, name), join(into, name)).catch(ignoreAbsent)
}

/** A file that disappears before it is copied no longer belongs to the store. */
function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
