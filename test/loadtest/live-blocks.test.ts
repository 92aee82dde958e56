import t from 'tap'
import { LiveBlocks } from '../../loadtest/live-blocks.ts'
import { marketOf, Population } from '../../loadtest/market/population.ts'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import { decodeTransactions } from '../../src/chain/decode-block.ts'
import { testWithFixtures } from '../fixtures.ts'

testWithFixtures(
  t,
  'live blocks are the recorded one at the live rate, told of mints and wallets of the market',
  async (t) => {
    const population = new Population(marketOf(100_000))
    const live = new LiveBlocks(population)
    const block = await live.at(3, 1000, 1_800_000_000)
    t.equal(block.transactions.length, 1500)
    const { entries, notes } = decodeTransactions(block.transactions)
    t.ok(entries.length > 150)
    t.strictSame(notes, [], 'and the decoder doubts nothing of them')
    const known = new Set(
      Array.from({ length: population.standing }, (_, i) => pubkeyMapKey(population.mint(i)))
    )
    const trades = entries.flatMap(({ event }) => (event.kind === 'trade' ? [event] : []))
    const told = trades.filter(
      ({ inMint, outMint }) => known.has(pubkeyMapKey(inMint)) || known.has(pubkeyMapKey(outMint))
    )
    t.ok(told.length > trades.length * 0.8, `${told.length} of ${trades.length}`)
    const signatures = new Set(
      block.transactions.map(({ signature }) => Buffer.from(signature).toString('hex'))
    )
    t.equal(signatures.size, 1500, 'each transaction has a signature of its own')
  }
)
