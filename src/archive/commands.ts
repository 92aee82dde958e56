import type { SettingName } from '../kernel/config/config.ts'
import { command, type CommandGroup, type Commands } from '../kernel/cli/command.ts'
import { STORE_PLACE } from '../store/commands.ts'

const IMPORT = [
  ...STORE_PLACE,
  'scyllaReplication',
  'redisUrl',
  'rpcUrl',
  'venues',
  'usdMints'
] as const satisfies readonly SettingName[]

const ARCHIVE: CommandGroup = {
  position: 110,
  summary: 'Imports recorded blocks from before the first indexed one, and shows what is imported.',
  verbs: {
    import: command({
      summary: 'Adds the blocks of a recorded folder to the archive, or checks trade rows of files.',
      details:
        'The service may run meanwhile, and serves the blocks within a minute (the first ones on a cluster within six). A repeated run continues an interrupted one. ' +
        'Import folders in the order of their slots: a block before the end of the archive cannot be added. Blocks at or ' +
        'after the first indexed slot are left out. With --rpc-url, transfer fees are read from the node. Exits with 1 if a ' +
        'block could not be added or read. Trade rows of data vendors (NDJSON, CSV, Parquet; gzip, zstd) are only checked yet: ' +
        '--dry-run prints how many rows would be accepted, and why others are refused. It changes nothing, and exits with 1 if ' +
        'a row is refused.',
      operands: 'PATH…',
      options: {
        'dry-run': { meaning: 'check trade rows and print a report; nothing is imported' },
        map: { value: 'FILE', meaning: 'JSON file {"column": "field"} for files with columns of their own' },
        venue: { value: 'VENUE', meaning: 'venue of rows that name neither a venue nor a program' },
        json: { meaning: 'print the report of a dry run as one JSON object' }
      },
      settings: IMPORT,
      examples: [
        'millrace archive import ./blocks --data-dir ./data',
        'millrace archive import ./trades.csv.gz --dry-run'
      ],
      run: async (invocation) => (await import('./commands/import-paths.ts')).importPaths(invocation)
    }),
    status: command({
      summary: 'Prints which slots and times the archive has, and whether they can be served.',
      details: 'The service and an import may run meanwhile.',
      options: { json: { meaning: 'print one JSON object instead of lines' } },
      settings: STORE_PLACE,
      examples: ['millrace archive status --data-dir ./data'],
      run: async (invocation) => (await import('./commands/archive-status.ts')).archiveStatus(invocation)
    })
  }
}

export const ARCHIVE_COMMANDS: Commands = { archive: ARCHIVE }
