import { requestsOf, SERVICE, type CommandGroup, type Commands, type Row } from '../kernel/cli/command.ts'

const request = requestsOf({
  ...SERVICE,
  details: 'Sends requests to a running service. The key needs the scope `admin`.'
})
const index = {
  value: 'OFFSET:LENGTH,…',
  meaning:
    'byte ranges of the account data to index, or none; default: mint and owner for a new token program'
} as const

const PROGRAMS: CommandGroup = {
  position: 150,
  summary: 'Lists, adds and removes programs whose accounts are mirrored.',
  verbs: {
    list: request({
      summary: 'Lists the whitelist with the progress of each program.',
      examples: ['millrace programs list --key $KEY'],
      endpoint: async () => (await import('./routes/admin-programs.ts')).listPrograms,
      columns: 'program state accounts slot lag_slots index reason',
      lines: withIndexText
    }),
    add: request({
      summary: 'Adds a program, or changes its indexes; accounts are read from the node in the background.',
      examples: [
        'millrace programs add TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA --index 0:32,32:32 --key $KEY'
      ],
      endpoint: async () => (await import('./routes/admin-programs.ts')).addProgram,
      operands: { PROGRAM: 'program' },
      flags: { index },
      options: { ...SERVICE.options, index },
      lines: withIndexText
    }),
    remove: request({
      summary: 'Removes a program and deletes its mirrored accounts.',
      examples: ['millrace programs remove TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA --key $KEY'],
      endpoint: async () => (await import('./routes/admin-programs.ts')).removeProgram,
      operands: { PROGRAM: 'program' }
    })
  }
}

/** Returns a program with its indexes in the form of `--index`, and the state of those that are being built. */
function withIndexText(program: Row): Row {
  const ranges = (program.index ?? []) as readonly {
    offset: number
    length: number
    state: string
    versions: number
  }[]
  const texts = ranges.map(({ offset, length, state, versions }) =>
    state === 'ready' ? `${offset}:${length}` : `${offset}:${length} (${state}, ${versions})`
  )
  return { ...program, index: texts.length === 0 ? '-' : texts.join(',') }
}

export const PROGRAM_ACCOUNTS_COMMANDS: Commands = { programs: PROGRAMS }
