import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Packs the files of a closed store into one. */
export function packFiles(directory: string): Buffer {
  const names = (readdirSync(directory, { recursive: true }) as string[]).sort()
  const files = names.flatMap((name): [string, Buffer][] => {
    // The engine's own log of its work, and its lock.
    if (/^(LOG|LOG\.old|LOCK)$/.test(name)) return []
    return [[name, readFileSync(join(directory, name))]]
  })
  return zstdCompressSync(serialize(files))
}

/** Writes packed files into a new folder. */
export function unpackFiles(packed: Buffer, directory: string): void {
  for (const [name, bytes] of deserialize(zstdDecompressSync(packed)) as [string, Buffer][]) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), bytes)
  }
}
