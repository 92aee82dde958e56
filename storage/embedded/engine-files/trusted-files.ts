import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { logFiles, NOTHING_TRUSTED, readStoreFiles, tableFile, type TrustedFiles } from './store-check.ts'

const FILE = 'millrace-sound-files.json'
const listSchema = z.record(z.string(), z.string())

/**
 * The files that were sound when the store was closed, each with its size and times. A file that was written, restored or
 * copied since has others. There is no list while the store is open, so after a crash every file is checked.
 */
export async function readTrustedFiles(directory: string): Promise<TrustedFiles> {
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => null)
  const list = text === null ? null : listSchema.safeParse(parsed(text)).data
  if (list === null || list === undefined) return NOTHING_TRUSTED
  return {
    wasClosed: true,
    trusts: async (file) => Object.hasOwn(list, file) && list[file] === (await stampOf(directory, file))
  }
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

async function stampOf(directory: string, file: string): Promise<string | null> {
  const found = await stat(join(directory, file), { bigint: true }).catch(() => null)
  return found === null ? null : `${found.size} ${found.mtimeNs} ${found.ctimeNs}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
