import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { collectedBytes } from '../kernel/collected-bytes.ts'

/** The format of a recorded file: one document, or one per line; compressed or not. */
export interface RecordedFormat {
  readonly lines: boolean
  readonly compression: Compression
}

/** How a file is compressed; null if it is not. */
export type Compression = 'gzip' | 'zstd' | null

const NAME = /^(.+)\.(json|ndjson)(?:\.(gz|zst))?$/
const COMPRESSION = { gz: 'gzip', zst: 'zstd' } as const

/** Returns the format of a file by its name; null if it is not the name of a recorded file. */
export function formatOf(name: string): RecordedFormat | null {
  const [, , kind, ending] = NAME.exec(name) ?? []
  if (kind === undefined) return null
  return { lines: kind === 'ndjson', compression: compressionOfEnding(ending) }
}

/** Returns the compression of a file by the last ending of its name, without the dot. */
export const compressionOfEnding = (ending: string | undefined): Compression =>
  ending === 'gz' || ending === 'zst' ? COMPRESSION[ending] : null

/** Returns the slot in a file's name: its only number, as in `254170887.json.gz` or `block-254170887.json`. */
export function slotOfName(path: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const stem = NAME.exec(name)?.[1] ?? name
  const numbers = stem
    .split(/[^0-9A-Za-z]+/)
    .flatMap((part) => /^(?:block|slot)?(\d{1,15})$/.exec(part)?.[1] ?? [])
  return numbers.length === 1 ? Number(numbers[0]) : null
}

/**
 * Lists the files below a directory at any depth, as relative paths with `/`, ordered by name. An unreadable directory
 * is reported with its path, empty for the outermost, and skipped.
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

/** A file that is being read. */
export interface ReadBytes {
  /** Bytes that were read from the file, compressed ones if it is compressed. */
  readonly bytesRead: number
}

/** Reads and decompresses a file. `start` and `length` address an uncompressed one. */
export function openBytes(
  path: string,
  compression: Compression,
  part: { readonly start: number; readonly length: number } | null = null,
  onOpen: (file: ReadBytes) => void = () => undefined
): AsyncIterable<Buffer> {
  const range = part === null ? {} : { start: part.start, end: part.start + part.length - 1 }
  const file = createReadStream(path, { ...range, highWaterMark: 256 * 1024 })
  onOpen(file)
  if (compression === null) return file
  const decompressed = compression === 'gzip' ? createGunzip() : createZstdDecompress()
  // An error of either stream ends reading from the second, where the reader gets it.
  return pipeline(file, decompressed, () => undefined)
}

/** Reads the whole stream as text; null if it exceeds the limit, where reading stops. */
export async function readText(bytes: AsyncIterable<Buffer>, bytesMax: number): Promise<string | null> {
  return (await collectedBytes(bytes, bytesMax))?.toString('utf8') ?? null
}

/** Returns whether a link points to a file. Links to directories are not followed: they may form a loop. */
async function isLinkedFile(path: string): Promise<boolean> {
  return stat(path).then(
    (target) => target.isFile(),
    () => false
  )
}
