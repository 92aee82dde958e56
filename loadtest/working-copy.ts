import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes a data directory beside a built one, with a copy of its store that a service may write to. Tables, which the engine
 * never changes, are hard-linked; other files are copied.
 */
export function workingCopy(directory: string): string {
  const copy = mkdtempSync(join(directory, 'working-'))
  const [from, to] = [join(directory, 'store'), join(copy, 'store')]
  mkdirSync(to)
  for (const file of readdirSync(from)) {
    if (file.endsWith('.ldb')) linkSync(join(from, file), join(to, file))
    else copyFileSync(join(from, file), join(to, file))
  }
  return copy
}
