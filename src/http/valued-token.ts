import type { Storage } from '../../storage/port.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { newestPair } from '../market/latest-price.ts'
import type { PoolRow } from '../market/registry-rows.ts'
import type { LaunchRow } from '../market/rows.ts'
import { tokenValue, VALUED_POOLS_MAX, type TokenValue, type ValuedToken } from '../market/token-value.ts'

/** A token at its latest price. */
export interface PricedToken extends Pick<ValuedToken, 'curve' | 'pair'> {
  readonly launch: LaunchRow | null
  readonly value: TokenValue
  /** Its pools, the newest first: `VALUED_POOLS_MAX` and one more at most. */
  readonly pools: readonly PoolRow[]
}

/** Reads a token's launch, curve and newest pair, and values it. Rejects with the store's error. */
export async function readPricedToken(
  { launches, curves, pools, pairs }: Pick<Storage, 'launches' | 'curves' | 'pools' | 'pairs'>,
  mint: Pubkey
): Promise<PricedToken> {
  const [launch, curve, listed, paired] = await Promise.all([
    launches.get(mint),
    curves.get(mint),
    // One more than are valued shows that there are too many.
    pools.ofMint(mint, { order: 'desc', limit: VALUED_POOLS_MAX + 1 }),
    pairs.ofMint(mint)
  ])
  const pair = newestPair(paired)
  return { launch, curve, pair, pools: listed, value: tokenValue({ launch, curve, pools: listed, pair }) }
}
