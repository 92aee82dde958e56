import t from 'tap'
import { byVolume, ORDERED_AT_ONCE } from '../../src/market/volume-order.ts'
import { WindowSums } from '../../src/market/window-sums.ts'

t.test(
  'the order of many mints lets other work run before its first mint, and is that of volumes',
  async (t) => {
    const mints = 3 * ORDERED_AT_ONCE + 1
    const sums = new WindowSums(86_400)
    // Every number below the prime comes once, in a scattered order.
    const volumeOf = (mint: number): number => ((mint + 1) * 7_919) % 1_000_003
    for (let mint = 0; mint < mints; mint++)
      sums.change(mint, { trades: 1, microUsd: BigInt(volumeOf(mint)) })
    const yielded = [...byVolume(sums, mints)]
    const first = yielded.findIndex((each) => each !== null)
    t.equal(
      first,
      4,
      'three times while volumes are read, and once while the heap of half as many nodes is made'
    )
    const order = yielded.slice(first).map((mint) => volumeOf(mint!))
    t.equal(order.length, mints)
    t.strictSame(
      order,
      order.toSorted((a, b) => b - a)
    )
  }
)
