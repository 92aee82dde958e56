import t from 'tap'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import { digestOf } from '../../src/market/block-digest.ts'
import { minuteOf } from '../../src/market/sol-usd.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'

/** Returns every value of a block's rows that is an address, by its map key. */
function addressesOf(block: BlockCommit): Set<string> {
  const rows = [
    ...block.trades.flatMap(({ mint, pool, user }) => [mint, pool, user]),
    ...block.poolEvents.map(({ pool }) => pool),
    ...block.activity.map(({ owner }) => owner),
    ...[...block.candles, ...block.pairs, ...block.tokens].map(({ mint }) => mint),
    ...block.pools.flatMap(({ pool, base, quote }) => [pool, base, quote]),
    ...[...block.curves, ...block.launches].flatMap(({ mint, curve }) => [mint, curve])
  ]
  return new Set(rows.map(pubkeyMapKey))
}

t.test('a digest has each address that the rows change, once', async (t) => {
  for (let index = 0; index < 60; index++) {
    const block = sampleBlock(3, index)
    const { mints, others } = digestOf(block)
    const keys = [...mints.map(({ mapKey }) => mapKey), ...others]
    t.equal(keys.length, new Set(keys).size)
    t.strictSame(keys.toSorted(), [...addressesOf(block)].toSorted())
  }
})

t.test(
  'the mints of a digest are those with activity, with their totals of the minute of the block',
  async (t) => {
    let traded = 0
    for (let index = 0; index < 60; index++) {
      const block = sampleBlock(3, index)
      const hours = block.activity.filter(({ of }) => of === 'mint')
      const minute = minuteOf(block.slot.blockTime)
      for (const { mapKey, trades, microUsd } of digestOf(block).mints) {
        const minutes = hours
          .filter(({ owner }) => pubkeyMapKey(owner) === mapKey)
          .flatMap(({ minutes }) => minutes)
        const [total] = minutes.filter((each) => each.minute === minute)
        t.equal(trades, total?.trades ?? 0)
        t.equal(microUsd, total?.volumeMicroUsd ?? 0n)
        traded += trades
      }
      t.equal(digestOf(block).mints.length, new Set(hours.map(({ owner }) => pubkeyMapKey(owner))).size)
    }
    t.ok(traded > 0, 'some had trades in the minute')
  }
)

t.test('a digest counts events, and says whether there are launches and prices of SOL', async (t) => {
  for (let index = 0; index < 60; index++) {
    const block = sampleBlock(3, index)
    const { events, hasLaunches, hasSolPrices } = digestOf(block)
    t.equal(events, block.trades.length + block.poolEvents.length + block.launches.length)
    t.equal(hasLaunches, block.launches.length > 0)
    t.equal(hasSolPrices, block.solPrices.length > 0)
  }
})
