import type { z } from 'zod'
import { BadUsage, type Invocation, type Row } from '../../kernel/cli/command.ts'
import { serviceOf, withRefusals } from '../../kernel/cli/service-command.ts'
import { isSystemError } from '../../kernel/cli/system-error.ts'
import type { Endpoint } from '../../kernel/http/endpoint.ts'
import { systemPorts } from '../../ports.ts'
import { revenueEvents } from '../../revenue/routes/revenue-events.ts'
import { allCandles } from '../routes/all-candles.ts'
import { allTrades } from '../routes/all-trades.ts'
import { candles } from '../routes/candles.ts'
import { launches } from '../routes/launches.ts'
import { poolCandles, poolTrades } from '../routes/pool.ts'
import { tokenTrades } from '../routes/trades.ts'
import { walletTrades } from '../routes/wallet-trades.ts'
import {
  FILE_FORMATS,
  openExportFile,
  refuseExisting,
  type ExportFile,
  type FileFormat
} from './export-file.ts'
import {
  afterCursor,
  afterPairCandle,
  afterTokenCursor,
  exportedRows,
  fromNextSecond,
  type Continuation,
  type ExportedRow,
  type NextPlace
} from './exported-rows.ts'

/** Milliseconds between two lines of progress. */
const PROGRESS_MS = 1_000

interface ExportOptions {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly format?: string | undefined
  readonly output?: string | undefined
  readonly url?: string | undefined
}
type OptionTexts = Readonly<Record<string, string | undefined>>
type ExportCommand = Invocation<ExportOptions & { readonly [option: string]: unknown }>

/** A list to export: its endpoint, the value of its path's parameter, and the other parameters. */
interface ExportList {
  readonly endpoint: Endpoint
  readonly place: string
  readonly query: OptionTexts
  readonly continuation: Continuation
}

/** Writes trades to a file. Resolves with the exit code. */
export function exportTrades(invocation: ExportCommand): Promise<number> {
  const { mint, pool, wallet, venue, side, 'min-usd': min_usd, after } = invocation.options as OptionTexts
  const lists = [
    [tokenTrades, mint],
    [poolTrades, pool],
    [walletTrades, wallet]
  ] as const
  const filters = { venue, side, min_usd, after }
  if (lists.every(([, place]) => place === undefined))
    return exportList(invocation, {
      endpoint: allTrades,
      place: '',
      query: filters,
      continuation: afterTokenCursor
    })
  const list = onlyOf(lists, '--mint, --pool and --wallet')
  return exportList(invocation, { ...list, query: { ...filters, order: 'asc' }, continuation: afterCursor })
}

/** Writes candles to a file. Resolves with the exit code. */
export function exportCandles(invocation: ExportCommand): Promise<number> {
  const { mint, pool, cash, interval, currency, after } = invocation.options as OptionTexts
  if (pool !== undefined && cash !== undefined) throw new BadUsage('--cash is for the candles of a token')
  const lists = [
    [candles, mint],
    [poolCandles, pool]
  ] as const
  if (mint === undefined && pool === undefined) {
    if (cash !== undefined) throw new BadUsage('--cash is for the candles of a token')
    return exportList(invocation, {
      endpoint: allCandles,
      place: '',
      query: { interval, currency, after },
      continuation: afterPairCandle
    })
  }
  if (after !== undefined) throw new BadUsage('--after is for the candles of all tokens; give --from instead')
  return exportList(invocation, {
    ...onlyOf(lists, '--mint and --pool'),
    query: { cash, interval, currency },
    continuation: fromNextSecond
  })
}

/** Writes rows of the ledger to a file. Resolves with the exit code. */
export function exportLedger(invocation: ExportCommand): Promise<number> {
  const { wallet: address, role, mint, kind, after } = invocation.options as OptionTexts
  const query = { address, role, mint, kind, after, order: 'asc' }
  return exportList(invocation, { endpoint: revenueEvents, place: '', query, continuation: afterCursor })
}

/** Writes launches to a file. Resolves with the exit code. */
export function exportLaunches(invocation: ExportCommand): Promise<number> {
  const { status, after } = invocation.options as OptionTexts
  const query = { status, after, order: 'asc' }
  return exportList(invocation, { endpoint: launches, place: '', query, continuation: afterCursor })
}

