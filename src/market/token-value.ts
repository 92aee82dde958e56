import { samePubkey } from '../chain/pubkey.ts'
import { humanAmount } from './amount.ts'
import { curveCourse } from './curve-course.ts'
import { isLaunchpad } from './curves.ts'
import { priceUsd } from './cash-price.ts'
import { type PricedPair } from './latest-price.ts'
import type { CurveRow, PoolRow } from './registry-rows.ts'
import type { LaunchRow } from './rows.ts'

/** Maximum number of pools for which liquidity is computed: reading more would take longer than an answer may. */
export const VALUED_POOLS_MAX = 100

/** Inputs for valuing a token. */
export interface ValuedToken {
  readonly launch: Pick<LaunchRow, 'supply' | 'decimals'> | null
  readonly curve: CurveRow | null
  /** Its pools, up to `VALUED_POOLS_MAX` and one more. */
  readonly pools: readonly PoolRow[]
  /** The pair with its newest price; null without one. */
  readonly pair: PricedPair | null
}

/** Amounts and values of a token, each null when unknown. */
export interface TokenValue {
  /** Supply in base units as the launch states it; later mints and burns are account state. */
  readonly supplyRaw: bigint | null
  /** The same in human units. */
  readonly supply: number | null
  /** In human units, without the tokens that a bonding curve still holds. */
  readonly circulating: number | null
  /** Circulating supply × price. */
  readonly marketCapUsd: number | null
  /** Supply × price. */
  readonly fdvUsd: number | null
  /** Sum over its pools whose trades state their reserves. */
  readonly liquidityUsd: number | null
}

/** Values a token at its latest price. */
export function tokenValue({ launch, curve, pools, pair }: ValuedToken): TokenValue {
  const decimals = launch?.decimals ?? curve?.decimals ?? null
  const supplyRaw = launch?.supply ?? null
  const human = (raw: bigint | null): number | null =>
    raw === null || decimals === null ? null : humanAmount(raw, decimals)
  const supply = human(supplyRaw)
  const circulating = supply === null || curve === null ? null : human(circulatingOf(supplyRaw, curve))
  const usd = pair === null ? null : priceUsd(pair.last)
  const values = pools.map((pool) => poolLiquidityUsd(pool, curve)).filter((value) => value !== null)
  const isWhole = pools.length <= VALUED_POOLS_MAX && values.length > 0
  return {
    supplyRaw,
    supply,
    circulating,
    marketCapUsd: circulating === null || usd === null ? null : circulating * usd,
    fdvUsd: supply === null || usd === null ? null : supply * usd,
    liquidityUsd: isWhole ? values.reduce((sum, value) => sum + value, 0) : null
  }
}

/** Returns the base units outside the curve: the sold tokens, or all once its funds went to a pool. */
function circulatingOf(supply: bigint | null, { status, reserves }: CurveRow): bigint | null {
  return status === 'graduated' ? supply : (curveCourse(reserves)?.sold ?? null)
}

/**
 * Returns the worth of both sides of a pool at its latest price, in USD. For a bonding curve only its cash counts,
 * because only that can be withdrawn; null once the curve has ended. Null also when the newest trade does not state the
 * reserves, or no side is cash with a price. `curve` is that of the pool's token.
 */
export function poolLiquidityUsd(pool: PoolRow, curve: CurveRow | null): number | null {
  const { reserves, lastPrice, baseDecimals, quoteDecimals } = pool
  if (reserves === null || lastPrice?.price == null || lastPrice.cashUsd === null) return null
  if (baseDecimals === null || quoteDecimals === null) return null
  const quote = humanAmount(reserves.quote, quoteDecimals)
  if (!isLaunchpad(pool.venue))
    return (humanAmount(reserves.base, baseDecimals) * lastPrice.price + quote) * lastPrice.cashUsd
  const isOpen = curve?.status === 'bonding' && samePubkey(curve.curve, pool.pool)
  return isOpen ? quote * lastPrice.cashUsd : null
}
