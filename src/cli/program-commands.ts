import type { SettingName } from '../config/config.ts'
import { command, type CommandGroup } from './command.ts'

const settings = ['key', 'host', 'port'] as const satisfies readonly SettingName[]
const details = 'Sends requests to a running service. The key needs the scope `admin`.'
const everywhere = {
  json: { meaning: 'print JSON objects instead of a table' },
  url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
} as const

export const PROGRAMS: CommandGroup = {
  summary: 'Lists, adds and removes programs whose accounts are mirrored.',
  verbs: {
    list: command({
      summary: 'Lists the whitelist with the progress of each program.',
      details,
      options: everywhere,
      settings,
      examples: ['millrace programs list --key $KEY'],
      run: async (invocation) => (await import('./programs.ts')).listPrograms(invocation)
    }),
    add: command({
      summary: 'Adds a program, or changes its indexes; accounts are read from the node in the background.',
      details,
      operands: 'PROGRAM',
      options: {
        ...everywhere,
        index: {
          value: 'OFFSET:LENGTH,…',
          meaning:
            'byte ranges of the account data to index, or none; default: mint and owner for a new token program'
        }
      },
      settings,
      examples: [
        'millrace programs add TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA --index 0:32,32:32 --key $KEY'
      ],
      run: async (invocation) => (await import('./programs.ts')).addProgram(invocation)
    }),
    remove: command({
      summary: 'Removes a program and deletes its mirrored accounts.',
      details,
      operands: 'PROGRAM',
      options: everywhere,
      settings,
      examples: ['millrace programs remove TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA --key $KEY'],
      run: async (invocation) => (await import('./programs.ts')).removeProgram(invocation)
    })
  }
}
