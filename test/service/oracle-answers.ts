import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import type { IntendedEvent, IntendedTrade } from '../../src/localnet/market/oracle.ts'
import { curveReserves } from '../localnet/market/oracle-comparison.ts'
import type { LandedEvent, OracleChain } from './oracle-chain.ts'
import { differences } from './oracle-differences.ts'
import { foldCandles, type TradedRow } from './oracle-folds.ts'
import type { ServiceProcess } from './service-process.ts'

type Row = Readonly<Record<string, unknown>>
type Landed<Kind extends IntendedEvent['kind']> = LandedEvent & {
  readonly event: Extract<IntendedEvent, { kind: Kind }>
}

/** Number of comparisons by kind, and the differences in words. */
export interface OracleComparison {
  readonly compared: Readonly<Record<string, number>>
  readonly venues: number
  readonly differences: readonly string[]
}

/** Compares all answers of a service about a chain, indexed up to a slot, with the market's own record. */
export async function compareWithOracle(
  service: ServiceProcess,
  chain: OracleChain,
  last: number
): Promise<OracleComparison> {
  const landed = chain.landed(last)
  const of = <Kind extends IntendedEvent['kind']>(kind: Kind): Landed<Kind>[] =>
    landed.filter((each): each is Landed<Kind> => each.event.kind === kind)
  const [trades, launches, graduations] = [of('trade'), of('launch'), of('graduation')]
  const found: string[] = []
  const compared: Record<string, number> = {}
  const hold = (what: string, actual: readonly string[], expected: readonly string[]): void => {
    compared[what] = (compared[what] ?? 0) + expected.length
    found.push(...differences(what, actual, expected))
  }

  const rows = await tradeRows(service, trades)
  hold('trades', [...rows.values()].map(servedTrade), trades.map(meantTrade))
  for (const { mint, cash, traded } of pairsOf([...rows.values()])) {
    for (const [interval, seconds] of INTERVALS) {
      const path = `/v1/tokens/${mint}/candles?raw=1&cash=${cash}&interval=${interval}&limit=1000`
      const served = (await rowsOf(service, path)).map((row) => textOf(row, CANDLE_FIELDS))
      hold(
        'candles',
        served,
        foldCandles(traded, seconds).map((candle) => textOf({ ...candle }, CANDLE_FIELDS))
      )
    }
  }
  const launched = await pages(service, '/v1/launches?limit=500&order=asc')
  const graduated = new Map(graduations.map((each) => [encodeBase58(each.event.mint), each]))
  const traded = new Set(
    trades.flatMap(({ event }) => [event.inMint, event.outMint].map((key) => encodeBase58(key)))
  )
  hold(
    'launches',
    launched.map((row) =>
      textOf(row, ['signature', 'venue', 'mint', 'creator', 'name', 'symbol', 'uri', 'status'])
    ),
    launches.map(({ signature, event: { venue, mint, creator, name, symbol, uri } }) => {
      const key = encodeBase58(mint)
      const status = graduated.has(key) ? 'graduated' : traded.has(key) ? 'trading' : 'created'
      return [signature, venue, key, encodeBase58(creator), name, symbol, uri, status].join(' ')
    })
  )
  const completed = new Set(
    trades.flatMap(({ event }) => (event.completes ? [encodeBase58(event.pool)] : []))
  )
  for (const { event } of launches) {
    const mint = encodeBase58(event.mint)
    const { body } = await service.get(`/v1/tokens/${mint}/bonding-curve`)
    const end = graduated.get(mint)
    const isSold = completed.has(encodeBase58(event.curve)) && event.venue !== 'moonshot'
    const status = end !== undefined ? 'graduated' : isSold ? 'graduating' : 'bonding'
    const curve = encodeBase58(event.curve)
    const { graduated_signature, graduated_slot, pool } = body['graduation'] as Readonly<
      Record<'graduated_signature' | 'graduated_slot' | 'pool', string | number | null>
    >
    hold(
      'curves',
      [[body['curve'], body['platform'], body['status'], graduated_signature, graduated_slot].join(' ')],
      [[curve, event.venue, status, end?.signature, end?.slot].join(' ')]
    )
    if (end !== undefined && pool !== null)
      hold('pools of graduations', [String(pool)], [encodeBase58(end.event.destination)])
    const account = chain.bank.account(pubkeyFromBase58(curve))
    const shown = account === null || end !== undefined ? null : curveReserves(event.venue, account.data)
    if (shown === null) continue
    const { real_token_raw: token, real_cash_raw: cash } = body['reserves'] as Row
    const stated = { token: token === null ? null : shown.base, cash: cash === null ? null : shown.quote }
    hold(
      'reserves of curves',
      [textOf({ mint, token, cash }, RESERVES)],
      [textOf({ mint, ...stated }, RESERVES)]
    )
  }
  const coverage = await service.get('/v1/admin/coverage')
  hold(
    'gaps',
    (coverage.body['gaps'] as unknown[]).map((gap) => JSON.stringify(gap)),
    []
  )
  hold('ranges', [String((coverage.body['ranges'] as unknown[]).length)], ['1'])
  return { compared, venues: new Set(trades.map(({ event }) => event.venue)).size, differences: found }
}

