import {
  command,
  requestsOf,
  SERVICE,
  type CommandGroup,
  type Commands,
  type Row
} from '../kernel/cli/command.ts'

const details = 'Sends requests to a running service. The key of the tenant needs the scope `revenue`.'
const request = requestsOf({ ...SERVICE, details })
const SUMS = 'inflow_usd outflow_usd net_usd inflow_sol outflow_sol net_sol events'

/** The start of a ledger. */
const SINCE = {
  value: 'START',
  meaning: 'start of the ledger: a slot, unix seconds, or an ISO time; 0 is the first block'
}

const REVENUE: CommandGroup = {
  position: 160,
  summary: 'Watches addresses, and shows the ledger of their balance changes.',
  verbs: {
    watch: request({
      summary: 'Watches an address, or replaces its label and role.',
      details: `${details} The ledger begins within 30 s.`,
      examples: ['millrace revenue watch ADDRESS --label Fees --role fee_wallet --key $KEY'],
      endpoint: async () => (await import('./routes/revenue-accounts.ts')).watchAddress,
      operands: { ADDRESS: 'address' },
      flags: {
        label: { value: 'TEXT', meaning: 'a name for people, at most 64 characters; default: the address' },
        role: { value: 'ROLE', meaning: 'a group for sums, such as fee_wallet or treasury; default: other' },
        since: SINCE
      }
    }),
    backfill: command({
      summary: 'Extends the ledger of a watched address back, from the archive node or from files.',
      details: `${details} The service reads the history from the archive node, or this command sends it: from folders of recorded blocks, or from exports of the ledger (.ndjson, .csv, also .gz and .zst). The rows appear together once all are stored; \`millrace revenue accounts\` shows the status. With files, --since says that they have every change since that slot. Exits with 1 if a row is refused.`,
      operands: 'ADDRESS [PATH …]',
      options: { since: SINCE, ...SERVICE.options },
      settings: SERVICE.settings,
      examples: [
        'millrace revenue backfill ADDRESS --since 0 --key $KEY',
        'millrace revenue backfill ADDRESS --since 2026-08-01 --key $KEY',
        'millrace revenue backfill ADDRESS ledger.ndjson.gz --key $KEY'
      ],
      run: async (invocation) => (await import('./commands/backfill.ts')).backfill(invocation)
    }),
    unwatch: request({
      summary: 'Stops watching an address.',
      examples: ['millrace revenue unwatch ADDRESS --key $KEY'],
      endpoint: async () => (await import('./routes/revenue-accounts.ts')).unwatchAddress,
      operands: { ADDRESS: 'address' }
    }),
    accounts: request({
      summary: 'Lists the watched addresses with the sums of their ledgers.',
      examples: ['millrace revenue accounts --key $KEY'],
      endpoint: async () => (await import('./routes/revenue-accounts.ts')).listAccounts,
      columns: `address label role status ${SUMS} last_event_at`
    }),
    totals: request({
      summary: 'Shows inflow and outflow in a window: of all addresses, of each role and of each address.',
      details: `${details} The window ends with the newest indexed block.`,
      examples: ['millrace revenue totals --window 3600 --key $KEY'],
      endpoint: async () => (await import('./routes/revenue-totals.ts')).revenueTotals,
      flags: {
        window: { value: 'SECONDS', meaning: 'seconds of the window, from 60 to 31536000; default: 86400' }
      },
      columns: `of ${SUMS}`,
      lines: ({ totals, by_role, by_address }) => [
        { of: 'all addresses', ...(totals as Row) },
        ...rowsOf(by_role).map((row) => ({ of: `role ${String(row.role)}`, ...row })),
        ...rowsOf(by_address).map((row) => ({ of: row.label, ...row }))
      ]
    }),
    events: request({
      summary: 'Lists the newest rows of the ledger.',
      examples: [
        'millrace revenue events --limit 100 --key $KEY',
        'millrace revenue events --from 2026-07-01 --to 2026-08-01 --kind fee --role treasury --key $KEY'
      ],
      endpoint: async () => (await import('./routes/revenue-events.ts')).revenueEvents,
      flags: {
        from: { value: 'TIME', meaning: 'only rows at or after this time: unix seconds, or ISO 8601' },
        to: { value: 'TIME', meaning: 'only rows before this time' },
        address: { value: 'ADDRESS', meaning: 'only rows of this watched address' },
        role: { value: 'ROLE', meaning: 'only rows of the addresses with this role' },
        mint: { value: 'MINT', meaning: 'only rows of this mint' },
        kind: { value: 'KIND', meaning: 'only rows of this kind, such as swap or fee' },
        limit: { value: 'COUNT', fallback: '20', meaning: 'number of rows, at most 1000; default: 20' }
      },
      columns: 'ts label kind delta symbol value_usd counterparty signature',
      lines: ({ symbol, mint, value_usd: usd, ...row }) => ({
        ...row,
        symbol: symbol ?? mint,
        // In millionths, like the sums.
        value_usd: typeof usd === 'number' ? Number(usd.toFixed(6)) : usd
      })
    }),
    coverage: request({
      summary: 'Shows since when each address is recorded, and the gaps since then.',
      examples: ['millrace revenue coverage --key $KEY'],
      endpoint: async () => (await import('./routes/revenue-coverage.ts')).revenueCoverage,
      list: 'addresses',
      columns: 'address label status live_from gaps complete',
      lines: ({ live_from, gaps, gaps_left_out, ...row }) => ({
        ...row,
        live_from: (live_from as Row | null)?.ts,
        gaps: rowsOf(gaps).length + Number(gaps_left_out)
      })
    })
  }
}

const rowsOf = (list: unknown): readonly Row[] => (list ?? []) as readonly Row[]

export const REVENUE_COMMANDS: Commands = { revenue: REVENUE }
