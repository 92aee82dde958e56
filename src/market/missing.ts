import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { ActivityHour, ActivityOf } from './activity-rows.ts'
import type { CurveRow, PoolRow, TokenRow } from './registry-rows.ts'
import type { Candle, Interval, LaunchRow, PairRow } from './rows.ts'
import { pairKey } from './pairs.ts'
import type { PairAddress, Touched } from './touched.ts'

/** What the store must be asked for before a block can be folded. */
export interface Missing {
  readonly pairs: readonly PairAddress[]
  readonly candles: readonly CandleAddress[]
  readonly launches: readonly Pubkey[]
  readonly tokens: readonly Pubkey[]
  readonly pools: readonly Pubkey[]
  readonly curves: readonly Pubkey[]
  readonly hours: readonly HourAddress[]
}

export interface CandleAddress extends PairAddress {
  readonly interval: Interval
  readonly ts: number
}

export interface HourAddress {
  readonly of: ActivityOf
  readonly owner: Pubkey
  readonly hour: number
}

/** The store's answers, null where it has none. */
export interface Loaded {
  readonly pairs: readonly (PairAddress & { readonly row: PairRow | null })[]
  readonly candles: readonly (CandleAddress & { readonly candle: Candle | null })[]
  readonly launches: readonly { readonly mint: Pubkey; readonly launch: LaunchRow | null }[]
  readonly tokens: readonly { readonly mint: Pubkey; readonly token: TokenRow | null }[]
  readonly pools: readonly { readonly pool: Pubkey; readonly row: PoolRow | null }[]
  readonly curves: readonly { readonly mint: Pubkey; readonly curve: CurveRow | null }[]
  readonly hours: readonly (HourAddress & { readonly activity: ActivityHour | null })[]
}

/** Whether any of it is what a block changes, or may. */
export function isTouched(missing: Missing, touched: Touched): boolean {
  const hasPair = ({ mint, cash }: PairAddress): boolean => touched.pairs.has(pairKey(mint, cash))
  const isIn = (held: ReadonlyMap<string, Pubkey>) => (address: Pubkey) => held.has(pubkeyMapKey(address))
  const owners = { mint: touched.tokens, pool: touched.pools }
  return (
    missing.pairs.some(hasPair) ||
    missing.candles.some(hasPair) ||
    missing.launches.some(isIn(touched.launches)) ||
    missing.tokens.some(isIn(touched.tokens)) ||
    missing.pools.some(isIn(touched.pools)) ||
    missing.curves.some(isIn(touched.curves)) ||
    missing.hours.some(({ of, owner }) => of === 'market' || isIn(owners[of])(owner))
  )
}

/** What an empty store answers. */
export function noneStored(missing: Missing): Loaded {
  return {
    pairs: missing.pairs.map((at) => ({ ...at, row: null })),
    candles: missing.candles.map((at) => ({ ...at, candle: null })),
    launches: missing.launches.map((mint) => ({ mint, launch: null })),
    tokens: missing.tokens.map((mint) => ({ mint, token: null })),
    pools: missing.pools.map((pool) => ({ pool, row: null })),
    curves: missing.curves.map((mint) => ({ mint, curve: null })),
    hours: missing.hours.map((at) => ({ ...at, activity: null }))
  }
}
