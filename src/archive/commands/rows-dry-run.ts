import { VENUE_IDS, type VenueId } from '../../chain/venue-id.ts'
import { BadUsage, type CommandContext } from '../../kernel/cli/command.ts'
import { systemPorts } from '../../ports.ts'
import { BUILT_IN_MAPPINGS } from '../rows/built-in-mapping.ts'
import { readTradeFacts } from '../rows/fact-reading.ts'
import { readMappingFile } from '../rows/mapping-file.ts'
import type { Mapping } from '../rows/mapping.ts'
import type { PathContent } from '../rows/path-content.ts'
import { RowCheck } from '../rows/row-check.ts'
import { reportLines, rowReport } from '../rows/row-report.ts'
import { RowTally } from '../rows/row-tally.ts'

const PROGRESS_MS = 1_000

/** Options of a dry run, as the operator gives them. */
export interface DryRunOptions {
  readonly map?: string | undefined
  readonly venue?: string | undefined
  readonly json?: true | undefined
}

/**
 * Reads, maps and checks the trade rows of files, and prints a report. Changes nothing. Resolves with 1 if a row or a file
 * was refused, and if the reading was interrupted.
 */
export async function dryRunRows(
  content: PathContent,
  options: DryRunOptions,
  { stdout, stderr, interrupted }: CommandContext
): Promise<number> {
  const venue = venueOf(options.venue)
  const mappings = await mappingsOf(options.map, venue !== null)
  if (typeof mappings === 'string') {
    stderr(`millrace: ${mappings}`)
    return 1
  }
  const { clock } = systemPorts
  const tally = new RowTally()
  for (const refusal of content.refusals) tally.refusals.add(refusal)
  const check = new RowCheck({ venue, now: Math.floor(clock.now() / 1_000) })
  const reading = { mappings, hasVenue: venue !== null, check, tally, signal: interrupted }
  let toldMs = clock.now()
  const facts = readTradeFacts(content.rows, reading)
  while ((await facts.next()).done !== true) {
    if (tally.rows % 1_000 !== 0 || clock.now() - toldMs < PROGRESS_MS) continue
    toldMs = clock.now()
    stderr(
      `file ${tally.files} of ${content.rows.length}: ${tally.rows} rows, ${tally.refusals.total} refusals`
    )
  }
  const report = rowReport(tally, content.blocks + content.others)
  for (const line of options.json === true ? [JSON.stringify(report)] : reportLines(report)) stdout(line)
  if (interrupted.aborted) stderr('millrace: interrupted; the report covers the rows before')
  return interrupted.aborted || report.refused > 0 ? 1 : 0
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
