import type { Invocation } from './command.ts'
import {
  carryOut,
  printOne,
  wholeNumber,
  type Printed,
  type Row,
  type ServiceOptions
} from './service-command.ts'
import { tableOf } from './table.ts'

const ACCOUNTS = '/v1/revenue/accounts'
const SUMS = [
  'inflow_usd',
  'outflow_usd',
  'net_usd',
  'inflow_sol',
  'outflow_sol',
  'net_sol',
  'events'
] as const
const ACCOUNT_COLUMNS = ['address', 'label', 'role', 'status', ...SUMS, 'last_event_at'] as const
const TOTAL_COLUMNS = ['of', ...SUMS] as const
const EVENT_COLUMNS = [
  'ts',
  'label',
  'kind',
  'delta',
  'symbol',
  'value_usd',
  'counterparty',
  'signature'
] as const
const COVERAGE_COLUMNS = ['address', 'label', 'status', 'live_from', 'gaps', 'complete'] as const
/** Rows of the ledger shown by default. Arbitrary; they fit on one screen. */
const EVENTS_SHOWN = 20

interface WatchOptions extends ServiceOptions {
  readonly label?: string | undefined
  readonly role?: string | undefined
}

/** Watches an address, or replaces its label and role. */
export function watchAddress(invocation: Invocation<WatchOptions>): Promise<number> {
  const {
    operands: [address],
    options: { label, role }
  } = invocation
  const body = { address, ...(label !== undefined && { label }), ...(role !== undefined && { role }) }
  return carryOut('revenue', invocation, { method: 'POST', path: ACCOUNTS, body }, printOne)
}

/** Stops watching an address. */
export function unwatchAddress(invocation: Invocation<ServiceOptions>): Promise<number> {
  const [address = ''] = invocation.operands
  const path = `${ACCOUNTS}/${encodeURIComponent(address)}`
  return carryOut('revenue', invocation, { method: 'DELETE', path }, printOne)
}

/** Lists the watched addresses of the key's tenant. */
export function listAccounts(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('revenue', invocation, { method: 'GET', path: ACCOUNTS }, ({ data }) => {
    const rows = rowsOf(data)
    return { rows, table: tableOf(ACCOUNT_COLUMNS, rows) }
  })
}

interface TotalsOptions extends ServiceOptions {
  readonly window?: string | undefined
}

/** Shows the sums of a window. */
export async function showTotals(invocation: Invocation<TotalsOptions>): Promise<number> {
  const { window } = invocation.options
  const query = window === undefined ? '' : `?window=${wholeNumber('--window', window)}`
  return carryOut('revenue', invocation, { method: 'GET', path: `/v1/revenue/totals${query}` }, printTotals)
}

interface EventsOptions extends ServiceOptions {
  readonly limit?: string | undefined
}

/** Lists the newest rows of the ledger. */
export async function listEvents(invocation: Invocation<EventsOptions>): Promise<number> {
  const limit = wholeNumber('--limit', invocation.options.limit ?? String(EVENTS_SHOWN))
  return carryOut(
    'revenue',
    invocation,
    { method: 'GET', path: `/v1/revenue/events?limit=${limit}` },
    ({ data }) => {
      const rows = rowsOf(data)
      const named = rows.map((row) => ({
        ...row,
        symbol: row.symbol ?? row.mint,
        // In millionths, like the sums.
        value_usd: typeof row.value_usd === 'number' ? Number(row.value_usd.toFixed(6)) : row.value_usd
      }))
      return { rows, table: tableOf(EVENT_COLUMNS, named) }
    }
  )
}

/** Shows the coverage of the ledgers. */
export function showCoverage(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('revenue', invocation, { method: 'GET', path: '/v1/revenue/coverage' }, (body) => {
    const rows = rowsOf(body.addresses)
    const brief = rows.map((row) => ({
      ...row,
      live_from: (row.live_from as Row | null)?.ts,
      gaps: rowsOf(row.gaps).length + Number(row.gaps_left_out)
    }))
    return { rows, table: tableOf(COVERAGE_COLUMNS, brief) }
  })
}

/** Prints a line for all addresses, for each role, and for each address. */
function printTotals(body: Row): Printed {
  const lines = [
    { of: 'all addresses', ...(body.totals as Row) },
    ...rowsOf(body.by_role).map((row) => ({ of: `role ${String(row.role)}`, ...row })),
    ...rowsOf(body.by_address).map((row) => ({ of: row.label, ...row }))
  ]
  return { rows: [body], table: tableOf(TOTAL_COLUMNS, lines) }
}

const rowsOf = (list: unknown): readonly Row[] => (list ?? []) as readonly Row[]
