import { ceilDiv, floorSqrt, smaller } from './integers.ts'

/** What comes out of reserves whose product must not fall, for an input without its fee. */
export function productOut(input: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  return (input * reserveOut) / (reserveIn + input)
}

/** Shares of a new pool: the geometric mean of what it starts with. */
export function firstShares(amounts: readonly [bigint, bigint]): bigint {
  return floorSqrt(amounts[0] * amounts[1])
}

/** What a number of shares is worth: rounded up for who brings it, down for who takes it. */
export function shareWorth(
  shares: bigint,
  supply: bigint,
  reserves: readonly [bigint, bigint],
  rounding: 'up' | 'down'
): readonly [bigint, bigint] {
  const worth = (reserve: bigint): bigint =>
    rounding === 'up' ? ceilDiv(reserve * shares, supply) : (reserve * shares) / supply
  return [worth(reserves[0]), worth(reserves[1])]
}

/** How many shares a part of the supply in thousandths is; of a removal no more than there are to give back. */
export function sharesOf(thousandths: number, supply: bigint, owned: bigint): bigint {
  const shares = (supply * BigInt(Math.abs(thousandths))) / 1000n
  return thousandths < 0 ? smaller(shares, owned) : shares
}
