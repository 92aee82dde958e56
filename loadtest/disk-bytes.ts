import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What a folder takes on disk, with what is below it. Files that go while it looks do not count. */
export function diskBytes(directory: string): number {
  let bytes = 0
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    bytes += (lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0) * 512
  }
  return bytes
}
