import type { MintFacts } from '../../accounts/mint-facts.ts'
import type { AccountServices } from '../../accounts/services.ts'
import type { KnownFacts } from './known-mint.ts'
import { knownReserves, type ValuedPools } from './pool-reserves.ts'
import type { Storage } from '../../../storage/port.ts'
import { samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { newestPair } from '../../market/latest-price.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import type { LaunchRow } from '../../market/rows.ts'
import { tokenValue, VALUED_POOLS_MAX, type TokenValue, type ValuedToken } from '../../market/token-value.ts'

/** A token at its latest price. */
export interface PricedToken extends Pick<ValuedToken, 'curve' | 'pair'> {
  readonly launch: LaunchRow | null
  readonly value: TokenValue
  /** Its pools, the newest first: at most `VALUED_POOLS_MAX` and one more. */
  readonly pools: readonly PoolRow[]
  /** The account reading that determines its liquidity. */
  readonly liquidity: Omit<ValuedPools, 'pools'>
}

/**
 * Stores of a token's facts and prices. The pools are live: the reserves of archived pools are unknown, so archived pools
 * have no liquidity.
 */
export interface PricedStores extends Pick<Storage, 'curves' | 'pools' | 'pairs'> {
  readonly launches: Pick<Storage['launches'], 'get'>
}

/**
 * Reads a token's launch, curve and newest pair. Values the token at the supply that its account states, if that supply
 * is known; the account of wrapped SOL states none. Pools whose trades state no reserves count only if their accounts
 * are cached. Rejects with the store's error.
 */
export async function readPricedToken(
  { launches, curves, pools, pairs }: PricedStores,
  mint: Pubkey,
  { facts, slot }: Pick<KnownFacts, 'facts' | 'slot'>,
  accounts: Pick<AccountServices, 'pools'> | null
): Promise<PricedToken> {
  const [launch, curve, listed, paired] = await Promise.all([
    launches.get(mint),
    curves.get(mint),
    // One pool more than are valued shows that there are too many.
    pools.ofMint(mint, { order: 'desc', limit: VALUED_POOLS_MAX + 1 }),
    pairs.ofMint(mint)
  ])
  const pair = newestPair(paired)
  const minted = facts === null || samePubkey(mint, NATIVE_MINT) ? null : { ...suppliedBy(facts), slot }
  const isWhole = listed.length <= VALUED_POOLS_MAX
  const { pools: valued, ...liquidity } = knownReserves(isWhole ? accounts : null, listed)
  const value = tokenValue({ launch, minted, curve, pools: valued, pair })
  return { launch, curve, pair, pools: listed, value, liquidity }
}

const suppliedBy = ({ account: { supply, decimals } }: MintFacts) => ({ supply, decimals })