function onlyOf(lists: readonly (readonly [Endpoint, string | undefined])[], names: string) {
  const given = lists.filter(([, place]) => place !== undefined)
  const [only] = given
  if (only === undefined || given.length > 1) throw new BadUsage(`give one of ${names}`)
  return { endpoint: only[0], place: only[1]! }
}

async function exportList(invocation: ExportCommand, list: ExportList): Promise<number> {
  const { options, stderr, interrupted } = invocation
  const { from, to, output } = options
  if (from === undefined || to === undefined)
    throw new BadUsage('give the range of times with --from and --to')
  if (output === undefined) throw new BadUsage('name the file with -o')
  const { endpoint, place, query, continuation } = list
  const format = formatOf(options.format, output)
  const access = serviceOf(endpoint.scope, invocation)
  // Before rows are read, which count.
  await refuseExisting(output)
  const given = Object.entries({ ...query, from, to }).filter(([, value]) => value !== undefined)
  const path = endpoint.path.replace(/\{\w+\}/, encodeURIComponent(place))
  return withRefusals(invocation, async () => {
    const { clock } = systemPorts
    const rows = exportedRows({
      access,
      path,
      query: Object.fromEntries(given) as Readonly<Record<string, string>>,
      continuation,
      signal: interrupted,
      clock,
      retrying: (reason, ms) => stderr(`${reason}; the export continues in ${Math.ceil(ms / 1000)} s`)
    })
    const columns = { columns: endpoint.columns!, row: rowOf(endpoint) }
    let file: ExportFile | null = null
    let last: ExportedRow | null = null
    const startMs = clock.now()
    let toldMs = startMs
    try {
      // The first row is awaited before the file is opened, so that a refusal leaves no file.
      let next = await rows.next()
      file = await openExportFile(output, format, columns)
      for (; next.done !== true; next = await rows.next()) {
        last = next.value
        await file.add(last)
        if (clock.now() - toldMs < PROGRESS_MS) continue
        toldMs = clock.now()
        const rate = Math.round((file.rows * 1_000) / (toldMs - startMs))
        stderr(`${file.rows} rows, ${placeText(endpoint, last.body)}; ${rate} rows/s`)
      }
      await file.finish()
    } catch (error) {
      if (file !== null) {
        await file.stop().catch(() => undefined)
        stderr(
          `millrace: ${partText(file, last === null ? null : { row: last.body, ...continuation(last.body) })}`
        )
      }
      if (!interrupted.aborted && !isSystemError(error)) throw error
      stderr(`millrace: ${interrupted.aborted ? 'interrupted' : `${output}: ${(error as Error).message}`}`)
      return 1
    }
    stderr(`${file.rows} rows in ${output}`)
    return 0
  })
}

/** States how far a list has been read. */
const placeText = (endpoint: Endpoint, { mint, ts }: Row): string =>
  endpoint === allTrades || endpoint === allCandles ? `token ${String(mint)}` : `up to ${String(ts)}`

/** States what an incomplete file has, and how to continue. */
function partText(
  { path, rows }: { readonly path: string; readonly rows: number },
  last: ({ readonly row: Row } & NextPlace) | null
): string {
  if (last === null) return `${path} has the ${rows} rows so far`
  const upTo = last.parameter === 'from' ? `, up to ${String(last.row['ts'])}` : ''
  return `${path} has the ${rows} rows so far${upTo}: continue with --${last.parameter} ${last.value}`
}

function formatOf(given: string | undefined, output: string): FileFormat {
  const text = given ?? FILE_FORMATS.find((format) => output.toLowerCase().endsWith(`.${format}`)) ?? 'csv'
  const format = FILE_FORMATS.find((each) => each === text)
  if (format === undefined) throw new BadUsage(`--format must be ${FILE_FORMATS.join(', ')}, not ${text}`)
  return format
}

/** Returns the schema of a list's rows. */
function rowOf({ answer }: Endpoint): z.ZodObject {
  const { data } = (answer as z.ZodObject).shape
  return (data as z.ZodArray<z.ZodObject>).element
}
