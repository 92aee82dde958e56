import type { SettingName } from '../../kernel/config/config.ts'
import { command, type CommandGroup } from '../../kernel/cli/command.ts'
import { STORE } from '../../store/commands/store-settings.ts'

const IMPORT = [
  ...STORE,
  'scyllaReplication',
  'redisUrl',
  'rpcUrl',
  'venues',
  'usdMints'
] as const satisfies readonly SettingName[]

export const ARCHIVE: CommandGroup = {
  summary: 'Imports recorded blocks from before the first indexed one, and shows what is imported.',
  verbs: {
    import: command({
      summary: 'Adds the blocks of a recorded folder to the archive.',
      details:
        'The service may run meanwhile, and serves the blocks within a minute (the first ones on a cluster within six). A repeated run continues an interrupted one. ' +
        'Import folders in the order of their slots: a block before the end of the archive cannot be added. Blocks at or ' +
        'after the first indexed slot are left out. With --rpc-url, transfer fees are read from the node. Exits with 1 if a ' +
        'block could not be added or read.',
      operands: 'FOLDER',
      settings: IMPORT,
      examples: ['millrace archive import ./blocks --data-dir ./data'],
      run: async (invocation) => (await import('./archive-import.ts')).importArchive(invocation)
    }),
    status: command({
      summary: 'Prints which slots and times the archive has, and whether they can be served.',
      details: 'The service and an import may run meanwhile.',
      options: { json: { meaning: 'print one JSON object instead of lines' } },
      settings: STORE,
      examples: ['millrace archive status --data-dir ./data'],
      run: async (invocation) => (await import('./archive-status.ts')).archiveStatus(invocation)
    })
  }
}
