import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { KeyRange } from '../../codec/keys.ts'
import { readRecordLog } from '../engine-files/record-log.ts'
import { readStoreFiles, readTable, type FileDamage } from '../engine-files/store-check.ts'
import { tableDamage, withoutDamage } from '../engine-files/table.ts'
import { readTrustedFiles } from '../engine-files/trusted-files.ts'

const ALL_KEYS: KeyRange = { gte: Buffer.alloc(0), lt: Buffer.of(0xff) }

/** A copy of the readable parts of a store's files, which the engine can open safely. */
export interface Salvage {
  readonly damage: readonly FileDamage[]
  /** Other records that were left out, one line each. */
  readonly notes: readonly string[]
}

/**
 * Copies a store's files without their damaged parts. A write-ahead log is copied up to its first damage, because later
 * writes depend on the lost ones. The engine rebuilds a lost manifest from the tables, in a process of its own.
 */
export async function salvageFiles(directory: string, into: string): Promise<Salvage> {
  const { wasClosed } = await readTrustedFiles(directory)
  await mkdir(into, { recursive: true })
  const files = await readStoreFiles(directory, wasClosed)
  const damage: FileDamage[] = []
  const notes: string[] = []
  const names = await readdir(directory)
  const tables = names.filter((name) => /^\d+\.(ldb|sst)$/.test(name))
  if (typeof files === 'string') {
    notes.push(`${files}: the list is rebuilt from all tables`)
    for (const file of tables) {
      const bytes = await readFile(join(directory, file))
      const found = tableDamage(bytes, ALL_KEYS)
      damage.push(...found.map((part) => ({ file, ...part })))
      await writeFile(join(into, file), withoutDamage(bytes, found))
    }
  } else {
    for (const table of files.tables.values()) {
      const prefix = `${String(table.number).padStart(6, '0')}.`
      const file = tables.find((name) => name.startsWith(prefix)) ?? `${prefix}ldb`
      const bytes = await readTable(join(directory, file), table)
      if (bytes === null)
        damage.push({ file, part: 'missing', offset: 0, length: table.sizeBytes, keys: table.keys })
      const found = tableDamage(bytes ?? Buffer.alloc(table.sizeBytes), table.keys)
      if (bytes !== null) damage.push(...found.map((part) => ({ file, ...part })))
      await writeFile(join(into, file), withoutDamage(bytes ?? Buffer.alloc(table.sizeBytes), found))
    }
    for (const file of names.filter((name) => /^(CURRENT|MANIFEST-\d+)$/.test(name)))
      await copyFile(join(directory, file), join(into, file))
  }
  notes.push(
    ...(await salvageLogs(directory, into, {
      firstLog: typeof files === 'string' ? 0 : files.firstLog,
      wasClosed
    }))
  )
  if (typeof files === 'string') await engineRepair(into)
  return { damage, notes }
}

/** A log of a store that was not closed may end within a record; no committed data is lost with it. */
async function salvageLogs(
  directory: string,
  into: string,
  { firstLog, wasClosed }: { readonly firstLog: number; readonly wasClosed: boolean }
): Promise<string[]> {
  const logs = (await readdir(directory)).filter((name) => /^\d+\.log$/.test(name))
  const live = logs
    .filter((name) => Number.parseInt(name, 10) >= firstLog)
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  for (const [at, file] of live.entries()) {
    const bytes = await readFile(join(directory, file))
    const { end, damagedAt, goesOn } = readRecordLog(bytes)
    await writeFile(join(into, file), bytes.subarray(0, end))
    if (damagedAt === null || !(goesOn || wasClosed)) continue
    const later = live.slice(at + 1)
    return [
      `${file}, the write-ahead log, is read up to byte ${end} of ${bytes.length}: the commits after it are lost` +
        (later.length === 0 ? '' : `, and so are all commits in ${later.join(', ')}`)
    ]
  }
  return []
}

/** Runs the engine in a process of its own to rebuild a manifest: it verifies little of the data that it reads. */
async function engineRepair(directory: string): Promise<void> {
  const script = `
    import { ClassicLevel } from ${JSON.stringify(import.meta.resolve('classic-level'))}
    await ClassicLevel.repair(${JSON.stringify(directory)})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const [stderr, [code, signal]] = await Promise.all([text(child.stderr), exited])
  if (code !== 0) throw new Error(`the engine's repair ended with ${signal ?? code}: ${stderr.trim()}`)
}
