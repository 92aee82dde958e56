import type { WindowSums } from './window-sums.ts'

/** Mints of the pass before the first mint is yielded, after each of which other work may run: 0.6 ms. */
export const ORDERED_AT_ONCE = 50_000

/**
 * Yields the numbers of mints by volume in USD, the largest first; mints without a volume are left out. Uses a heap:
 * the first ones cost one pass over all mints, and each further one a few steps. The pass yields null after each
 * ORDERED_AT_ONCE mints.
 */
export function* byVolume(sums: WindowSums, end: number): Generator<number | null> {
  const volumes = new Float64Array(end)
  const heap = new Uint32Array(end)
  let length = 0
  for (let number = 0; number < end; number++) {
    if (number % ORDERED_AT_ONCE === ORDERED_AT_ONCE - 1) yield null
    const volume = sums.trades(number) === 0 ? 0 : Number(sums.microUsd(number))
    if (volume <= 0) continue
    volumes[number] = volume
    heap[length++] = number
  }
  const sink = (from: number): void => {
    const number = heap[from]!
    let place = from
    for (;;) {
      let child = 2 * place + 1
      if (child >= length) break
      if (child + 1 < length && volumes[heap[child + 1]!]! > volumes[heap[child]!]!) child++
      if (volumes[heap[child]!]! <= volumes[number]!) break
      heap[place] = heap[child]!
      place = child
    }
    heap[place] = number
  }
  for (let place = (length >> 1) - 1; place >= 0; place--) {
    if (place % ORDERED_AT_ONCE === ORDERED_AT_ONCE - 1) yield null
    sink(place)
  }
  while (length > 0) {
    yield heap[0]!
    heap[0] = heap[--length]!
    if (length > 0) sink(0)
  }
}
