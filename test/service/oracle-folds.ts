/** A trade of a pair with the fields that candles follow from. */
export interface TradedRow {
  readonly block_time: number
  readonly is_buy: 0 | 1
  readonly decimals: number
  readonly cash_mint: string
  readonly token_amount_raw: string
  readonly cash_amount_raw: string
}

export interface FoldedCandle {
  readonly ts_ms: number
  readonly open: number
  high: number
  low: number
  close: number
  volume_token: number
  volume_cash: number
  trades: number
  buys: number
  sells: number
}

const WSOL = 'So11111111111111111111111111111111111111112'

/**
 * Returns the candles of all rows of a pair, given in cursor order, computed by the simplest code. A price is cash by token
 * in human units, the double nearest to the quotient. Rows in which no token moved have no price; a bucket without a price
 * has no candle.
 */
export function foldCandles(rows: readonly TradedRow[], seconds: number): FoldedCandle[] {
  const buckets = new Map<number, TradedRow[]>()
  for (const row of rows) {
    const start = row.block_time - (row.block_time % seconds)
    buckets.set(start, [...(buckets.get(start) ?? []), row])
  }
  return [...buckets].flatMap(([start, own]): FoldedCandle[] => {
    const prices = own.map(priceOf).filter((price) => price !== null)
    if (prices.length === 0) return []
    const buys = own.filter(({ is_buy }) => is_buy === 1).length
    const total = (field: 'token_amount_raw' | 'cash_amount_raw'): bigint =>
      own.reduce((sum, row) => sum + BigInt(row[field]), 0n)
    return [
      {
        ts_ms: start * 1_000,
        open: prices[0]!,
        high: Math.max(...prices),
        low: Math.min(...prices),
        close: prices.at(-1)!,
        volume_token: human(total('token_amount_raw'), own[0]!.decimals),
        volume_cash: human(total('cash_amount_raw'), cashDecimals(own[0]!)),
        trades: own.length,
        buys,
        sells: own.length - buys
      }
    ]
  })
}

const cashDecimals = ({ cash_mint }: TradedRow): number => (cash_mint === WSOL ? 9 : 6)

function priceOf(row: TradedRow): number | null {
  const [token, cash] = [BigInt(row.token_amount_raw), BigInt(row.cash_amount_raw)]
  if (token === 0n) return null
  return quotient(cash * 10n ** BigInt(row.decimals), token * 10n ** BigInt(cashDecimals(row)))
}

/** Returns the double nearest to a quotient; thirty decimal digits of it are enough. */
function quotient(a: bigint, b: bigint): number {
  const scale = 30 + Math.max(0, b.toString().length - a.toString().length)
  return Number(`${(a * 10n ** BigInt(scale)) / b}e-${scale}`)
}

function human(raw: bigint, decimals: number): number {
  return Number(`${raw}e-${decimals}`)
}
