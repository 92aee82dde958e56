import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, open, readFile, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { z } from 'zod'
import { unopened } from '../unopened.ts'
import type { FileDamage } from './store-check.ts'
import { readStoreFiles, readTable } from './store-check.ts'
import { tableDamage, withoutDamage } from './table.ts'

/** The damage that was found since the store was made or repaired. */
export const DAMAGE_FILE = 'millrace-damage.json'
/** Damaged files, as they were found. */
const ASIDE_FOLDER = 'damaged'

const bytes = z
  .string()
  .regex(/^([0-9a-f]{2})*$/)
  .transform((text) => Buffer.from(text, 'hex'))
const damageSchema = z.array(
  z.object({
    file: z.string(),
    part: z.enum(['missing', 'block', 'index', 'filter']),
    offset: z.int().min(0),
    length: z.int().min(0),
    keys: z.object({ gte: bytes, lt: bytes }).nullable()
  })
)

/** Reads the known damage. Rejects if the list itself is damaged. */
export async function readKnownDamage(directory: string): Promise<FileDamage[]> {
  const text = await readFile(join(directory, DAMAGE_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]'
    throw error
  })
  return damageSchema.parse(JSON.parse(text))
}

/**
 * Keeps the engine away from damage. Each damaged table is moved to the folder `damaged`, and replaced by a copy without its
 * damaged parts. The list of the damage is on disk before that, so that lost records are never taken for absent ones. The
 * caller holds the lock of the store.
 */
export async function isolateDamage(directory: string, found: readonly FileDamage[]): Promise<void> {
  const known = await readKnownDamage(directory)
  const listed = [...known, ...found].map((damage) => ({
    ...damage,
    keys: damage.keys && { gte: damage.keys.gte.toString('hex'), lt: damage.keys.lt.toString('hex') }
  }))
  const distinct = [...new Map(listed.map((damage) => [JSON.stringify(damage), damage])).values()]
  await replace(join(directory, DAMAGE_FILE), Buffer.from(JSON.stringify(distinct, null, 1)))
  const files = await readStoreFiles(directory, false)
  if (typeof files === 'string') throw new Error(files)
  await mkdir(join(directory, ASIDE_FOLDER), { recursive: true })
  for (const file of new Set(found.map((damage) => damage.file))) {
    const table = files.tables.get(Number.parseInt(file, 10))
    if (table === undefined) continue
    const path = join(directory, file)
    const bytes = await readTable(path, table)
    const sound =
      bytes === null
        ? withoutDamage(Buffer.alloc(table.sizeBytes), [{ part: 'index', offset: 0, length: 0, keys: null }])
        : withoutDamage(bytes, tableDamage(bytes, table.keys))
    if (bytes !== null) await copyAside(directory, file)
    await replace(path, sound)
  }
}

/** A file that was set aside before keeps its copy. */
async function copyAside(directory: string, file: string): Promise<void> {
  const aside = join(directory, ASIDE_FOLDER, `${file}.${new Date().toISOString().replaceAll(':', '')}`)
  await replace(aside, await readFile(join(directory, file)))
}

/** Writes a file in one step that survives a power failure. */
async function replace(path: string, contents: Buffer): Promise<void> {
  const part = `${path}.${randomUUID()}.part`
  const file = await open(part, 'wx')
  try {
    await file.writeFile(contents)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
}

/**
 * Runs work while no process has a store open, and none can open it. The engine locks the file LOCK. An empty store whose
 * LOCK is a link to that file takes the lock without touching the store's other files. If another process has the store
 * open, it rejects like opening the store.
 */
export async function withStoreLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const place = await mkdtemp(join(tmpdir(), 'millrace-lock-'))
  try {
    await symlink(join(resolve(directory), 'LOCK'), join(place, 'LOCK'))
    const engine = new ClassicLevel(place)
    await engine.open().catch((cause: unknown) => {
      throw unopened(directory, cause)
    })
    try {
      return await work()
    } finally {
      await engine.close()
    }
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}
