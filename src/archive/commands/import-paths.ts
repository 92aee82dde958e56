import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { contentOfPaths } from '../rows/path-content.ts'
import { importArchive } from './archive-import.ts'
import { dryRunRows, type DryRunOptions } from './rows-dry-run.ts'

export interface ImportOptions extends DryRunOptions {
  readonly 'dry-run'?: true | undefined
}

/**
 * Imports the recorded blocks of a folder, or checks the trade rows of files and folders. Trade rows cannot be imported yet,
 * so they need `--dry-run`.
 */
export async function importPaths(invocation: Invocation<ImportOptions>): Promise<number> {
  const { operands, options, stderr } = invocation
  const isDryRun = options['dry-run'] === true
  const content = await contentOfPaths(operands, isDryRun ? 'rows' : 'blocks')
  if (!isDryRun) {
    const ofRows = (['map', 'venue', 'json'] as const).find((name) => options[name] !== undefined)
    if (content.blocks === 0 && content.rows.length > 0) {
      const { name } = content.rows[0]!
      stderr(
        `millrace: ${name} has trade rows, which only --dry-run takes yet: they are checked, not imported`
      )
      return 1
    }
    if (ofRows !== undefined) throw new BadUsage(`--${ofRows} needs --dry-run`)
    if (operands.length > 1) throw new BadUsage('blocks are imported from one folder at a time')
    return importArchive(invocation)
  }
  if (content.rows.length > 0 || content.refusals.length > 0) return dryRunRows(content, options, invocation)
  stderr(
    `millrace: no trade rows in ${operands.join(', ')}; --dry-run takes trade rows only (.ndjson, .jsonl, .csv, .parquet)`
  )
  return 1
}
