import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import t from 'tap'
import { SyntheticMarket } from '../../loadtest/market/blocks.ts'
import { marketOf } from '../../loadtest/market/population.ts'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import type { DecodedBlock } from '../../src/market/block.ts'

const TRADES = 60_000

function blocksOf(seed: number): DecodedBlock[] {
  return [...new SyntheticMarket(marketOf(TRADES, seed)).blocks()]
}

const blocks = blocksOf(1)
const events = blocks.flatMap(({ entries }) => entries.map(({ event }) => event))
const trades = events.filter((event) => event.kind === 'trade')

t.test('a synthetic market is the same for the same seed, and another for another', async (t) => {
  const digest = (of: readonly DecodedBlock[]): string =>
    createHash('sha256')
      .update(serialize(of.slice(-3)))
      .digest('hex')
  t.equal(digest(blocksOf(1)), digest(blocks))
  t.not(digest(blocksOf(2)), digest(blocks))
})

t.test('it has the trades it was asked for, on every venue, in slots and times that rise', async (t) => {
  t.equal(trades.length, TRADES)
  t.strictSame(new Set(trades.map(({ venue }) => venue)), new Set(VENUE_IDS))
  t.ok(
    blocks.every(
      ({ slot, blockTime }, i) =>
        i === 0 || (slot > blocks[i - 1]!.slot && blockTime >= blocks[i - 1]!.blockTime)
    )
  )
})

t.test('its skew is that of a market: few mints and wallets have most of the trades', async (t) => {
  const counted = (keys: readonly Uint8Array[]): number[] =>
    [...Map.groupBy(keys, pubkeyMapKey).values()].map(({ length }) => length).sort((a, b) => b - a)
  const mints = counted(trades.flatMap(({ inMint, outMint }) => [inMint, outMint]))
  const wallets = counted(trades.map(({ user }) => user))
  const part = (counts: readonly number[], first: number): number =>
    counts.slice(0, first).reduce((sum, count) => sum + count, 0) / TRADES
  t.ok(mints.length > 270, 'of 300 mints almost all are traded')
  t.ok(part(mints, 30) > 1, 'the first tenth has most')
  t.ok(mints.at(-30)! < 30, 'the last tenth has few')
  t.ok(part(wallets, wallets.length / 100) > 0.3, 'one wallet in a hundred has a third')
})

t.test('every amount moves, and a curve trades only between its launch and its end', async (t) => {
  t.ok(trades.every(({ inAmount, outAmount }) => inAmount > 0n && outAmount > 0n))
  const stages = new Map<string, 'bonding' | 'over'>()
  for (const event of events) {
    const pool = pubkeyMapKey(event.pool)
    if (event.kind === 'launch') stages.set(pool, 'bonding')
    if (event.kind === 'curve' && event.event !== 'create') stages.set(pool, 'over')
    if (event.kind === 'trade' && event.venue === 'pumpfun' && stages.get(pool) !== 'bonding') {
      t.fail('a trade on a curve that is not bonding')
      break
    }
  }
  t.ok(stages.size > 50)
})
