import type { TotalsRow } from './activity-rows.ts'
import type { MinutePart } from './activity.ts'
import { addTradersForever, NO_TRADERS } from './traders.ts'

const NOTHING: TotalsRow = {
  trades: 0,
  volumeMicroUsd: 0n,
  volumeLamports: 0n,
  tokens: 0,
  launches: 0,
  unpriced: 0,
  traders: NO_TRADERS
}

/**
 * Returns the totals with the minutes of blocks added; null if they change nothing. `tokens` is the number of mints that
 * the blocks are the first to name.
 */
export function addTotals(
  stored: TotalsRow | null,
  minutes: readonly MinutePart[],
  tokens: number
): TotalsRow | null {
  const counted = minutes.filter(({ sums }) => sums.trades > 0 || sums.launches > 0)
  if (counted.length === 0 && tokens === 0) return null
  const before = stored ?? NOTHING
  return counted.reduce(withMinute, { ...before, tokens: before.tokens + tokens })
}

const withMinute = (before: TotalsRow, { sums, traders }: MinutePart): TotalsRow => ({
  trades: before.trades + sums.trades,
  volumeMicroUsd: before.volumeMicroUsd + sums.volumeMicroUsd,
  volumeLamports: before.volumeLamports + sums.volumeCash,
  tokens: before.tokens,
  launches: before.launches + sums.launches,
  ...(before.unpriced !== undefined && { unpriced: before.unpriced + sums.trades - sums.priced }),
  traders: addTradersForever(before.traders, traders)
})
