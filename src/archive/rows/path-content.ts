import { stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { listFiles } from '../../recorded/files.ts'
import { contentOf } from './file-content.ts'
import type { RowFile } from './row-file.ts'
import type { Refusal } from './row-refusal.ts'

/** A file with trade rows, and the path of the command that names it. */
export interface NamedRowFile extends RowFile {
  /** Name of the path's last part: a folder, or the file itself. */
  readonly source: string
}

/** A folder with recorded blocks. */
export interface BlockFolder {
  readonly directory: string
  /** Tells whether a file, by its path below the folder, may have blocks. */
  readonly accepts: (file: string) => boolean
}

/** The files of paths, by content. */
export interface PathContent {
  /** In the order of the paths; in a folder, by name. */
  readonly rows: readonly NamedRowFile[]
  /** Folders with blocks, or with nothing that is known, and the folders of single files with blocks. */
  readonly folders: readonly BlockFolder[]
  /** Number of files with recorded blocks. */
  readonly blocks: number
  /** Number of files that are neither. */
  readonly others: number
  /** Paths that cannot be read. */
  readonly refusals: readonly Refusal[]
}

/**
 * Examines files, and the files of folders at any depth. A file whose content is unclear counts as blocks if its folder has
 * blocks and no rows, else as rows.
 */
export async function contentOfPaths(paths: readonly string[]): Promise<PathContent> {
  const rows: NamedRowFile[] = []
  const folders: BlockFolder[] = []
  const refusals: Refusal[] = []
  let [blocks, others] = [0, 0]
  const refuse = (file: string, error: unknown): void =>
    void refusals.push({
      reason: 'unreadable-file',
      file,
      line: null,
      rowGroup: null,
      detail: (error as Error).message
    })
  /** Examines the files of a path; returns their rows, unclear files, and the number of others. */
  const examine = async (files: readonly string[], source: string, isNamed: boolean) => {
    const found = { rows: [] as NamedRowFile[], unclear: [] as NamedRowFile[], blocks: 0, others: 0 }
    for (const path of files)
      try {
        const content = await contentOf(path, isNamed)
        if (content.kind === 'other') found.others++
        else if (content.kind === 'blocks') found.blocks++
        else {
          const { format, compression } = content
          found[content.kind].push({ path, name: path, source, format, compression })
        }
      } catch (error) {
        refuse(path, error)
      }
    return found
  }
  for (const path of paths) {
    const about = await stat(path).catch((error: unknown) => void refuse(path, error))
    if (about === undefined) continue
    const isFolder = about.isDirectory()
    const source = basename(path)
    const names = isFolder
      ? await listFiles(path, (below, error) => refuse(join(path, below), error))
      : [basename(path)]
    const directory = isFolder ? path : dirname(path)
    const found = await examine(isFolder ? names.map((name) => join(path, name)) : [path], source, !isFolder)
    blocks += found.blocks
    others += found.others
    const isOfBlocks = found.blocks > 0 && found.rows.length === 0
    const named = isOfBlocks ? [] : [...found.rows, ...found.unclear]
    rows.push(...named.sort((a, b) => (a.path < b.path ? -1 : 1)))
    if (isOfBlocks) blocks += found.unclear.length
    const ofRows = new Set(named.map((file) => relative(directory, file.path)))
    if (found.blocks > 0 || named.length === 0)
      folders.push({
        directory,
        accepts: isFolder ? (file) => !ofRows.has(file) : (file) => file === basename(path)
      })
  }
  return { rows, folders, blocks, others, refusals }
}
