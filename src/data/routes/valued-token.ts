import type { MintFacts } from '../../accounts/mint-facts.ts'
import type { AccountServices } from '../../accounts/services.ts'
import type { KnownFacts } from './known-mint.ts'
import { knownReserves, type ValuedPools } from './pool-reserves.ts'
import type { Storage } from '../../../storage/port.ts'
import { distinctPubkeys, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { newestPair } from '../../market/latest-price.ts'
import type { PoolRow, TokenRow } from '../../market/registry-rows.ts'
import type { LaunchRow, PairRow } from '../../market/rows.ts'
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
 * Reads a token's launch, curve and newest pair. `token` is its live row, which counts its live pools. Values the token at the supply that its account states, if that supply
 * is known; the account of wrapped SOL states none. Pools whose trades state no reserves count only if their accounts
 * are cached. Rejects with the store's error.
 */
export async function readPricedToken(
  { launches, curves, pools, pairs }: PricedStores,
  mint: Pubkey,
  token: TokenRow | null,
  { facts, slot }: Pick<KnownFacts, 'facts' | 'slot'>,
  accounts: Pick<AccountServices, 'pools'> | null
): Promise<PricedToken> {
  const [launch, curve, paired] = await Promise.all([
    launches.get(mint),
    curves.get(mint),
    pairs.ofMint(mint)
  ])
  const listed = await poolsOf(pools, mint, token, namedPools(launch, paired))
  const pair = newestPair(paired)
  const minted = facts === null || samePubkey(mint, NATIVE_MINT) ? null : { ...suppliedBy(facts), slot }
  const isWhole = listed.length <= VALUED_POOLS_MAX
  const { pools: valued, ...liquidity } = await knownReserves(isWhole ? accounts : null, listed)
  const value = tokenValue({ launch, minted, curve, pools: valued, pair })
  return { launch, curve, pair, pools: listed, value, liquidity }
}

/** Returns the pools of a token's launch and newest prices: most tokens have no other. */
function namedPools(launch: LaunchRow | null, pairs: readonly PairRow[]): Pubkey[] {
  const named = pairs.flatMap(({ last }) => (last === null ? [] : [last.pool]))
  return distinctPubkeys(launch === null ? named : [launch.curve, ...named])
}

/**
 * Reads the pools of a token, the newest first. A token counts its pools: if those that are named are as many, the list is
 * not searched. One pool more than are valued shows that there are too many.
 */
async function poolsOf(
  pools: Pick<Storage['pools'], 'get' | 'ofMint'>,
  mint: Pubkey,
  token: TokenRow | null,
  named: readonly Pubkey[]
): Promise<PoolRow[]> {
  if (token !== null && token.pools > 0 && token.pools <= named.length) {
    const read = await Promise.all(named.map((pool) => pools.get(pool)))
    const listed = read.filter((pool) => pool !== null && isListedUnder(pool, mint)) as PoolRow[]
    if (listed.length === token.pools) return listed.sort((a, b) => b.firstCursor - a.firstCursor)
  }
  return pools.ofMint(mint, { order: 'desc', limit: VALUED_POOLS_MAX + 1 })
}

/** Tells whether a pool is listed under a mint, as `PoolStore.ofMint` lists it. */
const isListedUnder = ({ base, quote, quoteListed }: PoolRow, mint: Pubkey): boolean =>
  samePubkey(base, mint) || (quoteListed && samePubkey(quote, mint))

const suppliedBy = ({ account: { supply, decimals } }: MintFacts) => ({ supply, decimals })
