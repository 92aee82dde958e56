import type { SettingName } from '../config/config.ts'
import { command, type CommandGroup } from './command.ts'

const settings = ['key', 'host', 'port'] as const satisfies readonly SettingName[]
const details = 'Sends requests to a running service. The key of the tenant needs the scope `revenue`.'
const everywhere = {
  json: { meaning: 'print JSON objects instead of a table' },
  url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
} as const

export const REVENUE: CommandGroup = {
  summary: 'Watches addresses, and shows the ledger of their balance changes.',
  verbs: {
    watch: command({
      summary: 'Watches an address, or replaces its label and role.',
      details: `${details} The ledger begins within 30 s.`,
      operands: 'ADDRESS',
      options: {
        label: { value: 'TEXT', meaning: 'a name for people, at most 64 characters; default: the address' },
        role: { value: 'ROLE', meaning: 'a group for sums, such as fee_wallet or treasury; default: other' },
        ...everywhere
      },
      settings,
      examples: ['millrace revenue watch ADDRESS --label Fees --role fee_wallet --key $KEY'],
      run: async (invocation) => (await import('./revenue.ts')).watchAddress(invocation)
    }),
    unwatch: command({
      summary: 'Stops watching an address.',
      details,
      operands: 'ADDRESS',
      options: everywhere,
      settings,
      examples: ['millrace revenue unwatch ADDRESS --key $KEY'],
      run: async (invocation) => (await import('./revenue.ts')).unwatchAddress(invocation)
    }),
    accounts: command({
      summary: 'Lists the watched addresses with the sums of their ledgers.',
      details,
      options: everywhere,
      settings,
      examples: ['millrace revenue accounts --key $KEY'],
      run: async (invocation) => (await import('./revenue.ts')).listAccounts(invocation)
    }),
    totals: command({
      summary: 'Shows inflow and outflow in a window: of all addresses, of each role and of each address.',
      details: `${details} The window ends with the newest indexed block.`,
      options: {
        window: { value: 'SECONDS', meaning: 'seconds of the window, from 60 to 31536000; default: 86400' },
        ...everywhere
      },
      settings,
      examples: ['millrace revenue totals --window 3600 --key $KEY'],
      run: async (invocation) => (await import('./revenue.ts')).showTotals(invocation)
    }),
    events: command({
      summary: 'Lists the newest rows of the ledger.',
      details,
      options: {
        limit: { value: 'COUNT', meaning: 'number of rows, at most 1000; default: 20' },
        ...everywhere
      },
      settings,
      examples: ['millrace revenue events --limit 100 --key $KEY'],
      run: async (invocation) => (await import('./revenue.ts')).listEvents(invocation)
    }),
    coverage: command({
      summary: 'Shows since when each address is recorded, and the gaps since then.',
      details,
      options: everywhere,
      settings,
      examples: ['millrace revenue coverage --key $KEY'],
      run: async (invocation) => (await import('./revenue.ts')).showCoverage(invocation)
    })
  }
}
