import { pubkeyFromBase58, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import { isWrappedSol, USDC, WSOL } from '../market/cash.ts'
import type { PairRow } from '../market/rows.ts'
import type { Storage } from '../../storage/port.ts'

const USD_COIN = pubkeyFromBase58(USDC)
const WRAPPED_SOL = pubkeyFromBase58(WSOL)
/** More weeks than retention keeps: 19 years. */
const WEEKS_MAX = 1000

/** The cash of a mint where none is asked for and nothing else is known: wrapped SOL, and USDC for wrapped SOL itself. */
export function usualCash(mint: Pubkey): Pubkey {
  return isWrappedSol(mint) ? USD_COIN : WRAPPED_SOL
}

/**
 * The pair of a mint that is shown where no cash is asked for: the one with its usual cash, else the one with the largest
 * volume in USD since the index began. Pairs that never formed a price come after those that did. Null where the mint has
 * no pair. Only trades of the mint change it, so an answer that depends on the mint follows it.
 */
export async function defaultPair(
  { pairs, candles }: Pick<Storage, 'pairs' | 'candles'>,
  mint: Pubkey
): Promise<PairRow | null> {
  const all = await pairs.ofMint(mint)
  const priced = all.filter(({ last }) => last !== null)
  const choice = priced.length > 0 ? priced : all
  const usual = choice.find(({ cash }) => samePubkey(cash, usualCash(mint)))
  if (usual !== undefined || choice.length < 2) return usual ?? choice[0] ?? null
  const volumes = await Promise.all(
    choice.map(async ({ cash }) => {
      const range = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: WEEKS_MAX }
      const weeks = await candles.range(mint, cash, '1w', range)
      return weeks.reduce((sum, { volumeMicroUsd }) => sum + volumeMicroUsd, 0n)
    })
  )
  // Of equal volumes the lower address wins, so that every process says the same.
  const [largest] = choice
    .map((pair, index) => ({ pair, volume: volumes[index]! }))
    .sort((a, b) =>
      a.volume === b.volume ? Buffer.compare(a.pair.cash, b.pair.cash) : a.volume > b.volume ? -1 : 1
    )
  return largest!.pair
}
