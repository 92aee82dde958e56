import { readFileSync, readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

/** A source file: its path from the root, its text and its imports. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  /** Paths from the root for the house's own files, else package or `node:` names. */
  readonly imports: readonly string[]
}

export const HOUSE = ['src', 'actors', 'machines', 'storage', 'loadtest', 'test'] as const

/** Reads the files below some folders whose names have one of the endings; test and script files included. */
export function readSources(
  folders: readonly string[] = HOUSE,
  endings: readonly string[] = ['.ts']
): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
      .map((entry) => readSource(join(entry.parentPath, entry.name)))
  )
}

function readSource(file: string): SourceFile {
  const text = readFileSync(file, 'utf8')
  const specifiers = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s*'([^']+)'/g
  )
  const imports = [...specifiers].map(([, from, dynamic, bare]) => {
    const specifier = (from ?? dynamic ?? bare)!
    return specifier.startsWith('.') ? relative(ROOT, resolve(file, '..', specifier)) : specifier
  })
  return { path: relative(ROOT, file), text, imports }
}
