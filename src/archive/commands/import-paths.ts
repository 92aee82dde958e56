import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { VENUE_IDS, type VenueId } from '../../chain/venue-id.ts'
import { BUILT_IN_MAPPINGS } from '../rows/built-in-mapping.ts'
import { readMappingFile } from '../rows/mapping-file.ts'
import type { Mapping } from '../rows/mapping.ts'
import { contentOfPaths } from '../rows/path-content.ts'
import { importArchive, type ImportRunOptions } from './archive-import.ts'
import { dryRunRows } from './rows-dry-run.ts'

export interface ImportOptions extends ImportRunOptions {
  readonly 'dry-run'?: true | undefined
  readonly map?: string | undefined
  readonly venue?: string | undefined
}

/** Imports recorded blocks and trade rows of files and folders, or checks the rows. */
export async function importPaths(invocation: Invocation<ImportOptions>): Promise<number> {
  const { operands, options, stderr } = invocation
  const venue = venueOf(options.venue)
  const mappings = await mappingsOf(options.map, venue !== null)
  if (typeof mappings === 'string') {
    stderr(`millrace: ${mappings}`)
    return 1
  }
  const content = await contentOfPaths(operands)
  if (options['dry-run'] !== true) return importArchive(content, { mappings, venue }, invocation)
  if (content.rows.length > 0 || content.refusals.length > 0)
    return dryRunRows(content, { mappings, venue }, invocation)
  stderr(
    `millrace: no trade rows in ${operands.join(', ')}; --dry-run takes trade rows only (.ndjson, .jsonl, .csv, .parquet)`
  )
  return 1
}

function venueOf(name: string | undefined): VenueId | null {
  if (name === undefined) return null
  const venue = VENUE_IDS.find((id) => id === name)
  if (venue === undefined)
    throw new BadUsage(`there is no venue ${JSON.stringify(name)}; the venues are ${VENUE_IDS.join(', ')}`)
  return venue
}

/** Returns the mappings to try, or why the mapping file cannot be used. */
async function mappingsOf(file: string | undefined, hasVenue: boolean): Promise<readonly Mapping[] | string> {
  if (file === undefined) return BUILT_IN_MAPPINGS
  const reading = await readMappingFile(file, hasVenue)
  return reading.kind === 'mapping' ? [reading.mapping] : reading.detail
}
