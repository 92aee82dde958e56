import t from 'tap'
import { SyntheticMarket } from '../../loadtest/market/blocks.ts'
import { WSOL } from '../../src/market/cash.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { dearestPaths } from './dearest-requests.ts'
import { LoopWork } from './loop-work.ts'
import { marketApp } from './market-app.ts'

/** Maximum calls in one turn of the event loop: about 3 ms. */
const CALLS_MAX = 60_000
/** A market with a page of everything: 600 launches and a token with thousands of trades. */
const SIZE = { seed: 5, trades: 17_400, mints: 1_500, wallets: 500 }
const GAPS = 1_100
/** Endpoints with a request that this store has nothing for. A new one is not among them: the store is to have rows for it. */
const UNANSWERED = {
  '/v1/tokens/{mint}/bonding-curve': 404,
  '/v1/webhooks/{id}': 404,
  '/v1/webhooks/{id}/deliveries': 404,
  '/v1/tx/tips': 502,
  '/v1/metadata/{mint}': 404,
  '/v1/programs/{programId}/accounts': 403,
  '/v1/revenue/events': 404,
  '/v1/admin/keys': 404,
  '/v1/admin/keys/{id}': 404
}

t.test('the dearest request of each endpoint holds the event loop no longer than its slices', async (t) => {
  const app = await marketApp(t)
  await app.commit(...new SyntheticMarket(SIZE).blocks())
  const { storage, deps } = app
  app.nowMs = deps.feed.head!.blockTime * 1_000
  for (let at = 0; at < GAPS; at++)
    await storage.coverage.addGap({
      from: 1_000 + 10 * at,
      to: 1_004 + 10 * at,
      reason: 'missed',
      detail: '',
      atMs: 1
    })
  const sol = pubkeyFromBase58(WSOL)
  const [trade] = await storage.trades.ofMint(sol, { order: 'desc', limit: 1 })
  const launched = await storage.launches.page({ order: 'desc', limit: 600 })
  const values = {
    path: { mint: WSOL, pool: pubkeyToBase58(trade!.pool), wallet: pubkeyToBase58(trade!.user) },
    addresses: launched.map(({ mint }) => pubkeyToBase58(mint))
  }
  const others = new Map<string, number>()
  const key = await app.makeKey([...SCOPES])
  await app.app.ready()
  const work = LoopWork.start(t)
  for (const { endpoint } of app.app.served) {
    if (endpoint.method !== 'GET') continue
    for (const path of dearestPaths(endpoint, values)) {
      let status = 0
      const turn = await work.dearestTurn(
        async () => ({ status } = await app.get(path, { 'x-api-key': key }))
      )
      if (status !== 200) others.set(endpoint.path, status)
      if (turn.calls > CALLS_MAX)
        t.fail(`${path} holds the event loop for ${turn.calls} calls`, { most: turn.most })
    }
  }
  t.strictSame(Object.fromEntries(others), UNANSWERED)
})
