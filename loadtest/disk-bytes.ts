import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the bytes that a folder and its subfolders take on disk. Files deleted during the walk do not count. */
export function diskBytes(directory: string): number {
  let bytes = 0
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    bytes += (lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0) * 512
  }
  return bytes
}
