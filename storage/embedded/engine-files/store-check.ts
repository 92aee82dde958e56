import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyRange } from '../../codec/keys.ts'
import { storeFiles, type LiveTable, type StoreFiles } from './manifest.ts'
import { readRecordLog } from './record-log.ts'
import { tableDamage, type TableDamage } from './table.ts'

/** A part of one of the store's files that cannot be read. */
export interface FileDamage {
  readonly file: string
  /** `missing`: there is no such file. Otherwise as in a table (`TableDamage`). */
  readonly part: 'missing' | TableDamage['part']
  readonly offset: number
  readonly length: number
  /** The keys that are lost with it, or null. */
  readonly keys: KeyRange | null
}

export interface StoreCheck {
  readonly tables: readonly FileDamage[]
  /** Damage for which the engine cannot open the store, or would silently drop commits; one line each. */
  readonly fatal: readonly string[]
  readonly checked: { readonly files: number; readonly bytes: number }
}

/** Tells which files need no check: a check found them sound, and they have not been written since. */
export interface TrustedFiles {
  /** Whether the store was closed properly before. Otherwise a log may end within a record. */
  readonly wasClosed: boolean
  trusts(file: string): Promise<boolean>
}

export const NOTHING_TRUSTED: TrustedFiles = { wasClosed: false, trusts: async () => false }

/** Tells whether a folder holds files of the engine. */
export async function holdsStore(directory: string): Promise<boolean> {
  const names = await readdir(directory).catch(() => [])
  return names.some((name) => /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|sst|log))$/.test(name))
}

/**
 * Verifies the checksums of a store's files without the engine, which does not check them when it reads. Changes nothing, so
 * it may run while another process has the store open.
 */
export async function checkStore(directory: string, trusted: TrustedFiles): Promise<StoreCheck> {
  const files = await readStoreFiles(directory, trusted.wasClosed)
  if (typeof files === 'string') return { tables: [], fatal: [files], checked: { files: 0, bytes: 0 } }
  const found: FileDamage[] = []
  const fatal: string[] = []
  const checked = { files: 0, bytes: 0 }
  let scratch = Buffer.alloc(0)
  for (const table of files.tables.values()) {
    const file = await tableFile(directory, table.number)
    if (await trusted.trusts(file)) continue
    if (scratch.length < table.sizeBytes) scratch = Buffer.allocUnsafeSlow(table.sizeBytes)
    const bytes = await readTable(join(directory, file), table, scratch)
    if (bytes === null) {
      if (await isLive(directory, table))
        found.push({ file, part: 'missing', offset: 0, length: table.sizeBytes, keys: table.keys })
      continue
    }
    checked.files++
    checked.bytes += bytes.length
    for (const damage of tableDamage(bytes, table.keys)) found.push({ file, ...damage })
  }
  for (const file of await logFiles(directory, files.firstLog)) {
    if (await trusted.trusts(file)) continue
    const bytes = await readFile(join(directory, file)).catch(absent)
    if (bytes === null) continue
    checked.files++
    checked.bytes += bytes.length
    const { damagedAt, goesOn } = readRecordLog(bytes)
    if (damagedAt !== null && (goesOn || trusted.wasClosed))
      fatal.push(`${file}, the write-ahead log, is damaged from byte ${damagedAt} on`)
  }
  return { tables: found, fatal, checked }
}

/** Contents of the manifest, or its fault. */
export async function readStoreFiles(directory: string, wasClosed: boolean): Promise<StoreFiles | string> {
  const current = await readFile(join(directory, 'CURRENT'), 'latin1').catch(absent)
  if (current === null) return 'CURRENT, which names the manifest, is missing'
  const name = /^(MANIFEST-\d+)\n$/.exec(current)?.[1]
  if (name === undefined) return 'CURRENT, which names the manifest, is damaged'
  const manifest = await readFile(join(directory, name)).catch(absent)
  if (manifest === null) return `${name}, which lists the tables, is missing`
  const { records, damagedAt, goesOn } = readRecordLog(manifest)
  const damaged = `${name}, which lists the tables, is damaged from byte ${damagedAt ?? 0} on`
  if (records.length === 0 || (damagedAt !== null && (goesOn || wasClosed))) return damaged
  try {
    return storeFiles(records)
  } catch (error) {
    if (error instanceof RangeError) return damaged
    throw error
  }
}

/** The logs that are not in tables yet, oldest first. */
export async function logFiles(directory: string, firstLog: number): Promise<string[]> {
  const names = await readdir(directory)
  return names.filter((name) => /^\d+\.log$/.test(name) && Number.parseInt(name, 10) >= firstLog).sort()
}

/** Older versions of the engine name tables otherwise. */
export async function tableFile(directory: string, number: number): Promise<string> {
  const [file, old] = ['ldb', 'sst'].map((ending) => `${String(number).padStart(6, '0')}.${ending}`)
  const isThere = async (name: string): Promise<boolean> =>
    (await stat(join(directory, name)).catch(absent)) !== null
  return !(await isThere(file!)) && (await isThere(old!)) ? old! : file!
}

/**
 * A table's bytes, with zeros for missing ones; null if there is no file. They are read into `scratch`, whose memory many
 * tables can share: new memory for each takes as long as the read.
 */
export async function readTable(
  path: string,
  { sizeBytes }: LiveTable,
  scratch: Buffer = Buffer.allocUnsafeSlow(sizeBytes)
): Promise<Buffer | null> {
  const file = await open(path).catch(absent)
  if (file === null) return null
  try {
    const bytes = scratch.subarray(0, sizeBytes)
    let at = 0
    while (at < sizeBytes) {
      const { bytesRead } = await file.read(bytes, at, sizeBytes - at, at)
      if (bytesRead === 0) break
      at += bytesRead
    }
    return bytes.fill(0, at)
  } finally {
    await file.close()
  }
}

/** A process that has the store open may have merged a table into others since the manifest was read. */
async function isLive(directory: string, { number }: LiveTable): Promise<boolean> {
  const files = await readStoreFiles(directory, false)
  return typeof files !== 'string' && files.tables.has(number)
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
