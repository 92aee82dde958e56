import { createHash } from 'node:crypto'
import { link, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Bytes that are read at once. Arbitrary; nothing depends on it. */
const CHUNK = 2 ** 20

export interface CopiedFile {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** Copies a file durably, for its owner alone. Rejects with the error of the file system. */
export async function copyDurably(from: string, to: string, signal: AbortSignal): Promise<CopiedFile> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  let bytes = 0
  await using source = await open(from)
  await using target = await open(to, 'wx', 0o600)
  const chunk = Buffer.allocUnsafe(CHUNK)
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await source.read(chunk, 0, CHUNK)
    if (bytesRead === 0) break
    const part = chunk.subarray(0, bytesRead)
    hash.update(part)
    await target.writeFile(part)
    bytes += bytesRead
  }
  await target.sync()
  return { bytes, sha256: hash.digest('hex') }
}

/** Links a file of an earlier backup. Resolves with false if the disk cannot link. */
export async function linkFile(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  return link(from, to).then(
    () => true,
    () => false
  )
}

/** Makes the entries of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder)
  // Windows cannot synchronize folders.
  await handle.sync().catch(() => undefined)
}
