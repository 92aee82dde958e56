import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A data directory beside a built one, with its store: tables, which the engine never changes, are linked, the others
 * copied, so that a service may write to it and the built one stays as it is.
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
