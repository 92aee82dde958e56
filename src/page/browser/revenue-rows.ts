import type { RevenueRows } from './answers.ts'

export type LedgerRow = RevenueRows['data'][number]

interface PartFlow {
  readonly name: string
  readonly inflow: number
  readonly outflow: number
}

/** Flows of a day in USD, whole and by part. */
export interface DayFlow extends Omit<PartFlow, 'name'> {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string
  readonly parts: readonly PartFlow[]
}

/** Adds up rows by day, ascending, and within a day by part. Rows without a price are left out. */
export function flowsByDay(rows: readonly LedgerRow[], partOf: (row: LedgerRow) => string): DayFlow[] {
  const days = new Map<string, Map<string, PartFlow>>()
  for (const row of rows) {
    const { value_usd: value } = row
    if (value === null) continue
    const day = row.ts.slice(0, 10)
    const parts = days.get(day) ?? new Map<string, PartFlow>()
    days.set(day, parts)
    const name = partOf(row)
    const before = parts.get(name) ?? { name, inflow: 0, outflow: 0 }
    parts.set(name, {
      name,
      inflow: before.inflow + Math.max(0, value),
      outflow: before.outflow + Math.max(0, -value)
    })
  }
  return [...days]
    .map(([day, parts]) => {
      const all = [...parts.values()]
      const sum = (side: 'inflow' | 'outflow'): number => all.reduce((total, part) => total + part[side], 0)
      return { day, parts: all, inflow: sum('inflow'), outflow: sum('outflow') }
    })
    .sort((a, b) => (a.day < b.day ? -1 : 1))
}

const COLUMNS = [
  'ts',
  'slot',
  'signature',
  'address',
  'label',
  'role',
  'account',
  'kind',
  'direction',
  'mint',
  'symbol',
  'decimals',
  'delta_raw',
  'delta',
  'value_usd',
  'fee_lamports',
  'attributed_fee_usd',
  'counterparty',
  'counterparty_confidence'
] as const satisfies readonly (keyof LedgerRow)[]

/** Renders rows as CSV (RFC 4180) with the names of the API's fields. */
export function csvOf(rows: readonly LedgerRow[]): string {
  const lines = rows.map((row) => COLUMNS.map((name) => csvField(row[name])).join(','))
  return [COLUMNS.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

/** Quotes a text, and keeps a spreadsheet from running it: labels and symbols are chosen by strangers. */
function csvField(value: string | number | boolean | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) && !/^-?\d+$/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
