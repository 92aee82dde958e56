import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { listFiles } from '../../recorded/files.ts'
import { contentOf } from './file-content.ts'
import type { RowFile } from './row-file.ts'
import type { Refusal } from './row-refusal.ts'

/** The files of paths, by content. */
export interface PathContent {
  /** In the order of the paths; in a folder, by name. */
  readonly rows: readonly RowFile[]
  /** Number of files with recorded blocks. */
  readonly blocks: number
  /** Number of files that are neither. */
  readonly others: number
  /** Paths that cannot be read. */
  readonly refusals: readonly Refusal[]
}

/**
 * Examines files, and the files of folders at any depth. With `wanted: 'rows'`, a file whose content is unclear counts as rows.
 * Otherwise it counts as blocks, and the search stops at the first file in a folder that has blocks.
 */
export async function contentOfPaths(
  paths: readonly string[],
  wanted: 'rows' | 'blocks'
): Promise<PathContent> {
  const rows: RowFile[] = []
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
  const examine = async (path: string, isNamed: boolean): Promise<void> => {
    try {
      const content = await contentOf(path, isNamed)
      if (content.kind === 'rows' || (content.kind === 'unclear' && wanted === 'rows'))
        rows.push({ path, name: path, format: content.format, compression: content.compression })
      else if (content.kind === 'other') others++
      else blocks++
    } catch (error) {
      refuse(path, error)
    }
  }
  for (const path of paths) {
    const found = await stat(path).catch((error: unknown) => void refuse(path, error))
    if (found === undefined) continue
    if (!found.isDirectory()) await examine(path, true)
    else
      for (const name of await listFiles(path, (below, error) => refuse(join(path, below), error))) {
        await examine(join(path, name), false)
        if (wanted === 'blocks' && blocks > 0) return { rows, blocks, others, refusals }
      }
  }
  return { rows, blocks, others, refusals }
}
