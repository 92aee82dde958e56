import { samePubkey, type Pubkey } from '../chain/pubkey.ts'
import { humanAmount } from './amount.ts'
import { curveCourse, forSaleOf } from './curve-course.ts'
import { isLaunchpad } from './curves.ts'
import { priceUsd } from './cash-price.ts'
import { type PricedPair } from './latest-price.ts'
import type { CurveRow, PoolRow } from './registry-rows.ts'
import type { LaunchRow } from './rows.ts'

/** Maximum number of pools for which liquidity is computed: reading more would exceed an answer's deadline. */
export const VALUED_POOLS_MAX = 100

/** The supply of a mint as its account states it. */
export interface MintedSupply {
  /** Base units. */
  readonly supply: bigint
  readonly decimals: number
  readonly slot: number
}

/** Inputs for valuing a token. */
export interface ValuedToken {
  readonly launch: Pick<LaunchRow, 'supply' | 'decimals'> | null
  /** Null while its account has not been read. */
  readonly minted: MintedSupply | null
  readonly curve: CurveRow | null
  /** Its pools, up to `VALUED_POOLS_MAX` and one more. */
  readonly pools: readonly PoolRow[]
  /** The pair with its newest price; null if no trade formed a price. */
  readonly pair: PricedPair | null
}

/** Amounts and values of a token, each null if unknown. */
export interface TokenValue {
  /** Supply in base units from the mint's account. If that was not read, from the launch, without later mints and burns. */
  readonly supplyRaw: bigint | null
  /** The supply in human units. */
  readonly supply: number | null
  /** The slot of the account; null if the supply is that of the launch, or unknown. */
  readonly supplySlot: number | null
  /** In human units, without the tokens that a bonding curve still holds. */
  readonly circulating: number | null
  /** Circulating supply × price. */
  readonly marketCapUsd: number | null
  /** Supply × price. */
  readonly fdvUsd: number | null
  /** Sum over its pools whose trades state their reserves. */
  readonly liquidityUsd: number | null
  /** Number of its pools whose liquidity is unknown, which the sum lacks; 0 if the sum is null. */
  readonly unvaluedPools: number
}

/** Values a token at its latest price. */
export function tokenValue({ launch, minted, curve, pools, pair }: ValuedToken): TokenValue {
  const decimals = minted?.decimals ?? launch?.decimals ?? curve?.decimals ?? null
  const launched = launch?.supply ?? null
  const supplyRaw = minted?.supply ?? launched
  const human = (raw: bigint | null): number | null =>
    raw === null || decimals === null ? null : humanAmount(raw, decimals)
  const supply = human(supplyRaw)
  // An unknown curve may hold tokens, except for a mint without a launch.
  const isFree = curve === null && launch === null
  const isKnown = supply !== null && (curve !== null || isFree)
  const circulating = !isKnown ? null : isFree ? supply : human(circulatingOf(supplyRaw, launched, curve!))
  const usd = pair === null ? null : priceUsd(pair.last)
  const counted = pools.filter((pool) => !isEnded(pool, curve)).map((pool) => poolLiquidityUsd(pool, curve))
  const values = counted.filter((value) => value !== null)
  const isWhole = pools.length <= VALUED_POOLS_MAX && values.length > 0
  return {
    supplyRaw,
    supply,
    supplySlot: minted?.slot ?? null,
    circulating,
    marketCapUsd: circulating === null || usd === null ? null : circulating * usd,
    fdvUsd: supply === null || usd === null ? null : supply * usd,
    liquidityUsd: isWhole ? values.reduce((sum, value) => sum + value, 0) : null,
    unvaluedPools: isWhole ? counted.length - values.length : 0
  }
}

/**
 * Returns the base units outside the curve: the sold tokens, less those burned since the launch. Once the curve's
 * funds went to a pool, all tokens.
 */
function circulatingOf(
  supply: bigint | null,
  launched: bigint | null,
  { platform, status, reserves, forSale }: CurveRow
): bigint | null {
  if (status === 'graduated') return supply
  const sold = curveCourse(reserves, forSaleOf(platform, forSale, reserves))?.sold ?? null
  if (sold === null || supply === null || launched === null) return sold
  const left = sold + supply - launched
  return left < 0n ? null : left
}

/** Returns whether a pool is a bonding curve that is known to be no longer open, so that its cash does not count. */
function isEnded({ venue, pool }: PoolRow, curve: CurveRow | null): boolean {
  return isLaunchpad(venue) && curve !== null && !isOpenCurve(pool, curve)
}

const isOpenCurve = (pool: Pubkey, curve: CurveRow | null): boolean =>
  curve?.status === 'bonding' && samePubkey(curve.curve, pool)

/**
 * Returns the USD value of both sides of a pool at its latest price. For a bonding curve only its cash counts,
 * because only the cash can be withdrawn; null once the curve has ended. Also null if the newest trade does not state
 * the reserves, or if neither side is cash with a price. `curve` is that of the pool's token.
 */
export function poolLiquidityUsd(pool: PoolRow, curve: CurveRow | null): number | null {
  const { reserves, lastPrice, baseDecimals, quoteDecimals } = pool
  if (reserves === null || lastPrice?.price == null || lastPrice.cashUsd === null) return null
  if (baseDecimals === null || quoteDecimals === null) return null
  const quote = humanAmount(reserves.quote, quoteDecimals)
  if (!isLaunchpad(pool.venue))
    return (humanAmount(reserves.base, baseDecimals) * lastPrice.price + quote) * lastPrice.cashUsd
  return isOpenCurve(pool.pool, curve) ? quote * lastPrice.cashUsd : null
}
