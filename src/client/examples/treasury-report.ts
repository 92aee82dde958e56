import { createMillrace, type LedgerRow } from 'millrace/client'

/** Writes the ledger of the watched addresses as CSV, oldest first, and the sums by mint to standard error. */

const [from, to] = process.argv.slice(2)
const { MILLRACE_URL = 'http://127.0.0.1:8900', MILLRACE_KEY = '' } = process.env

const millrace = createMillrace({ url: MILLRACE_URL, key: MILLRACE_KEY })

const COLUMNS = [
  ...([
    'ts',
    'label',
    'role',
    'address',
    'kind',
    'direction',
    'symbol',
    'mint',
    'delta',
    'delta_raw'
  ] as const),
  ...(['value_usd', 'attributed_fee_usd', 'counterparty', 'signature', 'slot'] as const)
] satisfies (keyof LedgerRow)[]

// Sums are of raw amounts: a sum of fractions would not be exact.
const sums = new Map<
  string,
  { readonly decimals: number; readonly symbol: string | null; raw: bigint; usd: number }
>()

console.log(COLUMNS.join(','))
for await (const row of millrace.revenue.events({ order: 'asc', limit: 1_000, from, to })) {
  console.log(COLUMNS.map((column) => csv(row[column])).join(','))
  const { mint, decimals, symbol } = row
  const sum = sums.get(mint) ?? { decimals, symbol, raw: 0n, usd: 0 }
  sum.raw += BigInt(row.delta_raw)
  sum.usd += row.value_usd ?? 0
  sums.set(mint, sum)
}

for (const [mint, { raw, decimals, symbol, usd }] of sums)
  console.error(
    `${symbol ?? mint}: ${amountOf(raw, decimals)} (${usd.toFixed(2)} USD where a price is known)`
  )

const { addresses } = await millrace.revenue.coverage()
for (const { label, gaps, holes } of addresses)
  if (gaps.length + holes.length > 0) console.error(`rows of ${label} are missing: see revenue.coverage`)

/** Returns a field of CSV. A text that a spreadsheet would run as a formula gets a quote in front. */
function csv(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value)
  const safe =
    typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function amountOf(raw: bigint, decimals: number): string {
  const digits = String(raw < 0n ? -raw : raw).padStart(decimals + 1, '0')
  const cut = digits.length - decimals
  return `${raw < 0n ? '-' : ''}${digits.slice(0, cut)}${decimals > 0 ? `.${digits.slice(cut)}` : ''}`
}
