import type { SettingName } from '../kernel/config/config.ts'
import { command, type CommandGroup, type Commands } from '../kernel/cli/command.ts'
import { REDIS_PLACE, STORE_PLACE } from '../store/commands.ts'

const IMPORT = [
  ...STORE_PLACE,
  'scyllaReplication',
  'scyllaTablets',
  ...REDIS_PLACE,
  'rpcUrl',
  'archiveRpcUrl',
  'venues',
  'usdMints'
] as const satisfies readonly SettingName[]

/** The option of commands that read from nodes. */
const REQUESTS_PER_SECOND = {
  value: 'NUMBER',
  meaning: 'requests to each node (default 5: half of what free plans of providers allow)'
} as const

const ARCHIVE: CommandGroup = {
  position: 110,
  summary: 'Imports blocks and trades from before the first indexed block, and shows what is imported.',
  verbs: {
    import: command({
      summary: 'Adds recorded blocks and trade rows of files to the archive, in any order.',
      details:
        'PATH is a file or a folder, with recorded blocks, trade rows (NDJSON, CSV, Parquet; gzip, zstd), or both. The service ' +
        'may run meanwhile, and serves what is imported within a minute (the first import on a cluster within six). A repeated ' +
        'run continues an interrupted one. Blocks and rows at or after the first indexed slot are left out. With --rpc-url, ' +
        'transfer fees are read from the node. Times of slots that files name without a time are read from the archive node, or ' +
        'from that of --rpc-url, once. Exits with 1 if a block could not be read or a row was refused. --dry-run ' +
        'checks rows and changes nothing.',
      operands: 'PATH…',
      options: {
        'dry-run': { meaning: 'check trade rows and print a report; nothing is imported' },
        map: { value: 'FILE', meaning: 'JSON file {"column": "field"} for files with columns of their own' },
        venue: { value: 'VENUE', meaning: 'venue of rows that name neither a venue nor a program' },
        'requests-per-second': REQUESTS_PER_SECOND,
        json: { meaning: 'print the report as one JSON object' }
      },
      isBackground: true,
      settings: IMPORT,
      examples: [
        'millrace archive import ./blocks --data-dir ./data',
        'millrace archive import ./trades.csv.gz ./dune --dry-run'
      ],
      run: async (invocation) => (await import('./commands/import-paths.ts')).importPaths(invocation)
    }),
    backfill: command({
      summary: 'Reads the blocks of a range of slots from the archive node into the archive.',
      details:
        'The service may run meanwhile. Ranges come in any order. A repeated run continues an interrupted one, and reads only ' +
        'blocks that the archive lacks. Slots from the first indexed one on are left out. Faults of the node and its limits of ' +
        'rate are waited for. Blocks that the node lacks are named and left out; a later run retries them. Exits with 1 if a ' +
        'block could not be read.',
      operands: 'FROM..TO',
      options: {
        'requests-per-second': REQUESTS_PER_SECOND
      },
      isBackground: true,
      settings: IMPORT,
      examples: [
        'millrace archive backfill 300000000..300999999 --archive-rpc-url https://NODE --data-dir ./data'
      ],
      run: async (invocation) => (await import('./commands/archive-backfill.ts')).backfillArchive(invocation)
    }),
    status: command({
      summary:
        'Prints which slots and times the archive has, what they are made of, and whether they can be served.',
      details: 'The service and an import may run meanwhile.',
      options: { json: { meaning: 'print one JSON object instead of lines' } },
      settings: STORE_PLACE,
      examples: ['millrace archive status --data-dir ./data'],
      run: async (invocation) => (await import('./commands/archive-status.ts')).archiveStatus(invocation)
    })
  }
}

export const ARCHIVE_COMMANDS: Commands = { archive: ARCHIVE }
