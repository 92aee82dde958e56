import type { CommandContext } from '../../kernel/cli/command.ts'
import { systemPorts } from '../../ports.ts'
import { readTradeFacts } from '../rows/fact-reading.ts'
import type { PathContent } from '../rows/path-content.ts'
import { RowCheck } from '../rows/row-check.ts'
import { reportLines, rowReport } from '../rows/row-report.ts'
import { RowTally } from '../rows/row-tally.ts'
import type { RowsReading } from './reading-key.ts'

const PROGRESS_MS = 1_000

/**
 * Reads, maps and checks the trade rows of files, and prints a report. Changes nothing. Resolves with 1 if a row or a file
 * was refused, if rows contradict one another, and if the reading was interrupted.
 */
export async function dryRunRows(
  content: PathContent,
  { mappings, venue }: RowsReading,
  {
    stdout,
    stderr,
    interrupted,
    options
  }: CommandContext & {
    readonly options: { readonly json?: true | undefined }
  }
): Promise<number> {
  const { clock } = systemPorts
  const tally = new RowTally()
  for (const refusal of content.refusals) tally.refusals.add(refusal)
  const check = new RowCheck({ venue, now: Math.floor(clock.now() / 1_000) })
  const reading = { mappings, hasVenue: venue !== null, check, tally, signal: interrupted }
  let toldMs = clock.now()
  const facts = readTradeFacts(content.rows, reading)
  while ((await facts.next()).done !== true) {
    if (clock.now() - toldMs < PROGRESS_MS) continue
    toldMs = clock.now()
    stderr(
      `file ${tally.files} of ${content.rows.length}: ${tally.rows} rows, ${tally.refusals.total} refusals`
    )
  }
  const report = rowReport(tally, content.blocks + content.others)
  for (const line of options.json === true ? [JSON.stringify(report)] : reportLines(report)) stdout(line)
  if (interrupted.aborted) stderr('millrace: interrupted; the report covers the rows before')
  const isSound = report.refused === 0 && report.contradicted_mints.count === 0
  return interrupted.aborted || !isSound ? 1 : 0
}
