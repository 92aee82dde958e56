import t from 'tap'
import type { ChainEvent } from '../../src/chain/events.ts'
import { ingestAll } from './memory-store.ts'
import {
  block,
  buy,
  curve,
  key,
  launch,
  NOON,
  OPTIONS,
  OTHER,
  poolChange,
  sell,
  TOKEN,
  trade
} from './world.ts'

/** Returns the launches that each block of events changes. */
function launchesOf(...blocks: readonly (readonly ChainEvent[])[]) {
  const chain = blocks.map((events, i) => block(1_000 + i, NOON + i, events))
  return ingestAll(chain, OPTIONS).folds.map((fold) => fold.launches)
}

const statuses = (...blocks: readonly (readonly ChainEvent[])[]) =>
  launchesOf(...blocks).map((rows) => rows.map((row) => row.status))

const firstBuy = buy(1_000_000n, 1_000_000n)

t.test('a launch is stored as created, with what its event says', async (t) => {
  const [rows] = launchesOf([poolChange(), launch({ supply: 10n ** 15n })])
  t.match(rows, [
    {
      cursor: 1_000 * 2 ** 20 + 3,
      slot: 1_000,
      blockTime: NOON,
      ingestedAtMs: NOON * 1000 + 400,
      venue: 'pumpswap',
      mint: TOKEN,
      creator: key(301),
      feePayer: key(400),
      name: 'Grain',
      symbol: 'GRN',
      decimals: 6,
      supply: 10n ** 15n,
      status: 'created',
      commitment: 'confirmed'
    }
  ])
})

t.test('the first trade of the mint makes a launch trading, and later ones change nothing', async (t) => {
  t.same(statuses([launch()], [firstBuy], [firstBuy]), [['created'], ['trading'], []])
})

t.test('a trade on any venue, on either side, against any mint, is a trade of the mint', async (t) => {
  t.same(statuses([launch()], [sell(1n, 1n, { venue: 'raydium-clmm', pool: key(150) })]), [
    ['created'],
    ['trading']
  ])
  t.same(statuses([launch()], [trade({ inMint: OTHER, outMint: TOKEN })]), [['created'], ['trading']])
})

t.test('a launch and its first trade may share a block', async (t) => {
  t.same(statuses([launch(), firstBuy]), [['trading']])
})

t.test('a trade before the launch is not its first trade', async (t) => {
  t.same(statuses([firstBuy, launch()]), [['created']])
})

t.test('a launch graduates with the migration of its curve, not with its completion', async (t) => {
  t.same(statuses([launch(), curve('create'), firstBuy], [curve('complete')], [curve('migrate')]), [
    ['trading'],
    [],
    ['graduated']
  ])
})

t.test('a migration without a completion graduates, as Moonshot’s', async (t) => {
  t.same(statuses([launch(), firstBuy], [curve('migrate')]), [['trading'], ['graduated']])
})

t.test('a launch never goes back', async (t) => {
  t.same(statuses([launch()], [curve('migrate'), firstBuy], [firstBuy], [curve('complete')]), [
    ['created'],
    ['graduated'],
    [],
    []
  ])
})

t.test('a second launch of a mint leaves the first as it is', async (t) => {
  const rows = launchesOf([launch(), firstBuy], [launch({ name: 'Chaff' })])
  t.same(
    rows.map((list) => list.length),
    [1, 0]
  )
})

t.test('events of mints that were never launched change no launch', async (t) => {
  t.same(statuses([firstBuy, curve('migrate')]), [[]])
})

t.test('changed launches come in the order of their own cursors', async (t) => {
  const other = { baseMint: OTHER }
  const [, rows] = launchesOf(
    [launch(other), launch()],
    [firstBuy, launch({ baseMint: key(3) }), trade({ outMint: OTHER })]
  )
  t.same(
    rows!.map((row) => row.mint),
    [OTHER, TOKEN, key(3)]
  )
})
