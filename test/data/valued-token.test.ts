import t from 'tap'
import { samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { readPricedToken } from '../../src/data/routes/valued-token.ts'
import type { PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
import { ingestAll } from '../market/memory-store.ts'
import { block, buy, curve, key, launch, NOON, OPTIONS, TOKEN } from '../market/world.ts'

const SOL = 1_000_000_000n
const UNREAD = { facts: null, slot: 0 }

/** Reads a token whose blocks were folded, and counts the searches for its pools. */
async function read(...events: Parameters<typeof block>[2][]) {
  const { folds } = ingestAll(
    events.map((each, at) => block(5 + at, NOON + at, each)),
    OPTIONS
  )
  const newest = <Row>(rows: readonly Row[], isOne: (row: Row) => boolean): Row | null =>
    rows.findLast(isOne) ?? null
  const rowsOf = <Name extends 'tokens' | 'pools' | 'pairs' | 'launches' | 'curves'>(name: Name) =>
    folds.flatMap((fold) => fold[name] as readonly (typeof fold)[Name][number][])
  const ofToken = ({ mint }: { readonly mint: Pubkey }): boolean => samePubkey(mint, TOKEN)
  const poolOf = (pool: Pubkey) => newest(rowsOf('pools'), (row) => samePubkey(row.pool, pool))
  const listed = [...new Set(rowsOf('pools').map((row) => row.firstCursor))]
    .sort((a, b) => b - a)
    .map((first) => newest(rowsOf('pools'), ({ firstCursor }) => firstCursor === first)!)
  let searches = 0
  const stores = {
    launches: { get: async () => newest(rowsOf('launches'), ofToken) },
    curves: { get: async () => newest(rowsOf('curves'), ofToken) },
    pairs: { ofMint: async () => [newest(rowsOf('pairs'), ofToken)!].filter((pair) => pair !== null) },
    pools: {
      get: async (pool: Pubkey) => poolOf(pool),
      ofMint: async (): Promise<PoolRow[]> => {
        searches++
        return listed
      }
    }
  }
  const token = newest(rowsOf('tokens'), ofToken)
  const readOf = async (row: TokenRow | null) =>
    (await readPricedToken(stores as never, TOKEN, row, UNREAD, null)).pools
  const pools = await readOf(token)
  const ofFacts = searches
  return { pools, listed: await readOf(null), searches: ofFacts }
}

t.test(
  'the pools of a token are found without a search if its launch and its newest price name them all',
  async (t) => {
    const launched = await read([launch(), curve('create')], [buy(SOL, 10n ** 9n, { pool: key(102) })])
    t.equal(launched.searches, 0)
    t.equal(launched.pools.length, 2)
    t.strictSame(launched.pools, launched.listed, 'the newest first')
  }
)

t.test('the pools of a token are searched for if it has one that neither names', async (t) => {
  const traded = await read(
    [buy(SOL, 10n ** 9n, { pool: key(101) }), buy(SOL, 10n ** 9n, { pool: key(102) })],
    [buy(SOL, 10n ** 9n, { pool: key(103) })]
  )
  t.equal(traded.searches, 1)
  t.equal(traded.pools.length, 3)
})

t.test('a token without a row is searched for', async (t) => {
  const { listed, pools } = await read([buy(SOL, 10n ** 9n, { pool: key(101) })])
  t.strictSame(pools, listed)
  t.equal(pools.length, 1)
})
