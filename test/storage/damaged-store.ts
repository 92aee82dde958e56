import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, openSync, closeSync, readdirSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ClassicLevel } from 'classic-level'
import { ARCHIVE_ENGINE, ENGINE } from '../../storage/embedded/engine-options.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { putKey, putTenant, sampleKey, sampleTenant } from '../../storage/test/sample-access.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'

/** Writes blocks, and makes the engine merge all of them into tables. */
export async function fillSettled(
  directory: string,
  blocks: number,
  seed = 3,
  isArchive = false
): Promise<void> {
  const storage = await openEmbeddedStorage({ directory, isArchive })
  for (const n of [0, 1, 2]) {
    await putTenant(storage, sampleTenant(n))
    await putKey(storage, sampleKey(n))
  }
  for (let index = 0; index < blocks; index++) await storage.blocks.commit(sampleBlock(seed, index))
  await storage.close()
  await settle(directory, isArchive)
}

/** Makes the engine merge all content of a closed store into tables. */
export async function settle(directory: string, isArchive = false): Promise<void> {
  const engine = new ClassicLevel<Buffer, Uint8Array>(directory, isArchive ? ARCHIVE_ENGINE : ENGINE)
  await engine.open()
  await engine.compactRange(Buffer.of(0), Buffer.of(255))
  await engine.close()
}

/** Copies a store, with zeros in one of its files. */
export function damagedCopy(
  store: string,
  copy: string,
  {
    file,
    offset,
    length = 2_000
  }: { readonly file: string; readonly offset: number; readonly length?: number }
): void {
  cpSync(store, copy, { recursive: true })
  zero(join(copy, file), offset, length)
}

export function zero(path: string, offset: number, length = 2_000): void {
  const end = Math.min(offset + length, statSync(path).size)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(Math.max(0, end - offset)), 0, Math.max(0, end - offset), offset)
  closeSync(file)
}

export const filesOf = (store: string, pattern: RegExp): string[] =>
  readdirSync(store).filter((name) => pattern.test(name))

/** Outcome of each read: the digest of its answer, or its error. */
export interface Outcomes {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  readonly stderr: string
  readonly reads: ReadonlyMap<string, { readonly value?: string; readonly error?: string }>
}

/** Makes every kind of read in a separate process. */
export async function readAll(directory: string, blocks: number): Promise<Outcomes> {
  const script = join(import.meta.dirname, 'read-all-child.ts')
  const child = spawn(process.execPath, [script, directory, String(blocks)], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  ])
  const reads = new Map(
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { read: string; value?: string; error?: string })
      .map(({ read, ...outcome }) => [read, outcome])
  )
  return { code, signal, stderr, reads }
}
