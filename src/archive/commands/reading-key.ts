import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { VenueId } from '../../chain/venue-id.ts'
import type { Mapping } from '../rows/mapping.ts'
import type { NamedRowFile, PathContent } from '../rows/path-content.ts'

/** How the rows of an import are read. */
export interface RowsReading {
  readonly mappings: readonly Mapping[]
  /** Venue of rows that name none. */
  readonly venue: VenueId | null
}

/** Names an import by its files and how they are read, so that an interrupted one is recognized. */
export async function readingKey(
  { rows, folders }: PathContent,
  { mappings, venue }: RowsReading
): Promise<string> {
  const aboutOf = async ({ path }: NamedRowFile): Promise<unknown> => {
    const about = await stat(path).catch(() => null)
    return [path, about?.size, about?.mtimeMs]
  }
  const files = await Promise.all(rows.map(aboutOf))
  const text = JSON.stringify([files, folders.map(({ directory }) => directory), mappings, venue])
  return createHash('sha256').update(text).digest('hex')
}