const RESERVES = ['mint', 'token', 'cash']
const INTERVALS = [
  ['1m', 60],
  ['1h', 3_600]
] as const
const CANDLE_FIELDS = [
  'ts_ms',
  'open',
  'high',
  'low',
  'close',
  'volume_token',
  'volume_cash',
  'trades',
  'buys',
  'sells'
]

/** Returns every row of every mint once, in cursor order. */
async function tradeRows(
  service: ServiceProcess,
  trades: readonly Landed<'trade'>[]
): Promise<Map<string, Row>> {
  const mints = new Set(
    trades.flatMap(({ event }) => [event.inMint, event.outMint].map((key) => encodeBase58(key)))
  )
  const rows = new Map<string, Row>()
  for (const mint of mints) {
    for (const row of await pages(service, `/v1/tokens/${mint}/trades?limit=1000&order=asc`)) {
      // A trade of two tokens is listed under both.
      rows.set(
        `${row['signature'] as string} ${String(row['ix_index'])} ${String(row['inner_ix_index'])}`,
        row
      )
    }
  }
  return new Map([...rows].sort(([, a], [, b]) => Number(a['cursor']) - Number(b['cursor'])))
}

const servedTrade = (row: Row): string =>
  textOf(row, [
    ...['slot', 'block_time', 'signature', 'venue', 'pool', 'user', 'in_mint', 'out_mint'],
    ...['trader_in_raw', 'trader_out_raw']
  ])

const meantTrade = ({ slot, blockTime, signature, event }: Landed<'trade'>): string => {
  const { venue, pool, user, inMint, outMint, amountIn, amountOut }: IntendedTrade = event
  const keys = [pool, user, inMint, outMint].map((key) => encodeBase58(key))
  return [slot, blockTime, signature, venue, ...keys, amountIn, amountOut].join(' ')
}

function pairsOf(rows: readonly Row[]) {
  const pairs = new Map<
    string,
    { readonly mint: string; readonly cash: string; readonly traded: TradedRow[] }
  >()
  for (const row of rows) {
    const { mint, cash_mint: cash } = row as { mint: string; cash_mint: string | null }
    if (cash === null) continue
    const pair = pairs.get(`${mint} ${cash}`) ?? { mint, cash, traded: [] }
    pairs.set(`${mint} ${cash}`, pair)
    pair.traded.push(row as unknown as TradedRow)
  }
  return pairs.values()
}

const textOf = (row: Row, fields: readonly string[]): string =>
  fields.map((field) => String(row[field])).join(' ')

async function rowsOf(service: ServiceProcess, path: string): Promise<readonly Row[]> {
  const { status, body } = await service.get(path)
  if (status !== 200) throw new Error(`${path} is answered with ${status}`)
  return body.data
}

async function pages(service: ServiceProcess, path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = ''; ;) {
    const { status, body } = await service.get(path + after)
    if (status !== 200) throw new Error(`${path} is answered with ${status}`)
    rows.push(...body.data)
    if (typeof body['nextCursor'] !== 'string') return rows
    after = `&after=${body['nextCursor']}`
  }
}
