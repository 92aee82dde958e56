import { pubkeyFromBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { isWrappedSol, USDC, WSOL } from '../../market/cash.ts'
import type { PairRow } from '../../market/rows.ts'
import type { Storage } from '../../../storage/port.ts'

const USD_COIN = pubkeyFromBase58(USDC)
const WRAPPED_SOL = pubkeyFromBase58(WSOL)
/** Maximum weekly candles read: 19 years, more than any retention. */
const WEEKS_MAX = 1000

/** Returns the default cash of a mint: wrapped SOL, or USDC for wrapped SOL itself. */
export function usualCash(mint: Pubkey): Pubkey {
  return isWrappedSol(mint) ? USD_COIN : WRAPPED_SOL
}

/**
 * Returns the pair that is shown without a `cash` parameter: the pair with the default cash, else the pair with the
 * largest volume in USD since the index began. Pairs without a price come last. Null if the mint has no pair. Only
 * trades of the mint change the choice, so answers that depend on the mint stay valid.
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
  // With equal volumes the lower address wins, so that all processes choose one pair.
  const [largest] = choice
    .map((pair, index) => ({ pair, volume: volumes[index]! }))
    .sort((a, b) =>
      a.volume === b.volume ? Buffer.compare(a.pair.cash, b.pair.cash) : a.volume > b.volume ? -1 : 1
    )
  return largest!.pair
}
