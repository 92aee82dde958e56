import { humanAmount } from '../market/amount.ts'

/** A multiplier of displayed amounts (extension ScaledUiAmount): `next` from its time on, `current` before. */
export interface ScaledUiAmount {
  readonly kind: 'multiplier'
  readonly current: number
  readonly next: number
  /** Unix seconds. */
  readonly nextAt: number
}

/** Continuously compounded interest that displayed amounts include (extension InterestBearing). Rates are yearly. */
export interface InterestBearing {
  readonly kind: 'interest'
  /** Unix seconds from which interest counts. */
  readonly initializedAt: number
  /** Average rate until `updatedAt`, and the rate since then, in hundredths of a percent; may be negative. */
  readonly averageRateBps: number
  readonly rateBps: number
  /** Unix seconds. */
  readonly updatedAt: number
}

/** How a mint of Token-2022 scales displayed amounts. Raw amounts are never scaled. */
export type UiScale = ScaledUiAmount | InterestBearing

/** Seconds of a year in the token program: 365.24 days. */
const YEAR_SECONDS = 31_556_736
const BPS = 10_000
/** The maximum digits of `toFixed`; no real mint has as many decimals. */
const DIGITS_MAX = 100

/** Reads the 56 bytes of ScaledUiAmount. */
export function readScaledUiAmount(value: Uint8Array): ScaledUiAmount {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength)
  return {
    kind: 'multiplier',
    current: view.getFloat64(32, true),
    nextAt: Number(view.getBigInt64(40, true)),
    next: view.getFloat64(48, true)
  }
}

/** Reads the 52 bytes of InterestBearing. */
export function readInterestBearing(value: Uint8Array): InterestBearing {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength)
  return {
    kind: 'interest',
    initializedAt: Number(view.getBigInt64(32, true)),
    averageRateBps: view.getInt16(40, true),
    updatedAt: Number(view.getBigInt64(42, true)),
    rateBps: view.getInt16(50, true)
  }
}

/** Returns the factor by which amounts are scaled at a time of the chain, in Unix seconds. */
export function multiplierAt(scale: UiScale, atSeconds: number): number {
  if (scale.kind === 'multiplier') return atSeconds >= scale.nextAt ? scale.next : scale.current
  const { initializedAt, averageRateBps, updatedAt, rateBps } = scale
  const grown = (bps: number, seconds: number): number => Math.exp((bps * seconds) / YEAR_SECONDS / BPS)
  return grown(averageRateBps, updatedAt - initializedAt) * grown(rateBps, atSeconds - updatedAt)
}

/**
 * Returns a displayed amount: the node's `uiAmount` at a time of the chain, in Unix seconds. Without a scale, these are
 * base units with the decimals applied. Rounds as the token program does: a multiplied amount is truncated to whole base
 * units, an amount with interest is rounded to the decimals.
 */
export function uiAmount(
  raw: bigint,
  { decimals, scale }: { readonly decimals: number; readonly scale: UiScale | null },
  atSeconds: number
): number {
  if (scale === null) return humanAmount(raw, decimals)
  const multiplier = multiplierAt(scale, atSeconds)
  const unit = 10 ** decimals
  const amount =
    scale.kind === 'multiplier'
      ? Math.trunc(Number(raw) * multiplier) / unit
      : Number(raw) * (multiplier / unit)
  return decimals > DIGITS_MAX ? amount : Number(amount.toFixed(decimals))
}
