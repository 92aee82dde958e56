import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'

/** How a recorded file holds its records: one document, or one a line; compressed or not. */
export interface RecordedFormat {
  readonly lines: boolean
  readonly compression: 'gzip' | 'zstd' | null
}

const NAME = /^(.+)\.(json|ndjson)(?:\.(gz|zst))?$/
const COMPRESSION = { gz: 'gzip', zst: 'zstd' } as const

/** The format that a file's name says; null when it is none of a recorded file. */
export function formatOf(name: string): RecordedFormat | null {
  const [, , kind, ending] = NAME.exec(name) ?? []
  if (kind === undefined) return null
  const compression = ending === 'gz' || ending === 'zst' ? COMPRESSION[ending] : null
  return { lines: kind === 'ndjson', compression }
}

/** The slot that a file's name gives: its only number, as in `254170887.json.gz` or `block-254170887.json`. */
export function slotOfName(path: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const stem = NAME.exec(name)?.[1] ?? name
  const numbers = stem
    .split(/[^0-9A-Za-z]+/)
    .flatMap((part) => /^(?:block|slot)?(\d{1,15})$/.exec(part)?.[1] ?? [])
  return numbers.length === 1 ? Number(numbers[0]) : null
}

/**
 * The files below a directory at any depth, as paths relative to it with `/`, in order of their names. A directory that
 * cannot be listed is told of by its path, empty for the outermost, and passed over.
 */
export async function listFiles(
  directory: string,
  onUnreadable: (path: string, error: Error) => void = () => undefined
): Promise<string[]> {
  const paths: string[] = []
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(directory, below), { withFileTypes: true }).catch((error: Error) => {
      onUnreadable(below, error)
      return []
    })
    for (const entry of entries) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile() || (await isLinkedFile(join(directory, path)))) paths.push(path)
    }
  }
  await walk('')
  return paths.sort()
}

/** The bytes of a file, decompressed. `start` and `length` address an uncompressed one. */
export function openBytes(
  path: string,
  compression: RecordedFormat['compression'],
  part: { readonly start: number; readonly length: number } | null = null
): AsyncIterable<Buffer> {
  const range = part === null ? {} : { start: part.start, end: part.start + part.length - 1 }
  const file = createReadStream(path, { ...range, highWaterMark: 256 * 1024 })
  if (compression === null) return file
  const decompressed = compression === 'gzip' ? createGunzip() : createZstdDecompress()
  // A fault of either stream ends the reading of the second, which is where it is seen.
  return pipeline(file, decompressed, () => undefined)
}

/** All of it as text; null when it has more bytes than allowed, of which no more are read. */
export async function readText(bytes: AsyncIterable<Buffer>, bytesMax: number): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A link to a directory is not followed: it may lead back. */
async function isLinkedFile(path: string): Promise<boolean> {
  return stat(path).then(
    (target) => target.isFile(),
    () => false
  )
}
