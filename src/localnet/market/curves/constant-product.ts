import { ceilDiv, floorSqrt, smaller } from './integers.ts'

/** Returns the output for an input without its fee, so that the product of the reserves does not fall. */
export function productOut(input: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  return (input * reserveOut) / (reserveIn + input)
}

/** Returns the shares of a new pool: the geometric mean of its first amounts. */
export function firstShares(amounts: readonly [bigint, bigint]): bigint {
  return floorSqrt(amounts[0] * amounts[1])
}

/** Returns the amounts of a number of shares: rounded up for a deposit, down for a withdrawal. */
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

/** Returns a fraction of the supply, in thousandths, as shares; a removal is limited to the owned shares. */
export function sharesOf(thousandths: number, supply: bigint, owned: bigint): bigint {
  const shares = (supply * BigInt(Math.abs(thousandths))) / 1000n
  return thousandths < 0 ? smaller(shares, owned) : shares
}
