/** Divides and rounds up. */
export function ceilDiv(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}

/** Returns the square root, rounded down. */
export function floorSqrt(value: bigint): bigint {
  if (value < 2n) return value
  let guess = 1n << BigInt((value.toString(16).length * 4 + 1) >> 1)
  if (guess * guess < value) guess <<= 1n
  for (;;) {
    const next = (guess + value / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
