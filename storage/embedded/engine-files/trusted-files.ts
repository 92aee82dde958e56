import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { logFiles, NOTHING_TRUSTED, readStoreFiles, tableFile, type TrustedFiles } from './store-check.ts'

const FILE = 'millrace-sound-files.json'
const listSchema = z.record(z.string(), z.string())

/**
 * The files that were sound when the store was closed, each with its size, time and inode. A file that was written, restored
 * or copied since has others. A link of a snapshot changes none of them. There is no list while the store is open, so after
 * a crash every file is checked.
 */
export async function readTrustedFiles(directory: string): Promise<TrustedFiles> {
  const list = await readList(directory)
  if (list === null) return NOTHING_TRUSTED
  return {
    wasClosed: true,
    trusts: async (file) => Object.hasOwn(list, file) && list[file] === (await stampOf(directory, file))
  }
}

/** Returns the stamps of the files that were sound when the store was closed; empty while it is open. */
export async function listedStamps(directory: string): Promise<string[]> {
  return Object.values((await readList(directory)) ?? {})
}

/** Returns the stamps of the tables in a folder of the engine. */
export async function tableStamps(directory: string): Promise<string[]> {
  const files = await readStoreFiles(directory, false)
  if (typeof files === 'string') return []
  const tables = [...files.tables.keys()]
  const stamps = await Promise.all(
    tables.map(async (number) => stampOf(directory, await tableFile(directory, number)))
  )
  return stamps.filter((stamp) => stamp !== null)
}

/** Trusts the tables of a snapshot that were found sound elsewhere. Its logs are copies, which are checked. */
export function trustedTables(directory: string, sound: ReadonlySet<string>): TrustedFiles {
  return {
    wasClosed: false,
    trusts: async (file) => sound.has((await stampOf(directory, file)) ?? '')
  }
}

/** Returns the size, time and inode of a file; null if it is absent. A file with an equal stamp has not changed. */
export async function fileStamp(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null)
  return found === null ? null : `${found.size} ${found.mtimeNs} ${found.ino}`
}

export async function forgetTrustedFiles(directory: string): Promise<void> {
  await rm(join(directory, FILE), { force: true })
}

/**
 * Lists the files of a store that was just closed. Files that were checked at its start were sound, and the engine wrote the
 * rest.
 */
export async function writeTrustedFiles(directory: string): Promise<void> {
  const files = await readStoreFiles(directory, false)
  if (typeof files === 'string') return
  const names = await logFiles(directory, files.firstLog)
  for (const number of files.tables.keys()) names.push(await tableFile(directory, number))
  const entries = await Promise.all(names.map(async (name) => [name, await stampOf(directory, name)]))
  const path = join(directory, FILE)
  await writeFile(`${path}.new`, JSON.stringify(Object.fromEntries(entries)))
  await rename(`${path}.new`, path)
}

async function readList(directory: string): Promise<Readonly<Record<string, string>> | null> {
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => null)
  return (text === null ? null : listSchema.safeParse(parsed(text)).data) ?? null
}

const stampOf = (directory: string, file: string): Promise<string | null> => fileStamp(join(directory, file))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
